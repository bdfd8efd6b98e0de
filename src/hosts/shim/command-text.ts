/** Pieces of POSIX shell that we write into a command and read back out of it. */
import { durationMs } from '../duration.ts'
import { type BrainHook, bootSources, type OnFailure, refusesOnFailure, whatOf } from '../hook.ts'

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

/** The words that `quote` wrote, one after another; null when the text is something else. */
function unquote(text: string): string[] | null {
  if (!/^('(?:[^']|'\\'')*'(?: |$))*$/.test(text)) return null
  const words = text.match(/'(?:[^']|'\\'')*'(?= |$)/g) ?? []
  return words.map((word) => word.slice(1, -1).replaceAll("'\\''", "'"))
}

/** What the shim matches a hook against: tools, or where a session comes from. */
export function shimFilter(hook: BrainHook): string {
  if (hook.event === 'onTool') return whatOf(hook)
  return (hook.event === 'onBoot' && bootSources(whatOf(hook))?.join('|')) || '*'
}

/**
 * The shim may not start at all, for want of Node or of the file; then the call is refused here. Exit 2 needs a text on stderr
 * in Codex and Gemini CLI.
 */
export const orRefuse = " || { [ $? = 2 ] || echo 'a hook that guards this call did not run to its end' >&2; exit 2; }"

/** The shim's arguments for a hook. */
export function shimWords(hook: BrainHook): string {
  const words = [shimFilter(hook), hook.command, String(durationMs(hook.timeout))]
  return (refusesOnFailure(hook) ? [...words, 'refuse'] : words).map(quote).join(' ')
}

/** The command, run through our shim; `shim` is how the agent's shell finds it. */
export function throughShim(shim: string, hook: BrainHook): string {
  return `node ${shim} ${shimWords(hook)}${refusesOnFailure(hook) ? orRefuse : ''}`
}

/** The command of a hook whose failure refuses, run by the guard script; `script` is how the agent's shell finds it. */
export const throughGuard = (script: string, hook: BrainHook): string =>
  `sh ${script} ${[hook.command, String(durationMs(hook.timeout))].map(quote).join(' ')}${orRefuse}`

export interface DeclaredCommand {
  readonly command: string
  readonly onFailure?: OnFailure
}

/** The hook's own command in what was written, and whether its failure refuses. */
export function withoutShim(shim: string, written: string): DeclaredCommand {
  const prefix = `node ${shim} `
  if (!written.startsWith(prefix)) return { command: written }
  const refuses = written.endsWith(orRefuse)
  const words = unquote(refuses ? written.slice(prefix.length, -orRefuse.length) : written.slice(prefix.length))
  if (words?.[1] === undefined) return { command: written }
  return { command: words[1], ...(words[3] === 'refuse' && { onFailure: 'refuse' }) }
}

export function withoutGuard(script: string, written: string): DeclaredCommand {
  const prefix = `sh ${script} `
  if (!written.startsWith(prefix) || !written.endsWith(orRefuse)) return { command: written }
  const [command] = unquote(written.slice(prefix.length, -orRefuse.length)) ?? []
  return command === undefined ? { command: written } : { command, onFailure: 'refuse' }
}

/** Seconds that the shim needs beyond a hook's limit to refuse in its place, before the agent's own limit ends both. */
export const refusalMarginMs = 5000

/** The command, run from the root of the repository wherever the agent happens to stand. */
export const fromRoot = (root: string, command: string): string => `cd ${root} || exit 1; ${command}`

export function withoutRoot(root: string, command: string): string {
  const prefix = fromRoot(root, '')
  return command.startsWith(prefix) ? command.slice(prefix.length) : command
}
