/** The text of a PDF's pages. */
import { counted } from '../../hooks/text/counted.ts'
import { sizeInWords } from '../bounded.ts'
import { failed, said } from '../output.ts'
import type { ToolContext } from '../tool.ts'
import type { PageRange } from '../worker-task.ts'
import { readLimits } from './limits.ts'
import { type OpenFile, part, type Shown, wholeFile } from './open-file.ts'

const sizeLimit = 67_108_864
const timeLimitMs = 60_000

export async function readPdf(file: OpenFile, pages: string | undefined, context: ToolContext): Promise<Shown> {
  const { path, stats } = file
  if (stats.size > sizeLimit) return part(failed(`${path} is a PDF of ${sizeInWords(stats.size)}; the limit is 64 MB`))
  const range = pages === undefined ? undefined : parsePages(pages)
  if (range === 'bad') return part(failed(`pages is ${JSON.stringify(pages)}; write one page ("3") or a range ("1-5")`))
  if (range && range.last - range.first + 1 > readLimits.pdfPagesAsked) {
    return part(failed(`pages names more than ${readLimits.pdfPagesAsked}; read them in several calls`))
  }

  const { inWorker } = await import('../worker-task.ts')
  const limits = { timeLimitMs, signal: context.signal }
  const task = { kind: 'pdf', bytes: wholeFile(file), range, most: readLimits.pdfPages } as const
  const answer = await inWorker(task, limits)
  if (!answer.ok) return part(failed(`${path} cannot be read as a PDF: ${answer.why}`))

  const { total, texts, first } = answer.value
  if (!texts) {
    return part(failed(`${path} has ${total} pages; name at most ${readLimits.pdfPagesAsked} of them in pages ("1-5")`))
  }
  if (texts.length === 0) return part(failed(`${path} has ${counted(total, 'page')}; pages ${pages} is past its end`))
  const body = texts.map((text, index) => `--- page ${first + index} ---\n${text.trim()}`).join('\n')
  const which =
    texts.length === total ? counted(total, 'page') : `pages ${first}-${first + texts.length - 1} of ${total}`
  const empty = texts.every((text) => text.trim() === '') ? '; no text in them: the pages may be scanned images' : ''
  return {
    output: said(`${path}: PDF, ${which}${empty}\n${body}`, { kind: 'text', summary: `Read ${which}`, full: body }),
    whole: texts.length === total,
  }
}

function parsePages(words: string): PageRange | 'bad' {
  const match = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(words)
  if (!match) return 'bad'
  const first = Number(match[1])
  const last = match[2] === undefined ? first : Number(match[2])
  return first >= 1 && last >= first ? { first, last } : 'bad'
}
