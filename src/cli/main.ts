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
}
commands['-h'] = commands['--help']!

const [word, ...rest] = process.argv.slice(2)
if (word === '--version' || word === '-v') {
  process.stdout.write(`${JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')).version}\n`)
} else {
  const load = commands[word ?? '--help']
  if (load) load().then(async (command) => void (process.exitCode = await command.run(rest)))
  else {
    process.stderr.write(`ona: there is no command "${word}"; ona --help lists them\n`)
    process.exitCode = 2
  }
}
