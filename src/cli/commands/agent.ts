/** `ona`, `ona "prompt"` and `ona -p`: the agent itself, on a terminal, on a pipe, or for one answer. */
import { version } from '../../package-root.ts'
import { readArgs } from '../args.ts'
import { notesOn, flags as rows } from '../flags.ts'
import { mistyped, mistypedFlag } from '../mistyped.ts'
import { optionsProblem } from '../options-check.ts'
import { said, warned, wrong } from '../print.ts'

export async function run(args: string[]): Promise<number> {
  const read = readArgs(args, rows)
  if (!read.ok) return wrong('ona', mistypedFlag(args) ?? read.why)
  const { flags, words } = read
  const typo = mistyped(args)
  if (typo) return wrong('ona', typo)
  if (flags.help || args.join(' ') === 'help') return (await import('./help.ts')).run()
  if (flags.version) return said(version())
  const problem = await optionsProblem(flags)
  if (problem) return wrong('ona', problem)
  for (const note of notesOn(flags)) warned(note)
  if (flags['init-only']) return (await import('./print.ts')).initOnly(flags)
  if (flags.print || flags['input-format'] === 'stream-json') return (await import('./print.ts')).print(flags, words)
  return (await import('./repl.ts')).repl(flags, words)
}
