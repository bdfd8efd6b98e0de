/** What the tables say of a row beside its content: columns taken out of it once, when it arrives. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { chainedTables } from '../../store/chain/chain.ts'

export interface RowFacts {
  readonly session: string
  readonly at: string | null
  readonly type: string
  readonly tool: string | null
  readonly toolUseId: string | null
  readonly decision: string | null
  readonly by: string | null
  readonly isError: boolean | null
  readonly tokens: number | null
  readonly cost: number | null
  readonly skipped: boolean
  readonly calls: readonly { readonly id: string; readonly tool: string; readonly target: string }[]
}

const columns = chainedTables.map((table) => table.columns.split(', '))

/** Undefined: the text is not a row of that table with that id. */
export function factsOf(table: number, id: number, text: string): RowFacts | undefined {
  const values = parsed(text)
  const names = columns[table]
  if (!Array.isArray(values) || !names || values.length !== names.length || values[0] !== id) return undefined
  const of = (name: string): unknown => values[names.indexOf(name)]
  const word = (name: string): string | null => {
    const value = of(name)
    return typeof value === 'string' ? clean(value).slice(0, 1000) : null
  }
  const base = {
    session: word('session_id') ?? '',
    at: timeOf(word('created_at') ?? word('timestamp') ?? word('started_at')),
    tool: word('tool_name'),
    toolUseId: word('tool_use_id'),
    ...{ decision: null, by: null, isError: null, tokens: null, cost: null, skipped: false, calls: [] },
  }
  return { ...base, ...special[table]!(of, word) }
}

type Of = (name: string) => unknown
type Word = (name: string) => string | null

const special: readonly ((of: Of, word: Word) => Partial<RowFacts> & Pick<RowFacts, 'type'>)[] = [
  (of, word) => {
    const type = word('entry_type') ?? ''
    const entry = objectIn(of('payload_json'))
    const blocks =
      type === 'tool_use' ? [entry] : Array.isArray(entry['content']) ? entry['content'].filter(isObject) : []
    const uses = type === 'assistant' || type === 'tool_use' ? blocks : []
    const calls = uses.flatMap(({ id, name, input }) =>
      typeof id === 'string' && typeof name === 'string'
        ? [{ id: clean(id).slice(0, 200), tool: clean(name).slice(0, 200), target: targetOf(input) }]
        : [],
    )
    const isError = type === 'tool_result' ? entry['is_error'] === true : null
    return { type, calls, isError }
  },
  (of, word) => {
    const type = word('event_type') ?? ''
    if (type !== 'model_reply') return { type }
    const detail = objectIn(of('detail'))
    const sum = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens']
      .map((name) => detail[name])
      .reduce<number>((total, count) => total + (isCount(count) ? count : 0), 0)
    const cost = detail['costUsd']
    return { type, tokens: Math.round(sum), cost: typeof cost === 'number' && Number.isFinite(cost) ? cost : null }
  },
  (of, word) => ({ type: word('hook_event') ?? '', skipped: of('skipped_reason') !== null }),
  (of, word) => {
    const by = objectIn(of('reason_json'))['by']
    return {
      type: 'permission',
      decision: word('decision'),
      by: typeof by === 'string' ? clean(by).slice(0, 200) : null,
    }
  },
  () => ({ type: 'tombstone' }),
]

const isCount = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value < 1e12

/** The file, command or address that a call is about. */
export function targetOf(input: unknown): string {
  if (!isObject(input)) return ''
  for (const name of [
    'file_path',
    'notebook_path',
    'path',
    'command',
    'full_command',
    'cmd',
    'url',
    'pattern',
    'query',
  ]) {
    const value = input[name]
    if (typeof value === 'string') return clean(value).slice(0, 500)
    if (Array.isArray(value)) return clean(value.join(' ')).slice(0, 500)
  }
  return ''
}

function objectIn(value: unknown): JsonObject {
  const found = typeof value === 'string' ? parsed(value) : undefined
  return isObject(found) ? found : {}
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // what is not JSON has no facts
  }
}

/** SQLite writes UTC without saying so. Null: no time that a calendar knows. */
export function timeOf(text: string | null): string | null {
  if (!text) return null
  const ms = Date.parse(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/.test(text) ? `${text.replace(' ', 'T')}Z` : text)
  return ms >= 0 && ms < 4_102_444_800_000 ? new Date(ms).toISOString() : null
}

/** PostgreSQL stores neither NUL nor half a surrogate pair. */
export const clean = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed()
