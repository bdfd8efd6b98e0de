/** Reads one file for the model: finds out what it is, and shows it the way that kind is shown. */
import { closeSync, fstatSync, readSync, type Stats } from 'node:fs'
import { extname } from 'node:path'
import { sizeInWords } from '../bounded.ts'
import { decode, sampleSize, sniff } from '../encoding.ts'
import { failed, said, type ToolOutput } from '../output.ts'
import { absolute, codeOf, openJudged, realTarget, similarNames, whyOf } from '../paths.ts'
import type { ToolContext } from '../tool.ts'
import { type OpenFile, part, type ReadInput, type Shown, wholeFile } from './open-file.ts'
import { readHex } from './read-hex.ts'
import { readImage, sniffImage } from './read-image.ts'
import { readLines } from './read-lines.ts'

export async function readFile(input: ReadInput, context: ToolContext): Promise<ToolOutput> {
  const path = absolute(context.cwd, input.file_path)
  const target = context.judgedPath ?? realTarget(path)
  if (ofProcess.test(target)) return failed(`${path} is what a process holds in memory, secrets among it: not shown`)
  let fd: number | undefined
  try {
    fd = openJudged(target)
    if (fd === undefined) return failed(`${path} now leads somewhere else than when it was judged; read it again`)
    const stats = fstatSync(fd)
    if (!stats.isFile()) return failed(`${path} ${whatElse(stats)}`)
    const head = Buffer.allocUnsafe(Math.min(sampleSize, stats.size > 0 ? stats.size : sampleSize))
    const file = { path, fd, stats, head: head.subarray(0, readSync(fd, head, 0, head.length, 0)) }
    const answer = await show(file, input, context)
    if (!answer.output.isError) {
      context.host.files.note(target, { mtimeMs: stats.mtimeMs, size: stats.size, whole: answer.whole })
    }
    return answer.output
  } catch (error) {
    if (context.signal.aborted) return failed(`reading ${path} was interrupted`)
    return failed(sayWhy(path, error, context.cwd))
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/** Our own environment has credentials in it, and as hex they would not be known for what they are. */
const ofProcess = /^\/proc\/.+\/(environ|mem|auxv)$/

async function show(file: OpenFile, input: ReadInput, context: ToolContext): Promise<Shown> {
  const { head, path, stats } = file
  if (head.length === 0) return { output: said(`0 lines in ${path}: the file is there and empty`), whole: true }
  if (head.subarray(0, 5).toString('latin1') === '%PDF-') {
    return (await import('./read-pdf.ts')).readPdf(file, input.pages, context)
  }
  if (input.pages !== undefined) return part(failed(`pages is for PDF files; ${path} is none: use offset and limit`))
  const image = sniffImage(head)
  if (image) return readImage(file, image)
  if (extname(path).toLowerCase() === '.ipynb') {
    const notebook = (await import('./read-notebook.ts')).readNotebook(file, input)
    if (notebook) return notebook
  }
  const encoding = sniff(head, head.length === stats.size)
  if (encoding === 'binary') return readHex(file, input)
  if (encoding !== 'utf16le' && encoding !== 'utf16be') return readLines(file, encoding, input, context.signal)
  if (stats.size > wideLimit) {
    const size = sizeInWords(stats.size)
    return part(failed(`${path} is UTF-16 and ${size}: too large to turn; use Bash: iconv -f UTF-16 -t UTF-8 … | head`))
  }
  const text = Buffer.from(decode(wholeFile(file), encoding), 'utf8')
  return readLines({ ...file, memory: text }, encoding, input, context.signal)
}

const wideLimit = 67_108_864

function whatElse(stats: Stats): string {
  if (stats.isDirectory()) return 'is a directory: list it with Glob, or with ls in Bash'
  const kind = stats.isFIFO() ? 'a named pipe' : stats.isSocket() ? 'a socket' : 'a device'
  return `is ${kind}, not a file: reading it could wait for ever`
}

export function sayWhy(path: string, error: unknown, cwd: string): string {
  if (codeOf(error) !== 'ENOENT') return `${path} ${whyOf(error)}`
  const similar = similarNames(path)
  const hint = similar.length > 0 ? ` Did you mean ${similar.join(' or ')}?` : ''
  return `${path} does not exist. The working directory is ${cwd}.${hint}`
}
