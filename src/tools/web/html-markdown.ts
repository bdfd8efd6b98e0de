/** Turns a web page into Markdown. Runs in the worker. */
import type { Done } from '../worker-task.ts'

export async function htmlToMarkdown(html: string): Promise<Done['html']> {
  if (isDeep(html)) return { title: titleOf(html), markdown: plainText(html) }
  const { default: Turndown } = await import('turndown')
  const title = titleOf(html)
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
    // A tree that is too deep for a recursive walk all the same; its text is still worth having.
    if (!(error instanceof RangeError)) throw error
    return { title, markdown: plainText(html) }
  }
}

const titleOf = (html: string) => /<title[^>]*>([^<]{0,500})/i.exec(html)?.[1]?.trim() ?? ''

const depthLimit = 1000

/** Whether tags lie deeper in each other than any page has them: reading such a tree takes time in squares. */
function isDeep(html: string): boolean {
  let depth = 0
  for (const [, closing, name] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)/gi)) {
    if (unnested.has(name!.toLowerCase())) continue
    depth = closing === '/' ? Math.max(0, depth - 1) : depth + 1
    if (depth > depthLimit) return true
  }
  return false
}

/** Tags that have no end, or whose end may be left out. */
const unnested = new Set(
  'area base br col embed hr img input link meta param source track wbr li p td th tr dt dd option tbody thead'.split(
    ' ',
  ),
)

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
