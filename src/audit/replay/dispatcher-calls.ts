/** The calls of other agents, as the dispatcher logged them and `ona audit import` brought them in. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { bringArchived, dropArchived } from '../../store/archive/reading.ts'
import type { ReadDb } from '../../store/open.ts'
import { type CallFilter, isBelow, type RecordedCall } from './recorded-calls.ts'

/** In the order in which they were imported. What the log cut short where a rule would look is not judged. */
export function* importedCalls(db: ReadDb, filter: CallFilter = {}): Generator<RecordedCall> {
  for (const id of logsOf(db, filter)) {
    bringArchived(db, [id])
    yield* callsOf(db, id, filter)
    dropArchived(db)
  }
}

/** A log is a conversation and its session, by one id. Those that a filter leaves out are not read. */
function logsOf(db: ReadDb, { since, conversation, project }: CallFilter): string[] {
  const conditions: [sql: string, value: string | undefined][] = [
    ['c.id = ?1', conversation],
    ['c.last_active >= ?2', since || undefined],
    [isBelow('c.project_dir', '?3'), project],
  ]
  const given = conditions.filter(([, value]) => value !== undefined).map(([sql]) => sql)
  return db
    .arrays<[string]>(
      `WITH given AS (SELECT ?1, ?2, ?3)
       SELECT i.session_id FROM conversations c CROSS JOIN ona_dispatcher_imports i ON i.session_id = c.id
       WHERE ${['1', ...given].join(' AND ')} ORDER BY i.rowid`,
      ...conditions.map(([, value]) => value ?? null),
    )
    .map(([id]) => id)
}

function* callsOf(db: ReadDb, sessionId: string, filter: CallFilter): Generator<RecordedCall> {
  for (const row of db.each<Row>(decisions, sessionId, filter.since?.replace(' ', 'T') ?? '')) {
    const { tool, input } = ours(row.tool, row.input)
    if (filter.tool !== undefined && filter.tool !== tool) continue
    const decision = words.find((word) => word === row.decision)
    yield {
      at: row.at.replace('T', ' ').slice(0, 19),
      conversationId: row.conversationId,
      sessionId: row.sessionId,
      toolUseId: row.toolUseId ?? '',
      tool,
      input: input ?? {},
      projectDir: row.projectDir,
      agent: null,
      source: 'dispatcher',
      was: decision && input ? { decision, by: row.by ?? 'dispatcher' } : null,
    }
  }
}

interface Row {
  readonly at: string
  readonly conversationId: string
  readonly sessionId: string
  readonly projectDir: string
  readonly toolUseId: string | null
  readonly tool: string
  readonly input: string | null
  readonly decision: string | null
  readonly by: string | null
}

const words = ['allow', 'ask', 'deny'] as const

const decisions = `
  SELECT h.started_at AS at, c.id AS conversationId, h.session_id AS sessionId, c.project_dir AS projectDir,
    h.tool_use_id AS toolUseId, h.tool_name AS tool, h.input_json -> 'tool_input' AS input,
    h.stdout_text ->> 'decision' AS decision, h.stdout_text ->> 'decidedBy' AS by
  FROM hook_invocations h JOIN conversations c ON c.id = h.conversation_id
  WHERE h.session_id = ?1 AND +h.hook_event = 'PreToolUse' AND h.tool_name IS NOT NULL
    AND json_valid(h.input_json) AND json_valid(h.stdout_text) AND h.started_at >= ?2
  ORDER BY h.id`

/** VS Code's tools that one of ours stands for, and its names of what our rules look at. */
const vscode: Record<string, { tool: string; keys: Record<string, string> }> = {
  run_in_terminal: { tool: 'Bash', keys: { command: 'command' } },
  read_file: { tool: 'Read', keys: { filePath: 'file_path' } },
  create_file: { tool: 'Write', keys: { filePath: 'file_path' } },
  replace_string_in_file: { tool: 'Edit', keys: { filePath: 'file_path' } },
  insert_edit_into_file: { tool: 'Edit', keys: { filePath: 'file_path' } },
  edit_notebook_file: { tool: 'NotebookEdit', keys: { filePath: 'notebook_path' } },
  grep_search: { tool: 'Grep', keys: { query: 'pattern', includePattern: 'glob' } },
  file_search: { tool: 'Glob', keys: { query: 'pattern' } },
  list_dir: { tool: 'Glob', keys: { path: 'path' } },
}

/** Without an input: the log does not hold enough of it to be judged. */
function ours(name: string, json: string | null): { tool: string; input?: JsonObject } {
  const row = Object.hasOwn(vscode, name) ? vscode[name]! : { tool: name, keys: {} }
  const given: unknown = json === null ? undefined : JSON.parse(json)
  if (!isObject(given)) return { tool: row.tool }
  const keys: Record<string, string> = row.keys
  const input = Object.fromEntries(Object.entries(given).map(([key, value]) => [keys[key] ?? key, value]))
  const judged = Object.entries(input).filter(([key]) => !unjudged.includes(key))
  return judged.some(([, value]) => isCut(value)) ? { tool: row.tool } : { tool: row.tool, input }
}

/** What may be as long as it likes: no rule looks at it. */
const unjudged = ['content', 'old_string', 'new_string', 'oldString', 'newString', 'explanation', 'code']
const isCut = (value: unknown): boolean => typeof value === 'string' && /… \(\d+ characters\)$/.test(value)
