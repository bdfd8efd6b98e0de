/** Which lines of a repository came from which session: the newest recorded edit that wrote a line counts. */
import { readFileSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import type { ReadDb } from '../../store/open.ts'
import { recordedCalls } from '../replay/recorded-calls.ts'

export interface AttributedFile {
  readonly path: string
  readonly conversations: readonly {
    readonly agent: string
    readonly session: string
    readonly tool_use_id: string
    readonly at: string
    readonly ranges: readonly { readonly start_line: number; readonly end_line: number }[]
  }[]
}

interface Origin {
  readonly agent: string
  readonly session: string
  readonly tool_use_id: string
  readonly at: string
}

/** Lines that hold nothing but signs and spaces are too common to say anything. */
const says = (line: string): boolean => /[\p{L}\p{N}]{2}/u.test(line)

export function attributedLines(db: ReadDb, repo: string): AttributedFile[] {
  const files = new Map<string, Map<string, Origin>>()
  for (const { tool, input, was, source, sessionId, toolUseId, at, projectDir } of recordedCalls(db)) {
    const { file_path, content, new_string } = input
    const text = tool === 'Write' ? content : tool === 'Edit' ? new_string : undefined
    if (typeof file_path !== 'string' || typeof text !== 'string' || was?.ended === 'deny' || was?.decision === 'deny')
      continue
    const path = relative(repo, isAbsolute(file_path) ? file_path : join(projectDir, file_path))
    if (path === '' || path.startsWith('..')) continue
    const lines = files.get(path) ?? new Map<string, Origin>()
    files.set(path, lines)
    const origin = { agent: source, session: sessionId, tool_use_id: toolUseId, at }
    for (const line of text.split('\n')) if (says(line)) lines.set(line.trim(), origin)
  }
  return [...files]
    .flatMap(([path, lines]) => attributed(repo, path, lines) ?? [])
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

function attributed(repo: string, path: string, lines: ReadonlyMap<string, Origin>): AttributedFile | undefined {
  let text: string
  try {
    text = readFileSync(join(repo, path), 'utf8')
  } catch {
    return undefined // it is gone again
  }
  const found = new Map<Origin, { start_line: number; end_line: number }[]>()
  for (const [index, line] of text.split('\n').entries()) {
    const origin = lines.get(line.trim())
    if (!origin) continue
    const ranges = found.get(origin) ?? []
    found.set(origin, ranges)
    const last = ranges.at(-1)
    if (last?.end_line === index) last.end_line++
    else ranges.push({ start_line: index + 1, end_line: index + 1 })
  }
  return found.size === 0
    ? undefined
    : { path, conversations: Array.from(found, ([origin, ranges]) => ({ ...origin, ranges })) }
}
