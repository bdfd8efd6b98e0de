/** Where the package lies: the same from src/, from dist/ and from dist/chunks/. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const packageRoot: string = (() => {
  let folder = import.meta.dirname
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
})()
