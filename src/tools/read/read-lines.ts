/** Text as numbered lines. However large the file, only the lines shown are held. */

import { readSync } from 'node:fs'
import { counted } from '../../hooks/text/counted.ts'
import { sizeInWords } from '../bounded.ts'
import { type Encoding, encodingNames } from '../encoding.ts'
import { said } from '../output.ts'
import { readLimits } from './limits.ts'
import type { OpenFile, ReadInput, Shown } from './open-file.ts'

/** `memory`: the text as UTF-8, where the file itself is in another width. */
type Source = OpenFile & { readonly memory?: Buffer }

export async function readLines(
  file: Source,
  encoding: Encoding,
  input: ReadInput,
  signal: AbortSignal,
): Promise<Shown> {
  const { path, stats } = file
  const from = Math.max(1, input.offset ?? 1)
  const limit = input.limit ?? readLimits.lines
  const { shown, total, cut, crlf } = await window(bytesOf(file), { encoding, from, limit, signal })

  const last = from + shown.length - 1
  const notes = [
    ...(crlf ? ['CRLF line ends'] : []),
    ...(encoding === 'utf8' ? [] : [encodingNames[encoding]]),
    ...(cut > 0 ? [`${counted(cut, 'line')} cut at ${readLimits.lineLength} characters`] : []),
  ]
  const note = notes.length > 0 ? ` (${notes.join('; ')})` : ''
  if (shown.length === 0) {
    const only = `${path} has only ${counted(total ?? 0, 'line')}; offset ${from} is past its end`
    return { output: said(only), whole: false }
  }
  const all = total !== undefined && from === 1 && last === total
  const of = total === undefined ? `; the file of ${sizeInWords(stats.size)} goes on` : ` of ${total} lines`
  const onward = last === total ? '' : `; read on with offset ${last + 1}`
  const header = all ? `${counted(total, 'line')} in ${path}` : `${path}: lines ${from}-${last}${of}${onward}`
  const body = shown.map((line, index) => `${String(from + index).padStart(6)}\t${line}`).join('\n')
  const summary = all ? `Read ${counted(total, 'line')}` : `Read lines ${from}-${last}`
  const response = () => ({
    type: 'text',
    file: {
      filePath: path,
      content: shown.join('\n'),
      numLines: shown.length,
      startLine: from,
      totalLines: total ?? last,
    },
  })
  const output = said(`${header}${note}\n${body}`, { kind: 'text', summary, full: body })
  return { output: { ...output, response }, whole: all }
}

interface Window {
  readonly shown: readonly string[]
  /** Lines of the whole file; undefined when the end is too far off to count. */
  readonly total: number | undefined
  /** How many of those shown are not shown in full. */
  readonly cut: number
  readonly crlf: boolean
}

interface Wanted {
  readonly encoding: Encoding
  readonly from: number
  readonly limit: number
  readonly signal: AbortSignal
}

async function window(bytes: Bytes, { encoding, from, limit, signal }: Wanted): Promise<Window> {
  const decoder = encoding === 'latin1' ? 'latin1' : 'utf8'
  const before = await skip(bytes, encoding === 'utf8-bom' ? 3 : 0, from - 1, Number.POSITIVE_INFINITY, signal)
  const shown: string[] = []
  let { position, ended } = before
  let room: number = readLimits.bytes
  let cut = 0
  let crlf = false

  const isFull = () => shown.length >= limit || room <= 0
  const show = (line: string, size?: number) => {
    const isEnded = line.endsWith('\r') && (size === undefined || size <= longest)
    crlf ||= isEnded
    let text = isEnded ? line.slice(0, -1) : line
    if (text.length > readLimits.lineLength) {
      const length = sizeInWords(size ?? Buffer.byteLength(line, decoder))
      text = `${text.slice(0, readLimits.lineLength)}… [cut; the line has ${length}]`
      cut++
    }
    shown.push(text)
    room -= Buffer.byteLength(text) + 8
  }
  while (!ended && !isFull()) {
    const chunk = bytes(position)
    const end = chunk.lastIndexOf(10)
    if (chunk.length === 0) ended = true
    else if (end < 0) {
      // The last line, or one that is far longer than what is shown of it: look for its end.
      const start = chunk.toString(decoder, 0, longest)
      const next = (await skip(bytes, position, 1, Number.POSITIVE_INFINITY, signal)).position
      show(start, next - position)
      position = next
    } else {
      const lines = chunk.toString(decoder, 0, end).split('\n')
      const first = shown.length
      for (const line of lines) {
        if (isFull()) break
        show(line)
      }
      const taken = shown.length - first
      position =
        taken === lines.length
          ? position + end + 1
          : (await skip(bytes, position, taken, Number.POSITIVE_INFINITY, signal)).position
    }
  }
  const rest = await skip(bytes, position, Number.POSITIVE_INFINITY, countAhead, signal)
  const total = rest.ended ? before.lines + shown.length + rest.lines : undefined
  return { shown, total, cut, crlf }
}

/** So many bytes of a line hold all that is shown of it. */
const longest = readLimits.lineLength * 4

/** The bytes from a position on, as many as are at hand; none at the end. Good until the next call. */
type Bytes = (position: number) => Buffer

const chunkSize = 262_144
/** How far past what is shown we read on to count the lines that are left. */
const countAhead = 16_777_216

function bytesOf({ memory, head, stats, fd }: Source): Bytes {
  const whole = memory ?? (head.length === stats.size ? head : undefined)
  if (whole) return (position) => whole.subarray(position)
  const chunk = Buffer.allocUnsafe(chunkSize)
  return (position) => chunk.subarray(0, readSync(fd, chunk, 0, chunkSize, position))
}

/** Where the line `count` lines further on begins, or how many lines there were up to the end. */
async function skip(bytes: Bytes, start: number, count: number, budget: number, signal: AbortSignal) {
  let position = start
  let lines = 0
  let lineOpen = false
  for (let turn = 1; lines < count && position - start < budget; turn++) {
    const chunk = bytes(position)
    if (chunk.length === 0) return { position, lines: lines + (lineOpen ? 1 : 0), ended: true }
    let at = 0
    while (lines < count) {
      const end = chunk.indexOf(10, at)
      if (end < 0) {
        at = chunk.length
        break
      }
      at = end + 1
      lines++
    }
    lineOpen = chunk[at - 1] !== 10
    position += at
    if (turn % 32 === 0) await new Promise(setImmediate)
    signal.throwIfAborted()
  }
  return { position, lines, ended: false }
}
