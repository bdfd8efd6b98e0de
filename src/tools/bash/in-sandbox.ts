/** A Bash command in its place: inside the sandbox with what it ran into, or outside with the reason. */
import type { ToolContext } from '../tool.ts'
import { runShell, type ShellEnd, type ShellOptions } from './shell-process.ts'

export interface PlacedEnd extends ShellEnd {
  /** Lines about the sandbox and about protected files, for the model and the user. */
  readonly notes: readonly string[]
}

export async function runPlaced(
  command: string,
  {
    place,
    cwd,
    env,
    home,
    watchProtected,
    prelude,
    shell,
  }: Pick<ToolContext, 'place' | 'cwd' | 'env' | 'home' | 'watchProtected' | 'prelude' | 'shell'>,
  given: Omit<ShellOptions, 'cwd' | 'env' | 'launch' | 'spare' | 'shell' | 'prelude'>,
): Promise<PlacedEnd> {
  const options = { ...given, prelude: prelude?.() ?? '' }
  if (place?.in !== 'sandbox') {
    const settle = await watchProtected?.()
    const end = await runShell(command, { ...options, cwd, env, ...(shell && { shell }) })
    const unfenced = place?.in === 'open' && place.says ? [`This command ran without a sandbox: ${place.why}`] : []
    const changed = (await settle?.()) ?? []
    return { ...end, notes: [...unfenced.map(aboutSandbox), ...changed.map((text) => `[protected] ${text}`)] }
  }
  const { cell } = place
  const stop = new AbortController()
  const notes: string[] = []
  const look = () => {
    notes.push(...cell.breaches())
    if (notes.length > 0) stop.abort()
  }
  const unwatch = cell.watch(look)
  const signal = AbortSignal.any([options.signal, stop.signal])
  const running = runShell(command, { ...options, signal, cwd, env: cell.env, launch: cell.launch, spare: cell.spare })
  cell.prepareSpare('soon')
  const end = await running
  unwatch()
  look()
  const output = `${end.stderr.text()}\n${end.exitCode === 0 ? '' : end.stdout.text()}`
  const { fenceNotes } = await import('../../sandbox/explain.ts')
  const refused = [...new Set(cell.refusals())].slice(0, 5)
  cell.prepareSpare('now') // after the result: the next command may have to see other mounts
  return { ...end, notes: [...notes, ...refused, ...fenceNotes(output, cell, cwd, home)].map(aboutSandbox) }
}

const aboutSandbox = (text: string): string => `[sandbox] ${text}`
