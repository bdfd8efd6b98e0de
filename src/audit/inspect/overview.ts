/** The conversations of a database: what each was about, where it stands, what it took. */
import { redact } from '../../hooks/secrets/redact.ts'
import { withArchived } from '../../store/archive/reading.ts'
import type { ReadDb } from '../../store/open.ts'

export interface Overview {
  readonly id: string
  /** What the user called it, else its first prompt. */
  readonly title: string
  readonly project_dir: string
  readonly phase: string
  readonly created_at: string
  readonly last_active: string
  readonly sessions: number
  readonly subagents: number
  /** Rows of the transcript, sub-agents' left out: what a page is measured by. */
  readonly entries: number
  readonly prompts: number
  readonly calls: number
  readonly refused: number
  readonly hooks: number
  readonly tokens: number
  /** Null: no reply had a price. */
  readonly cost_usd: number | null
}

/** Newest first. */
export function overviews(db: ReadDb, { limit = 50, offset = 0 } = {}): Overview[] {
  const chosen = 'SELECT id FROM conversations ORDER BY last_active DESC, rowid DESC LIMIT ?1 OFFSET ?2'
  return read(db, chosen, limit, offset)
}

export const overview = (db: ReadDb, id: string): Overview | undefined =>
  read(db, 'SELECT id FROM conversations WHERE id = ?1 LIMIT ?2', id, 1)[0]

export const countConversations = (db: ReadDb): number =>
  db.get<{ count: number }>('SELECT count(*) AS count FROM conversations')!.count

/** Rows of the transcript of a session. By its last one: max() reads all of them where the session is archived. */
export function entriesIn(db: ReadDb, session: string): number {
  const sql = 'SELECT sequence FROM transcript_entries WHERE session_id = ? ORDER BY sequence DESC LIMIT 1'
  return (db.get<{ sequence: number }>(sql, session)?.sequence ?? -1) + 1
}

type Facts = Pick<Overview, 'id' | 'title' | 'project_dir' | 'phase' | 'created_at' | 'last_active'>
type Sums = Pick<Overview, 'prompts' | 'calls' | 'refused' | 'hooks' | 'tokens' | 'cost_usd'>

/** The same from the sums of an index that is up to date, without counting. `reader` has the rows where they are archived. */
export function indexedOverview(db: ReadDb, reader: ReadDb, id: string): Overview | undefined {
  const facts = db.get<Facts>(
    `SELECT id, coalesce((SELECT value FROM state WHERE conversation_id = c.id AND key = 'name'), '') AS title, project_dir, phase,
       created_at, last_active FROM conversations c WHERE id = ?`,
    id,
  )
  if (!facts) return undefined
  const sums = db.get<Sums>(
    `WITH own AS (SELECT number FROM ona_inspect_conversations WHERE id = ?)
     SELECT coalesce(sum(prompts), 0) AS prompts, coalesce(sum(calls), 0) AS calls, coalesce(sum(refused), 0) AS refused,
       (SELECT coalesce(sum(runs), 0) FROM ona_inspect_hooks WHERE number = (SELECT number FROM own)) AS hooks,
       coalesce(sum(tokens), 0) AS tokens, iif(sum(priced) > 0, sum(cost), NULL) AS cost_usd
     FROM ona_inspect_activity WHERE number = (SELECT number FROM own)`,
    id,
  )!
  const sessions = db.all<{ id: string; sub: number }>(
    `SELECT session_id AS id, EXISTS (SELECT 1 FROM ona_subagents a WHERE a.session_id = s.session_id) AS sub
     FROM sessions s WHERE conversation_id = ? ORDER BY rowid`,
    id,
  )
  const own = sessions.filter(({ sub }) => sub === 0)
  return {
    ...{ ...facts, ...sums, sessions: own.length, subagents: sessions.length - own.length },
    title: redact(facts.title || firstLine(promptOf(reader, own[0]?.id ?? null) ?? '')),
    entries: own.reduce((sum, session) => sum + entriesIn(reader, session.id), 0),
  }
}

/** Each table is read once for all that are chosen. */
function read(db: ReadDb, chosen: string, ...values: [string | number, number]): Overview[] {
  const ids = db.all<{ id: string }>(chosen, ...values).map(({ id }) => id)
  return withArchived(db, ids, (reader) => readChosen(reader, chosen, ...values))
}

