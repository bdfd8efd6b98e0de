/** `ona` as a conversation: on a terminal, on a plain one, or over a pipe. */
import { version as ownVersion } from '../../package-root.ts'
import type { ReplOptions } from './repl-options.ts'

export async function runRepl(options: ReplOptions): Promise<number> {
  const { interactive, env } = options
  const plain = !interactive || env['TERM'] === 'dumb' || env['ONA_PLAIN'] === '1'
  const version = ownVersion()
  const run = plain ? (await import('./repl-lines.ts')).runLines : (await import('./repl-terminal.ts')).runTerminal
  return run(options, version)
}
