/** The program's door: answers what needs nothing, and loads only the command that was asked for. */
import { readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../package-root.ts'

/** A command's file exports `run`: it gets the words after the command's name and gives the exit code. */
export interface Command {
  run(words: string[]): Promise<number> | number
}

/** Commands by their first word. Anything else is a prompt for the agent, or its flags. */
const commands: Record<string, () => Promise<Command>> = {
  '--help': () => import('./commands/help.ts'),
  completion: () => import('./commands/completion.ts'),
  demo: () => import('./commands/demo.ts'),
  audit: () => import('./commands/audit.ts'),
  dispatcher: () => import('./commands/dispatcher.ts'),
  hooks: () => import('./commands/hooks.ts'),
  init: () => import('./commands/init.ts'),
  login: () => import('./commands/login.ts'),
  logout: () => import('./commands/logout.ts'),
  mcp: () => import('./commands/mcp.ts'),
  plan: () => import('./commands/plan.ts'),
  verify: () => import('./commands/verify.ts'),
  permissions: () => import('./commands/permissions.ts'),
  rehearse: () => import('./commands/rehearse.ts'),
  role: () => import('./commands/role.ts'),
  status: () => import('./commands/status.ts'),
}

/** Commands spelt as flags: they may stand anywhere among the words. */
const flagCommands: Record<string, () => Promise<Command>> = {
  '--eval': () => import('./commands/eval.ts'),
  '--transition': () => import('./commands/transition.ts'),
  '--init-db': () => import('./commands/init-db.ts'),
}

async function main(words: string[]): Promise<number> {
  const [first = '', ...rest] = words
  if (first === '--version' || first === '-v') {
    // past process.stdout, whose making takes longer than all the rest
    writeSync(1, `${JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')).version}\n`)
    return 0
  }
  const load = commands[first === '-h' ? '--help' : first]
  if (load) return (await load()).run(rest)
  const flag = words.find((word) => Object.hasOwn(flagCommands, word))
  if (flag) return (await flagCommands[flag]!()).run(words.filter((word) => word !== flag))
  const { run } = await import('./commands/agent.ts')
  return run(words)
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code
  },
  async (cause: unknown) => {
    const { tellFailure } = await import('./failure.ts')
    process.exitCode = tellFailure(cause)
  },
)
