/** The end of a session, read from the record: what was asked and answered last. */
import type { Db } from '../../../store/open.ts'
import { StoreError } from '../../../store/open.ts'
import type { SessionSummary } from '../../../store/session-list.ts'
import { type Entry, lastEntries } from '../../../store/transcript.ts'
import { type Item, itemLines, type ToolCall } from '../../render/items.ts'
import { paint } from '../../render/style.ts'

/** Enough for several screens, whatever the length of the session. */
const lastRows = 60

export type Markdown = (text: string, columns: number) => string[]

export function previewItems(db: Db, { sessionId, archived }: SessionSummary): Item[] {
  if (archived) return [note('Archived. Resuming it brings its messages back.')]
  try {
    const items = lastEntries(db, sessionId, lastRows).flatMap(({ entry }) => itemsOf(entry))
    return items.length > 0 ? items : [note('No messages.')]
  } catch (cause) {
    if (cause instanceof StoreError) return [{ kind: 'notice', level: 'error', text: cause.message }]
    throw cause
  }
}

export const previewLines = (items: readonly Item[], columns: number, markdown: Markdown): string[] =>
  items.flatMap((item) => ['', ...itemLines(item, columns, false, markdown)]).slice(1)

const note = (text: string): Item => ({ kind: 'lines', lines: [paint('dim', `  ${text}`)] })

function itemsOf(entry: Entry): Item[] {
  if (entry._t === 'user') return words(entry).map((text) => ({ kind: 'user', text }))
  if (entry._t === 'assistant') return words(entry).map((text) => ({ kind: 'answer', text }))
  if (entry._t === 'tool_use') return [{ kind: 'tool', call: callOf(entry) }]
  return []
}

const words = ({ content }: Extract<Entry, { _t: 'user' | 'assistant' }>): string[] => {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  return text.trim() === '' ? [] : [text]
}

/** The fields that say best what a call is about, of any tool. */
const telling = ['command', 'file_path', 'pattern', 'description', 'url', 'query']

function callOf({ id, name, input }: Extract<Entry, { _t: 'tool_use' }>): ToolCall {
  const summary = telling.map((field) => input[field]).find((value) => typeof value === 'string') ?? ''
  return { id, name, summary, input, startedAt: 0, progress: '', calls: [], notes: [] }
}
