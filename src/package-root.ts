/** Where the package lies, and which version it is: the same from src/, from dist/ and from dist/chunks/. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const packageRoot: string = (() => {
  let folder = import.meta.dirname
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
})()

export const version = (): string => JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')).version
