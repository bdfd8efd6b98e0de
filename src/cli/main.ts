/** The program's door: answers what needs nothing, and loads only the command that was asked for. */
import { writeSync } from 'node:fs'
import { version } from '../package-root.ts'
import type { Entry } from './command.ts'
import { commands, flagCommands } from './table.ts'

async function main(words: string[]): Promise<number> {
  const [first = '', ...rest] = words
  if (first === '--version' || first === '-v') {
    writeSync(1, `${version()}\n`) // past process.stdout, whose making takes longer than all the rest
    return 0
  }
  if (/\brh(?:achet|x)(?:\.\w+)?$/.test(process.argv[1] ?? ''))
    return (await import('./commands/roles/rhachet.ts')).run(words)
  if (Object.hasOwn(commands, first)) return run(commands[first]!, rest)
  const flag = words.findIndex((word) => Object.hasOwn(flagCommands, word))
  if (flag >= 0) return run(flagCommands[words[flag]!]!, words.toSpliced(flag, 1))
  return (await import('./commands/agent.ts')).run(words)
}

const run = async (entry: Entry, words: string[]) => (await entry.load()).run(words)

/** All is done: what keeps the process alive then is another's, such as a pipe that a server's child holds open. */
const lastMs = 1000

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code
    setTimeout(() => process.exit(), lastMs).unref()
  },
  async (cause: unknown) => {
    const { tellFailure } = await import('./report-crash.ts')
    process.exitCode = tellFailure(cause)
  },
)