/** Tables are narrowed by lists, not by joins: only these reach into both halves of a table of which a part is archived. */
function readChosen(db: ReadDb, chosen: string, ...values: [string | number, number]): Overview[] {
  const rows = db.all<Overview & { first: string | null }>(
    `WITH chosen AS MATERIALIZED (${chosen}),
     own AS MATERIALIZED (
       SELECT s.session_id, s.conversation_id, a.session_id IS NOT NULL AS sub, s.rowid AS place
       FROM sessions s LEFT JOIN ona_subagents a ON a.session_id = s.session_id
       WHERE s.conversation_id IN (SELECT id FROM chosen)),
     talked AS MATERIALIZED (
       SELECT session_id, count(*) AS entries, sum(entry_type = 'user') AS prompts, sum(entry_type = 'tool_result') AS calls
       FROM transcript_entries WHERE session_id IN (SELECT session_id FROM own) GROUP BY 1),
     talk AS MATERIALIZED (
       SELECT o.conversation_id, sum(e.entries * NOT o.sub) AS entries, sum(e.prompts * NOT o.sub) AS prompts,
         sum(e.calls) AS calls
       FROM own o JOIN talked e ON e.session_id = o.session_id GROUP BY 1),
     refused AS MATERIALIZED (
       SELECT session_id, count(*) AS calls FROM tool_permission_log
       WHERE session_id IN (SELECT session_id FROM own) AND decision = 'deny' GROUP BY 1),
     refusals AS MATERIALIZED (
       SELECT o.conversation_id, sum(p.calls) AS refused
       FROM own o JOIN refused p ON p.session_id = o.session_id GROUP BY 1),
     asked AS MATERIALIZED (
       SELECT conversation_id, count(*) AS hooks FROM hook_invocations
       WHERE skipped_reason IS NULL AND conversation_id IN (SELECT id FROM chosen) GROUP BY 1),
     spent AS MATERIALIZED (
       SELECT conversation_id, sum(detail ->> 'costUsd') AS cost_usd, sum(coalesce(detail ->> 'inputTokens', 0)
         + coalesce(detail ->> 'outputTokens', 0) + coalesce(detail ->> 'cacheReadTokens', 0)
         + coalesce(detail ->> 'cacheWriteTokens', 0)) AS tokens
       FROM events WHERE event_type = 'model_reply' AND json_valid(detail)
         AND conversation_id IN (SELECT id FROM chosen) GROUP BY 1)
     SELECT c.id, coalesce((SELECT value FROM state WHERE conversation_id = c.id AND key = 'name'), '') AS title,
       c.project_dir, c.phase, c.created_at, c.last_active,
       (SELECT count(*) FROM own WHERE conversation_id = c.id AND NOT sub) AS sessions,
       (SELECT count(*) FROM own WHERE conversation_id = c.id AND sub) AS subagents,
       coalesce(t.entries, 0) AS entries, coalesce(t.prompts, 0) AS prompts, coalesce(t.calls, 0) AS calls,
       coalesce(r.refused, 0) AS refused, coalesce(a.hooks, 0) AS hooks, coalesce(p.tokens, 0) AS tokens, p.cost_usd,
       (SELECT session_id FROM own WHERE conversation_id = c.id AND NOT sub ORDER BY place LIMIT 1) AS first
     FROM chosen CROSS JOIN conversations c ON c.id = chosen.id
     LEFT JOIN talk t ON t.conversation_id = c.id LEFT JOIN refusals r ON r.conversation_id = c.id
     LEFT JOIN asked a ON a.conversation_id = c.id LEFT JOIN spent p ON p.conversation_id = c.id
     ORDER BY c.last_active DESC, c.rowid DESC`,
    ...values,
  )
  return rows.map(({ first, ...row }) => ({ ...row, title: redact(row.title || firstLine(promptOf(db, first) ?? '')) }))
}

function promptOf(db: ReadDb, session: string | null): string | null | undefined {
  const sql = `SELECT iif(json_valid(payload_json), payload_json ->> '$.content[0].text', NULL) AS prompt
    FROM transcript_entries WHERE session_id = ? AND entry_type = 'user' ORDER BY sequence LIMIT 1`
  return db.get<{ prompt: string | null }>(sql, session)?.prompt
}

const firstLine = (text: string): string => text.trim().split('\n', 1)[0]!.slice(0, 200)
