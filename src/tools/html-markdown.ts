/** Turns a web page into Markdown. Runs in the worker. */
import type { Done } from './work.ts'

export async function htmlToMarkdown(html: string): Promise<Done['html']> {
  const { default: Turndown } = await import('turndown')
  const title = /<title[^>]*>([^<]{0,500})/i.exec(html)?.[1]?.trim() ?? ''
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })
  turndown.remove(['script', 'style', 'noscript', 'iframe', 'object', 'embed', 'template', 'head', 'title'] as never)
  turndown.remove((node) => ['SVG', 'CANVAS', 'VIDEO', 'AUDIO'].includes(node.nodeName.toUpperCase()))
  turndown.addRule('inline-image', {
    filter: (node) => node.nodeName === 'IMG' && (node.getAttribute('src') ?? '').startsWith('data:'),
    replacement: (_, node) => ('getAttribute' in node ? `[image: ${node.getAttribute('alt') ?? ''}]` : ''),
  })
  tables(turndown)
  try {
    return { title, markdown: turndown.turndown(html).replace(/\n{3,}/g, '\n\n') }
  } catch (error) {
    // Thousands of nested tags are more than a recursive walk can take; their text is still worth having.
    if (!(error instanceof RangeError)) throw error
    return { title, markdown: plainText(html) }
  }
}

/** Tables as rows between bars; the first row is the head. */
function tables(turndown: import('turndown')): void {
  turndown.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (content) =>
      ` ${content
        .replace(/\s*\n\s*/g, ' ')
        .replaceAll('|', '\\|')
        .trim()} |`,
  })
  turndown.addRule('row', {
    filter: 'tr',
    replacement(content, node) {
      if (content.trim() === '') return ''
      const row = `\n|${content}`
      const cells = content.replaceAll('\\|', '').split('|').length - 1
      return isFirstRow(node as unknown as Element) ? `${row}\n|${' --- |'.repeat(cells)}` : row
    },
  })
  turndown.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` })
  turndown.addRule('table-part', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content })
}

/** As much of a page's element as we look at. */
interface Element {
  readonly nodeName: string
  readonly parentNode: Element | null
  querySelector(selector: string): Element | null
}

function isFirstRow(row: Element): boolean {
  let table = row.parentNode
  while (table && table.nodeName !== 'TABLE') table = table.parentNode
  return table?.querySelector('tr') === row
}

function plainText(html: string): string {
  return html
    .replace(/<(script|style|head|noscript)\b[\s\S]*?<\/\1\s*>/gi, ' ')
    .replace(/<(?:br|p|div|li|tr|h[1-6])\b[^>]*>/gi, '\n')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(lt|gt|amp|quot|#39|nbsp);/g, (_, name: string) => entities[name] ?? ' ')
    .replace(/[ \t]+/g, ' ')
    .replace(/\s*\n\s*/g, '\n')
    .trim()
}

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'", nbsp: ' ' }
