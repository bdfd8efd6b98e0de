/** Takes the text out of PDF pages. Runs in the worker. */

import type { Done, PageRange } from '../worker-task.ts'

export async function pdfPages(bytes: Uint8Array, range: PageRange | undefined, most: number): Promise<Done['pdf']> {
  const { getDocumentProxy } = await import('unpdf')
  const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 })
  const total = document.numPages
  if (!range && total > most) return { total, first: 1, texts: undefined }
  const first = range?.first ?? 1
  const texts: string[] = []
  for (let number = first; number <= Math.min(total, range?.last ?? total); number++) {
    const { items } = await (await document.getPage(number)).getTextContent()
    texts.push(items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join(''))
  }
  return { total, first, texts }
}
