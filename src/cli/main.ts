/** The program's door: answers what needs nothing, and loads only the command that was asked for. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../package-root.ts'

/** A command's file exports `run`: it gets the words after the command's name and gives the exit code. */
export interface Command {
  run(words: string[]): Promise<number> | number
}

const commands: Record<string, () => Promise<Command>> = {
  '--help': () => import('./commands/help.ts'),
  '--init-db': () => import('./commands/init-db.ts'),
  hooks: () => import('./commands/hooks.ts'),
  init: () => import('./commands/init.ts'),
  permissions: () => import('./commands/permissions.ts'),
  role: () => import('./commands/role.ts'),
}

async function main([word = '--help', ...rest]: string[]): Promise<number> {
  if (word === '--version' || word === '-v') {
    process.stdout.write(`${JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')).version}\n`)
    return 0
  }
  const load = commands[word === '-h' ? '--help' : word]
  if (load) return (await load()).run(rest)
  process.stderr.write(`ona: there is no command "${word}"; ona --help lists them\n`)
  return 2
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code
  },
  (error) => {
    if (error?.name !== 'StoreError') throw error // our mistake: Node prints where
    process.stderr.write(`ona: ${error.message}\n`)
    process.exitCode = 1
  },
)
