/** The end of a session, read from the record: what was asked and answered last. */
import type { Db } from '../../../store/open.ts'
import { StoreError } from '../../../store/open.ts'
import type { SessionSummary } from '../../../store/session/session-list.ts'
import {
  type AssistantEntry,
  type Entry,
  lastEntries,
  type ToolUseEntry,
  type UserEntry,
} from '../../../store/session/transcript.ts'
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
  if (entry._t === 'tool_use') return [{ kind: 'tool', call: callOf(entry as ToolUseEntry) }]
  if (entry._t !== 'user' && entry._t !== 'assistant') return []
  const kind = entry._t === 'user' ? 'user' : 'answer'
  return (entry as UserEntry | AssistantEntry).content.flatMap((block): Item[] => {
    if (block.type === 'tool_use') return [{ kind: 'tool', call: callOf(block) }]
    return block.type === 'text' && block.text.trim() !== '' ? [{ kind, text: block.text }] : []
  })
}

/** The fields that say best what a call is about, of any tool. */
const telling = ['command', 'file_path', 'pattern', 'description', 'url', 'query']

function callOf({ id, name, input }: Pick<ToolUseEntry, 'id' | 'name' | 'input'>): ToolCall {
  const summary = telling.map((field) => input[field]).find((value) => typeof value === 'string') ?? ''
  return { id, name, summary, input, startedAt: 0, progress: '', calls: [], notes: [] }
}
