/** Finds files whose path fits a pattern. One walk, ours: for names alone ripgrep is no faster. */
import { statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { capped, counted } from '../bounded.ts'
import { broke, failed, said, type ToolOutput } from '../output.ts'
import { absolute, whyOf } from '../paths.ts'
import type { ToolContext } from '../tool.ts'
import { globLimits } from './limits.ts'
import { walk } from './walk.ts'

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
  const matches = await matching(root, pattern, context, signal)
  const found = newestFirst(matches.filter((path) => context.host.mayShow(path)))
  const durationMs = Math.round(performance.now() - startedAt)
  if (context.signal.aborted) return failed('the search was interrupted')
  if (signal.aborted)
    return broke(`the search took over ${globLimits.timeLimitMs / 1000} s; name a narrower path or pattern`)
  const response = () => ({
    filenames: found.slice(0, globLimits.files),
    durationMs,
    numFiles: Math.min(found.length, globLimits.files),
    truncated: found.length > globLimits.files,
  })
  if (found.length === 0) return { ...said('No files found', { kind: 'text', summary: 'No files found' }), response }
  const more = found.length > globLimits.files
  const cut = more
    ? `\n(${globLimits.files} of ${found.length} files; use a narrower path or pattern for the others.)`
    : ''
  const listing = found.slice(0, globLimits.files).join('\n')
  const summary = `Found ${counted(found.length, 'file')}`
  return { ...said(capped(listing + cut), { kind: 'text', summary, full: listing }), response }
}

async function matching(root: string, pattern: string, { env }: ToolContext, signal: AbortSignal): Promise<string[]> {
  const { default: picomatch } = await import('picomatch')
  // Only the part of the tree that the pattern can reach is walked.
  const plain = pattern.replace(/^(?:\.\/)+/, '')
  const { base } = picomatch.scan(plain)
  const fits = picomatch(plain, { dot: true, nonegate: true })
  const deep = plain.includes('**') || /[({]/.test(plain)
  const levels = plain.split('/').length
  const ignoring = env['CLAUDE_CODE_GLOB_NO_IGNORE'] === 'false' || env['ONA_GLOB_NO_IGNORE'] === 'false'
  const found: string[] = []
  const inBase = (folder: string) =>
    base === '' || base.startsWith(`${folder}/`) || folder === base || folder.startsWith(`${base}/`)
  const enter = (folder: string) => inBase(folder) && (deep || folder.split('/').length < levels)
  await walk({ root, ignoring, enter, signal }, (path) => {
    if (fits(path)) found.push(join(root, path))
  })
  return found
}

/** Newest first; of the same moment, by path. */
export function newestFirst(paths: readonly string[]): string[] {
  return paths
    .map((path) => ({ path, at: changedAt(path) }))
    .sort((a, b) => b.at - a.at || (a.path < b.path ? -1 : 1))
    .map(({ path }) => path)
}

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function notAFolder(path: string): string | undefined {
  try {
    return statSync(path).isDirectory() ? undefined : `${path} is a file, not a folder`
  } catch (error) {
    return `${path} ${whyOf(error)}`
  }
}
