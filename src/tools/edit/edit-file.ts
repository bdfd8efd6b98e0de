/** One exact replacement in a file, keeping its encoding, its line ends and everything else. */
import { counted } from '../../hooks/text/counted.ts'
import { sizeInWords } from '../bounded.ts'
import { decode, encode, encodingNames, hasMark, sniff } from '../encoding.ts'
import { failed, said, type ToolOutput } from '../output.ts'
import { sayWhy } from '../read/read-file.ts'
import type { ToolContext } from '../tool.ts'
import { contentOf, replaceFile, staleness, type Target, targetOf } from '../write/write-file.ts'
import { changeOf, lineCount } from './diff-display.ts'
import { nearMiss } from './near-miss.ts'

interface EditInput {
  readonly file_path: string
  readonly old_string: string
  readonly new_string: string
  readonly replace_all?: boolean
}

const sizeLimit = 67_108_864

export async function editFile(input: EditInput, context: ToolContext): Promise<ToolOutput> {
  const { old_string: old, new_string: fresh } = input
  if (old === fresh) return failed('old_string and new_string are the same: there is nothing to change')
  const target = targetOf(input.file_path, context)
  if (typeof target === 'string') return failed(target)
  const { path, stats } = target
  if (path.toLowerCase().endsWith('.ipynb')) return failed(`${path} is a notebook: change its cells with NotebookEdit`)

  if (!stats) {
    if (old !== '') return failed(sayWhy(path, Object.assign(new Error(), { code: 'ENOENT' }), context.cwd))
    const summary = `Created ${path}: ${counted(lineCount(fresh), 'line')}`
    return written(target, { before: '', after: fresh, bytes: Buffer.from(fresh), summary }, input, context)
  }
  const stale = staleness(target, context.host)
  if (stale) return failed(stale)
  if (stats.size > sizeLimit)
    return failed(`${path} is ${sizeInWords(stats.size)}: too large for Edit; use sed in Bash`)
  if (old === '' && stats.size > 0)
    return failed(`old_string is empty, but ${path} is not; use Write to replace all of it`)

  const bytes = contentOf(target)
  if (typeof bytes === 'string') return failed(bytes)
  const encoding = sniff(bytes, true)
  if (encoding === 'binary') return failed(`${path} is a binary file; Edit changes text only`)
  const before = decode(bytes, encoding)
  const replacement = replace(before, old, fresh, input.replace_all ?? false)
  if (!replacement.ok) return failed(`${path}: ${replacement.why}`)

  const after = encode(replacement.text, encoding, hasMark(bytes))
  if (!after)
    return failed(`${path} is ${encodingNames[encoding]}, which has no way to write some character of new_string`)
  const lines = counted(lineCount(replacement.text), 'line')
  const summary = `Edited ${path}: ${counted(replacement.count, 'replacement')}, now ${lines}`
  return written(target, { before, after: replacement.text, bytes: after, summary }, input, context)
}

interface Change {
  readonly before: string
  readonly after: string
  readonly bytes: Buffer
  readonly summary: string
}

async function written(
  target: Target,
  { before, after, bytes, summary }: Change,
  { old_string: oldString, new_string: newString, replace_all: replaceAll = false }: EditInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const problem = replaceFile(target, bytes, context.host)
  if (problem) return failed(problem)
  const filePath = target.path
  const { display, hunks: structuredPatch } = await changeOf(filePath, before, after)
  const facts = { filePath, oldString, newString, originalFile: before, structuredPatch }
  return { ...said(summary, display), response: () => ({ ...facts, userModified: false, replaceAll }) }
}

type Replaced = { ok: true; text: string; count: number } | { ok: false; why: string }

/** Exported for its tests. */
export function replace(text: string, old: string, fresh: string, all: boolean): Replaced {
  if (old === '') return { ok: true, text: fresh, count: 1 }
  const crlf = usesCrlf(text)
  const spellings = crlf ? [toCrlf(old), old] : [old]
  const found = spellings.find((spelling) => text.includes(spelling))
  if (found === undefined) return { ok: false, why: `old_string was not found. ${nearMiss(text, old)}` }
  const pieces = text.split(found)
  const count = pieces.length - 1
  if (count > 1 && !all) {
    const at = lineNumbers(text, pieces, found)
    return {
      ok: false,
      why: `old_string occurs ${count} times (lines ${at}); add surrounding lines until it is the only one, or set replace_all`,
    }
  }
  return { ok: true, text: pieces.join(crlf ? toCrlf(fresh) : fresh), count }
}

/** Whether more of the lines end in CRLF than in LF alone. */
function usesCrlf(text: string): boolean {
  const crlf = text.split('\r\n').length - 1
  return crlf > 0 && crlf * 2 > text.split('\n').length - 1
}

const toCrlf = (text: string) => text.replace(/\r?\n/g, '\r\n')

function lineNumbers(text: string, pieces: readonly string[], found: string): string {
  const numbers: number[] = []
  let at = 0
  for (const piece of pieces.slice(0, Math.min(pieces.length - 1, 10))) {
    at += piece.length
    numbers.push(lineCount(text.slice(0, at + 1)))
    at += found.length
  }
  return numbers.join(', ') + (pieces.length - 1 > numbers.length ? ', …' : '')
}
