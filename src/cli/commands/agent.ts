/** `ona`, `ona "prompt"` and `ona -p`: the agent itself, on a terminal, on a pipe, or for one answer. */
import { parseFlags } from '../flags.ts'
import { optionsProblem } from '../options.ts'

export async function run(words: string[]): Promise<number> {
  const parsed = parseFlags(words)
  const problem = parsed.ok ? optionsProblem(parsed.flags) : parsed.why
  if (!parsed.ok || problem) {
    process.stderr.write(`ona: ${problem}\n`)
    return 2
  }
  if (parsed.flags.print) return (await import('./print.ts')).print(parsed.flags, parsed.words)
  return (await import('./repl.ts')).repl(parsed.flags, parsed.words)
}
