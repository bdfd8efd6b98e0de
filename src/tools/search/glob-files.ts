/** Finds files whose path fits a pattern. One walk, ours: for names alone ripgrep is no faster. */

import { statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { counted } from '../../hooks/text/counted.ts'
import { capped } from '../bounded.ts'
import { broke, failed, said, type ToolOutput } from '../output.ts'
import { absolute, whyOf } from '../paths.ts'
import type { ToolContext } from '../tool.ts'
import { globLimits } from './limits.ts'
import { globOptions, walk } from './walk.ts'

export async function findFiles(input: { pattern: string; path?: string }, context: ToolContext): Promise<ToolOutput> {
  let pattern = input.pattern.trim()
  let root = absolute(context.cwd, input.path ?? '.')
  if (isAbsolute(pattern) || pattern.startsWith('../')) {
    if (!isAbsolute(pattern)) pattern = join(root, pattern)
    const start = /^[^*?[\]{}()!@+]*\//.exec(pattern)?.[0] ?? '/'
    root = start === '/' ? '/' : start.slice(0, -1)
    pattern = pattern.slice(start.length)
  }
  if (pattern === '') return failed('pattern is empty; write one such as "**/*.ts"')
  const wrong = notAFolder(root)
  if (wrong) return failed(wrong)

  const startedAt = performance.now()
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(globLimits.timeLimitMs)])
  const { count, newest } = await matching(root, pattern, context, signal)
  const durationMs = Math.round(performance.now() - startedAt)
  if (context.signal.aborted) return failed('the search was interrupted')
  if (signal.aborted)
    return broke(`the search took over ${globLimits.timeLimitMs / 1000} s; name a narrower path or pattern`)
  const response = () => ({
    filenames: newest,
    durationMs,
    numFiles: newest.length,
    truncated: count > newest.length,
  })
  if (count === 0) return { ...said('No files found', { kind: 'text', summary: 'No files found' }), response }
  const cut =
    count > newest.length
      ? `\n(${newest.length} of ${count} files; use a narrower path or pattern for the others.)`
      : ''
  const listing = newest.join('\n')
  const summary = `Found ${counted(count, 'file')}`
  return { ...said(capped(listing + cut), { kind: 'text', summary, full: listing }), response }
}

/** How many fit, and the newest of them: what is shown is all that is held, however many there are. */
async function matching(
  root: string,
  pattern: string,
  { env, host }: ToolContext,
  signal: AbortSignal,
): Promise<{ count: number; newest: readonly string[] }> {
  const { default: picomatch } = await import('picomatch')
  // Only the part of the tree that the pattern can reach is walked.
  const plain = pattern.replace(/^(?:\.\/)+/, '')
  const { base } = picomatch.scan(plain)
  const fits = picomatch(plain, globOptions)
  const deep = plain.includes('**') || /[({]/.test(plain)
  const levels = plain.split('/').length
  const ignoring = env['CLAUDE_CODE_GLOB_NO_IGNORE'] === 'false' || env['ONA_GLOB_NO_IGNORE'] === 'false'
  const newest: Dated[] = []
  let count = 0
  const inBase = (folder: string) =>
    base === '' || base.startsWith(`${folder}/`) || folder === base || folder.startsWith(`${base}/`)
  const enter = (folder: string) => inBase(folder) && (deep || folder.split('/').length < levels)
  await walk({ root, ignoring, enter, signal }, (path) => {
    if (!fits(path)) return
    const whole = root === '/' ? `/${path}` : `${root}/${path}`
    if (!host.mayShow(whole)) return
    count++
    keepNewest(newest, dated(whole), globLimits.files)
  })
  return { count, newest: newest.map((each) => each.path) }
}

interface Dated {
  readonly path: string
  readonly at: number
}

const dated = (path: string): Dated => ({ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 })

/** Newest first; of the same moment, by path. */
const order = (a: Dated, b: Dated): number => b.at - a.at || (a.path < b.path ? -1 : 1)

/** Puts one in its place in a sorted list that has an end. */
function keepNewest(list: Dated[], one: Dated, most: number): void {
  if (list.length === most && order(list.at(-1)!, one) < 0) return
  let low = 0
  for (let high = list.length; low < high; ) {
    const middle = (low + high) >> 1
    if (order(list[middle]!, one) < 0) low = middle + 1
    else high = middle
  }
  list.splice(low, 0, one)
  if (list.length > most) list.pop()
}

/** The newest `most` of them, newest first. */
export function newestFirst(paths: readonly string[], most = Infinity): string[] {
  let newest: Dated[] = []
  if (most > fewEnough) newest = paths.map(dated).sort(order).slice(0, most)
  else for (const path of paths) keepNewest(newest, dated(path), most)
  return newest.map(({ path }) => path)
}

/** To put each in its place among more than these takes longer than to sort them all. */
const fewEnough = 2_000

function notAFolder(path: string): string | undefined {
  try {
    return statSync(path).isDirectory() ? undefined : `${path} is a file, not a folder`
  } catch (error) {
    return `${path} ${whyOf(error)}`
  }
}
