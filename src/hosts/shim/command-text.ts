/** Pieces of POSIX shell that we write into a command and read back out of it. */
import { durationMs } from '../duration.ts'
import type { BrainHook } from '../hook.ts'

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

/** The words that `quote` wrote, one after another; null when the text is something else. */
function unquote(text: string): string[] | null {
  if (!/^('(?:[^']|'\\'')*'(?: |$))*$/.test(text)) return null
  const words = text.match(/'(?:[^']|'\\'')*'(?= |$)/g) ?? []
  return words.map((word) => word.slice(1, -1).replaceAll("'\\''", "'"))
}

/** The command, run through our shim; `shim` is how the agent's shell finds it. */
export const throughShim = (shim: string, { filter, command, timeout }: BrainHook): string =>
  `node ${shim} ${[filter?.what ?? '*', command, String(durationMs(timeout))].map(quote).join(' ')}`

export function withoutShim(shim: string, command: string): string {
  const prefix = `node ${shim} `
  return (command.startsWith(prefix) && unquote(command.slice(prefix.length))?.[1]) || command
}

/** The command, run from the root of the repository wherever the agent happens to stand. */
export const fromRoot = (root: string, command: string): string => `cd ${root} || exit 1; ${command}`

export function withoutRoot(root: string, command: string): string {
  const prefix = fromRoot(root, '')
  return command.startsWith(prefix) ? command.slice(prefix.length) : command
}
