/** Runs a search and lays out what was found. */

import { statSync } from 'node:fs'
import { counted } from '../../hooks/text/counted.ts'
import { capped } from '../bounded.ts'
import { broke, failed, said, type ToolOutput } from '../output.ts'
import { absolute, shown, whyOf } from '../paths.ts'
import type { ToolContext } from '../tool.ts'
import { newestFirst } from './glob-files.ts'
import { grepLimits } from './limits.ts'
import { findRipgrep, searchRipgrep } from './ripgrep.ts'
import { type Found, type FoundFile, type Search, splitGlobs } from './search.ts'

interface GrepInput {
  readonly pattern: string
  readonly path?: string
  readonly glob?: string
  readonly type?: string
  readonly output_mode?: Search['mode']
  readonly '-A'?: number
  readonly '-B'?: number
  readonly '-C'?: number
  readonly context?: number
  readonly '-n'?: boolean
  readonly '-i'?: boolean
  readonly head_limit?: number
  readonly offset?: number
  readonly multiline?: boolean
}

/** Runs one search; 'timed-out' when it had to be ended. */
export type Searcher = (search: Search) => Promise<Found | 'timed-out'>

export async function grepFiles(
  input: GrepInput,
  context: ToolContext,
  searcher: Searcher = searcherFor(context),
): Promise<ToolOutput> {
  const search = searchOf(input, context.cwd)
  if (typeof search === 'string') return failed(search)
  const found = await searcher(search)
  if (context.signal.aborted) return failed('the search was interrupted')
  if (found === 'timed-out') {
    return broke(`the search took over ${grepLimits.timeLimitMs / 1000} s; name a narrower path, glob or type`)
  }
  if (!found.ok) return failed(found.why)
  const files = found.files.filter(({ path }) => context.host.mayShow(path))
  const offset = input.offset ?? 0
  const limit = input.head_limit ?? grepLimits.entries
  const last = limit === 0 ? Infinity : offset + limit
  const { lines, total, footer, summary } = layouts[search.mode](files, context.cwd, input['-n'] ?? true, last)
  const { text, note } = page(lines, total, offset, last)
  const cut = found.cut ? '\n(There is more than could be held; use a narrower path, glob or pattern.)' : ''
  const matches = () => files.reduce((sum, { count }) => sum + count, 0)
  const facts: Record<Search['mode'], () => object> = {
    files_with_matches: () => ({ filenames: newestFirst(files.map(({ path }) => path)) }),
    content: () => ({ filenames: [], content: files.length === 0 ? '' : text, numLines: total }),
    count: () => ({ filenames: [], content: files.length === 0 ? '' : text, numMatches: matches() }),
  }
  return {
    ...said(`${capped(text)}${note}${footer}${cut}`, { kind: 'text', summary, full: text }),
    response: () => ({ mode: search.mode, numFiles: files.length, ...facts[search.mode]() }),
  }
}

function searchOf(input: GrepInput, cwd: string): Search | string {
  const root = absolute(cwd, input.path ?? '.')
  let rootIsFile: boolean
  try {
    const found = statSync(root)
    rootIsFile = found.isFile()
    if (!rootIsFile && !found.isDirectory())
      return `${root} is neither a file nor a folder: searching it could wait for ever`
  } catch (error) {
    return `${root} ${whyOf(error)}`
  }
  if (input.pattern === '') return 'pattern is empty; write what to look for'
  const words = [input.pattern, input.glob ?? '', input.type ?? '']
  if (words.some((word) => word.length > 20_000)) return 'pattern, glob or type is longer than 20,000 characters'
  if (words.some((word) => word.includes('\0'))) return 'pattern, glob or type holds a NUL character'
  const around = input['-C'] ?? input.context ?? 0
  return {
    pattern: input.pattern,
    root,
    rootIsFile,
    globs: splitGlobs(input.glob),
    type: input.type,
    mode: input.output_mode ?? 'files_with_matches',
    before: input['-B'] ?? around,
    after: input['-A'] ?? around,
    insensitive: input['-i'] ?? false,
    multiline: input.multiline ?? false,
  }
}

function searcherFor({ env, signal }: ToolContext): Searcher {
  const limits = { timeLimitMs: grepLimits.timeLimitMs, signal }
  const ripgrep = findRipgrep(env)
  if (ripgrep) return (search) => searchRipgrep(ripgrep, search, limits)
  return async (search) => {
    const { inWorker } = await import('../worker-task.ts')
    const answer = await inWorker({ kind: 'search', search }, limits)
    if (answer.ok) return answer.value
    return answer.timedOut ? 'timed-out' : { ok: false, why: `the search failed: ${answer.why}` }
  }
}

/** `last`: entries after it are not asked for. */
type Layout = (files: readonly FoundFile[], cwd: string, numbered: boolean, last: number) => Laid

interface Laid {
  /** The entries that head_limit and offset count. */
  readonly lines: readonly string[]
  /** How many there are, also where not all of them are laid out. */
  readonly total: number
  readonly footer: string
  readonly summary: string
}

const layouts: Record<Search['mode'], Layout> = {
  files_with_matches(files, cwd, _numbered, last) {
    if (files.length === 0) return { lines: ['No files found'], total: 1, footer: '', summary: 'No files found' }
    const summary = `Found ${counted(files.length, 'file')}`
    const paths = files.map(({ path }) => path)
    const lines = newestFirst(paths, last).map((path) => shown(cwd, path))
    return { lines, total: files.length, footer: `\n${summary}`, summary }
  },
  count(files, cwd) {
    const total = files.reduce((sum, { count }) => sum + count, 0)
    const summary = `Found ${counted(total, 'total occurrence')} across ${counted(files.length, 'file')}.`
    const lines = byPath(files).map(({ path, count }) => `${shown(cwd, path)}:${count}`)
    if (lines.length === 0) lines.push('No matches found')
    return { lines, total: lines.length, footer: `\n${summary}`, summary }
  },
  content(files, cwd, numbered) {
    if (files.length === 0) return { lines: ['No matches found'], total: 1, footer: '', summary: 'No matches found' }
    const around = files.some(({ lines }) => lines.some(({ match }) => !match))
    const lines: string[] = []
    for (const { path, lines: found } of byPath(files)) {
      const name = shown(cwd, path)
      let last = Number.NEGATIVE_INFINITY
      for (const { number, text, match } of found) {
        if (around && lines.length > 0 && number !== last + 1) lines.push('--')
        const mark = match ? ':' : '-'
        lines.push(numbered ? `${name}${mark}${number}${mark}${text}` : `${name}${mark}${text}`)
        last = number
      }
    }
    const matches = files.reduce((sum, { lines }) => sum + lines.filter(({ match }) => match).length, 0)
    const summary = `Found ${counted(matches, 'line')} in ${counted(files.length, 'file')}`
    return { lines, total: lines.length, footer: '', summary }
  },
}

const byPath = (files: readonly FoundFile[]) =>
  files.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))

function page(lines: readonly string[], total: number, offset: number, end: number): { text: string; note: string } {
  const chosen = lines.slice(offset, end)
  if (chosen.length === 0) return { text: `No entries at offset ${offset}; there are ${total}`, note: '' }
  const text = chosen.join('\n')
  if (chosen.length === total) return { text, note: '' }
  const last = offset + chosen.length
  const onward = last < total ? `; go on with offset ${last}` : ''
  return { text, note: `\n(Entries ${offset + 1}-${last} of ${total}${onward}.)` }
}
