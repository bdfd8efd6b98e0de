/** Markdown on a terminal. Loaded with the first answer. */

import { marked, type Token, type Tokens } from 'marked'
import { clean } from './clean.ts'
import { glyph } from './glyphs.ts'
import { hyperlink } from './hyperlink.ts'
import { bold, italic, paint, struck, underline } from './style.ts'
import { clip, pad, width, wrap } from './width.ts'

export type Highlighter = (code: string, language: string) => string[]

export function renderMarkdown(text: string, columns: number, highlight?: Highlighter): string[] {
  const lines: string[] = []
  for (const token of marked.lexer(clean(text)).filter(drawn)) {
    if (lines.length > 0) lines.push('')
    lines.push(...block(token, columns, highlight))
  }
  return lines
}

/** Whether a token is seen at all. */
export const drawn = ({ type }: Token): boolean => type !== 'space' && type !== 'def'

/** One block as lines of at most so many cells; lines of code are left as long as they are. */
export function block(token: Token, columns: number, highlight?: Highlighter): string[] {
  switch (token.type) {
    case 'heading': {
      const text = inline(token.tokens ?? [])
      return wrap((token as Tokens.Heading).depth === 1 ? bold(underline(text)) : bold(text), columns)
    }
    case 'paragraph':
    case 'text':
      return wrap(inline(token.tokens ?? [token]), columns)
    case 'code':
      return codeLines((token as Tokens.Code).text, (token as Tokens.Code).lang ?? '', highlight)
    case 'list':
      return (token as Tokens.List).items.flatMap((_, index) =>
        listItem(token as Tokens.List, index, columns, highlight),
      )
    case 'blockquote':
      return inner((token as Tokens.Blockquote).tokens, columns - 2, highlight).map(
        (line) => `${paint('dim', glyph.bar)} ${line}`,
      )
    case 'table':
      return table(token as Tokens.Table, columns)
    case 'hr':
      return [paint('dim', glyph.rule.repeat(Math.min(columns, 40)))]
    default:
      return wrap(token.raw.trimEnd(), columns)
  }
}

function inner(tokens: readonly Token[], columns: number, highlight?: Highlighter): string[] {
  const lines: string[] = []
  for (const token of tokens) {
    if (token.type === 'space') continue
    if (lines.length > 0 && token.type !== 'list') lines.push('')
    lines.push(...block(token, columns, highlight))
  }
  return lines
}

export function listItem(list: Tokens.List, index: number, columns: number, highlight?: Highlighter): string[] {
  const item = list.items[index]!
  const mark = list.ordered ? `${Number(list.start || 1) + index}. ` : '- '
  const box = item.task ? (item.checked ? '[x] ' : '[ ] ') : ''
  const lines = inner(
    item.tokens.filter(({ type }) => type !== 'checkbox'),
    columns - mark.length,
    highlight,
  )
  const indented = (lines.length > 0 ? lines : ['']).map((line, row) =>
    row === 0 ? mark + box + line : ' '.repeat(mark.length) + line,
  )
  return list.loose && index < list.items.length - 1 ? [...indented, ''] : indented
}

export function codeLines(code: string, language: string, highlight?: Highlighter): string[] {
  const plain = code.split('\n')
  return language !== '' && highlight ? highlight(code, language.split(/[\s,{]/)[0]!) : plain
}

const inlines: Record<string, (token: Tokens.Generic) => string> = {
  strong: (token) => bold(inline(token['tokens'] ?? [])),
  em: (token) => italic(inline(token['tokens'] ?? [])),
  del: (token) => struck(inline(token['tokens'] ?? [])),
  codespan: (token) => paint('name', token['text']),
  br: () => '\n',
  link: (token) => {
    const text = inline(token['tokens'] ?? [])
    const href: string = token['href']
    const plain: string = token['text']
    if (href === plain || href === `mailto:${plain}`) return hyperlink(underline(href), href, href) ?? underline(href)
    return hyperlink(underline(text), plain, href) ?? `${text} ${paint('dim', `(${href})`)}`
  },
  image: (token) => `${token['text'] || 'image'} ${paint('dim', `(${token['href']})`)}`,
  checkbox: () => '',
}

function inline(tokens: readonly Token[]): string {
  return tokens
    .map(
      (token) =>
        inlines[token.type]?.(token) ??
        ('tokens' in token && token.tokens ? inline(token.tokens) : 'text' in token ? token.text : token.raw),
    )
    .join('')
}

/** Columns as wide as they need to be, the widest narrowed first; too narrow for that, each row becomes a small list. */
function table({ header, rows, align }: Tokens.Table, columns: number): string[] {
  const cells = [header, ...rows].map((row) => row.map((cell) => inline(cell.tokens)))
  const wanted = header.map((_, at) => Math.max(...cells.map((row) => width(row[at] ?? '')), 1))
  const room = columns - 3 * header.length - 1
  const total = wanted.reduce((sum, one) => sum + one, 0)
  if (room < header.length * 4 && total > room)
    return cells
      .slice(1)
      .flatMap((row, index) => [
        ...(index > 0 ? [''] : []),
        ...row.flatMap((cell, at) => wrap(`${bold(cells[0]![at] ?? '')}: ${cell}`, columns)),
      ])
  const widths = wanted.map((one) => Math.min(one, room))
  for (let over = widths.reduce((sum, one) => sum + one, 0) - room; over > 0; over--)
    widths[widths.indexOf(Math.max(...widths))]!--
  const rule = ([left, between, right]: readonly string[]) =>
    paint('dim', left + widths.map((one) => glyph.rule.repeat(one + 2)).join(between) + right)
  const bar = paint('dim', glyph.bar)
  const lines = cells.map((row, index) => {
    const wrapped = widths.map((one, at) => wrap(index === 0 ? bold(row[at] ?? '') : (row[at] ?? ''), one))
    const height = Math.max(...wrapped.map((one) => one.length))
    return Array.from({ length: height }, (_, line) => {
      const parts = widths.map((one, at) => aligned(clip(wrapped[at]![line] ?? '', one), one, align[at] ?? null))
      return `${bar} ${parts.join(` ${bar} `)} ${bar}`
    })
  })
  return [rule(glyph.top), ...lines[0]!, rule(glyph.middle), ...lines.slice(1).flat(), rule(glyph.bottom)]
}

function aligned(text: string, columns: number, align: 'left' | 'right' | 'center' | null): string {
  const free = Math.max(0, columns - width(text))
  const left = align === 'right' ? free : align === 'center' ? Math.floor(free / 2) : 0
  return pad(' '.repeat(left) + text, columns)
}
