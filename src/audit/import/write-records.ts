/** Turns records of a history into the rows that inspect, replay, `hooks log` and SQL read. */

import type { HistoryReader, HistoryRecord } from '../../hosts/history/record.ts'
import { archiveOf } from '../../store/archive/archive.ts'
import { withArchived } from '../../store/archive/reading.ts'
import type { Db, ReadDb } from '../../store/open.ts'
import { addUnknown, type Counts } from './counts.ts'
import { stored, storedInput, storedJson } from './shorten.ts'

/** Where records go. */
export interface ImportTarget {
  readonly db: Db
  /** Of a file with many sessions: those that were active since then. */
  readonly sinceMs?: number
  /** What is written is counted and dropped. `recorded`: the record with what was imported before; `seen`: keys by session. */
  readonly dryRun?: { readonly recorded: ReadDb; readonly seen: Map<string, Set<string>> }
}

/** Thrown before a row is added to a session whose rows are in an archive. */
export class ArchivedSession extends Error {
  readonly sessionId: string
  constructor(sessionId: string) {
    super(`${sessionId} is archived`)
    this.sessionId = sessionId
  }
}

export interface RecordWriter {
  add(record: HistoryRecord): void
  /** Call it once, at the end of the transaction. */
  finish(): void
}

/** One per transaction: sequences and times are read from the database when a session is first met. */
export function recordWriter(
  target: ImportTarget,
  { agent, isThin = () => false }: Pick<HistoryReader, 'agent' | 'isThin'>,
  file: string,
  counts: Counts,
  { skipKnown = false }: { skipKnown?: boolean | undefined } = {},
): RecordWriter {
  const { db } = target
  const sessions = new Map<string, Open>()

  const session = (id: string, at: string): Open => {
    const found = sessions.get(id)
    if (found) return found
    const made = openSession(target, { agent, file, id, at, counts, skipKnown, isThin })
    sessions.set(id, made)
    return made
  }

  return {
    add(record) {
      if (record.kind === 'unknown') {
        addUnknown(counts, record.type)
        return
      }
      const at = sqlTime(record.at)
      const open = session(record.session, at)
      if (open.isHeldElsewhere) {
        if (record.kind !== 'session') counts.copied++
        return
      }
      if (at > open.last) open.last = at
      if (at < open.first) open.first = at
      if (record.kind === 'session') describe(db, open, record, (id) => session(id, at))
      else if (!open.known(record.kind === 'result' ? `result:${record.call}` : record.key)) {
        if (open.isArchived) throw new ArchivedSession(open.sessionId)
        write(db, agent, open, record, at, counts)
      }
    },
    finish() {
      for (const { sessionId, conversationId, first, last, isHeldElsewhere } of sessions.values()) {
        if (isHeldElsewhere) continue
        db.run('UPDATE sessions SET started_at = min(started_at, ?) WHERE session_id = ?', first, sessionId)
        db.run(
          'UPDATE conversations SET created_at = min(created_at, ?), last_active = max(last_active, ?) WHERE id = ?',
          ...[first, last, conversationId],
        )
      }
    },
  }
}

interface Open {
  readonly sessionId: string
  conversationId: string
  /** It has no rows yet. */
  isNew: boolean
  readonly isArchived: boolean
  /** It was read from a file of the other kind, whole or thin: what this one repeats is left out. */
  readonly isHeldElsewhere: boolean
  next: number
  first: string
  last: string
  known(key: string): boolean
}

interface Opening {
  readonly agent: string
  readonly file: string
  readonly id: string
  readonly at: string
  readonly counts: Counts
  readonly skipKnown: boolean
  isThin(path: string): boolean
}

/** Ours are `<agent>-<its id>`, so that an id of the agent's finds its session here. */
function openSession(target: ImportTarget, opening: Opening): Open {
  const { agent, file, id, at, counts, skipKnown, isThin } = opening
  const { db } = target
  const sessionId = `${agent}-${id}`
  const found = db.get<{ conversationId: string; from: string | null }>(
    `SELECT s.conversation_id AS conversationId, i.file AS "from" FROM sessions s
       LEFT JOIN ona_imports i ON i.session_id = s.session_id WHERE s.session_id = ?`,
    sessionId,
  )
  if (!found) {
    db.run(
      "INSERT OR IGNORE INTO conversations(id, project_dir, created_at, last_active) VALUES (?, '', ?, ?)",
      sessionId,
      at,
      at,
    )
    db.run('INSERT INTO sessions(session_id, conversation_id, started_at) VALUES (?, ?, ?)', sessionId, sessionId, at)
    db.run(
      'INSERT INTO ona_imports(session_id, agent, source_id, file) VALUES (?, ?, ?, ?)',
      sessionId,
      agent,
      id,
      file,
    )
    counts.sessions++
  }
  const { next } = db.get<{ next: number }>(
    'SELECT coalesce(max(sequence) + 1, 0) AS next FROM transcript_entries WHERE session_id = ?',
    sessionId,
  )!
  const conversationId = found?.conversationId ?? sessionId
  const seen = skipKnown ? knownKeys(target, sessionId, conversationId, !found) : undefined
  return {
    ...{ sessionId, conversationId, next, isNew: !found, first: at, last: at },
    isArchived: found !== undefined && archiveOf(db, conversationId) !== undefined,
    isHeldElsewhere: typeof found?.from === 'string' && isThin(file) !== isThin(found.from),
    known(key) {
      if (!seen) return false
      if (seen.has(key)) return true
      seen.add(key)
      return false
    },
  }
}

function knownKeys(
  { db, dryRun }: ImportTarget,
  sessionId: string,
  conversationId: string,
  isNew: boolean,
): Set<string> {
  const seen = dryRun?.seen.get(sessionId)
  if (seen) return seen
  const recorded = dryRun?.recorded ?? db
  const keys = isNew
    ? new Set<string>()
    : withArchived(recorded, [conversationId], (reader) => storedKeys(reader, sessionId))
  dryRun?.seen.set(sessionId, keys)
  return keys
}

/** Every row that is imported names its record, so that a history which repeats itself adds nothing twice. */
function storedKeys(db: ReadDb, sessionId: string): Set<string> {
  const rows = db.each<{ key: string | null }>(
    `SELECT iif(entry_type = 'tool_result', 'result:' || tool_use_id, payload_json ->> 'uuid') AS key
       FROM transcript_entries WHERE session_id = ?1
     UNION ALL SELECT detail ->> 'record' FROM events WHERE session_id = ?1 AND json_valid(detail)
     UNION ALL SELECT input_json ->> 'record' FROM hook_invocations WHERE session_id = ?1 AND json_valid(input_json)`,
    sessionId,
  )
  const keys = new Set<string>()
  for (const { key } of rows) if (key !== null) keys.add(key)
  return keys
}

type Described = Extract<HistoryRecord, { kind: 'session' }>

/** What the history says about the session itself: folder, version, title, and whose sub-agent it is. */
function describe(db: Db, open: Open, record: Described, session: (id: string) => Open): void {
  const { cwd, version, title, parent } = record
  if (version) db.run('UPDATE ona_imports SET version = ? WHERE session_id = ?', version, open.sessionId)
  if (parent) {
    const above = session(parent.session)
    if (open.isNew && open.conversationId !== above.conversationId) {
      db.run('UPDATE sessions SET conversation_id = ? WHERE session_id = ?', above.conversationId, open.sessionId)
      db.run('DELETE FROM conversations WHERE id = ?', open.conversationId)
      open.conversationId = above.conversationId
    }
    db.run(
      'INSERT OR IGNORE INTO ona_subagents(session_id, parent_session_id, agent_id, agent_type) VALUES (?, ?, ?, ?)',
      ...[open.sessionId, above.sessionId, parent.agentId, parent.agentType],
    )
  }
  if (cwd)
    db.run("UPDATE conversations SET project_dir = ? WHERE id = ? AND project_dir = ''", cwd, open.conversationId)
  if (title && !parent)
    db.run(
      "INSERT OR IGNORE INTO state(conversation_id, key, value) VALUES (?, 'name', ?)",
      open.conversationId,
      stored(title),
    )
}

type Written = Exclude<HistoryRecord, { kind: 'unknown' } | { kind: 'session' }>

function write(db: Db, agent: string, open: Open, record: Written, at: string, counts: Counts): void {
  open.isNew = false
  if (record.kind === 'prompt') {
    counts.prompts++
    const uuid = JSON.stringify(record.key)
    entry(db, open, at, 'user', `{"_t":"user","uuid":${uuid},"content":[${textBlock(record.text)}]}`)
  } else if (record.kind === 'reply') {
    counts.replies++
    const original = Object.fromEntries(
      record.calls.flatMap((call) => (call.original ? [[call.id, call.original]] : [])),
    )
    const uses = record.calls.map(({ id, name, input }) =>
      storedJson({ type: 'tool_use', id, name, input: storedInput(input) }),
    )
    const content = record.text === '' ? uses : [textBlock(record.text), ...uses]
    const kept = Object.keys(original).length > 0 ? `,"original":${storedJson(original)}` : ''
    const uuid = JSON.stringify(record.key)
    entry(db, open, at, 'assistant', `{"_t":"assistant","uuid":${uuid},"content":[${content.join()}]${kept}}`)
  } else if (record.kind === 'result') {
    counts.calls++
    if (record.decision.decision === 'deny') counts.denied++
    const { call, output, isError, decision } = record
    const payload = { _t: 'tool_result', tool_use_id: call, content: stored(output), is_error: isError }
    entry(db, open, at, 'tool_result', JSON.stringify(payload), call)
    const reason = { by: decision.by, reason: decision.reason ?? '', was: decision.was, agent }
    db.run(
      'INSERT INTO tool_permission_log(session_id, tool_use_id, tool_name, decision, reason_json, created_at) VALUES (?, ?, ?, ?, ?, ?)',
      ...[open.sessionId, call, record.tool, decision.decision, storedJson(reason), at],
    )
  } else if (record.kind === 'hook') {
    counts.hooks++
    hookRow(db, open, record)
  } else {
    const isUsage = record.kind === 'usage'
    if (!isUsage) counts.errors++
    const detail = storedJson({ ...(isUsage ? record.usage : record.detail), record: record.key })
    db.run(
      'INSERT INTO events(conversation_id, session_id, timestamp, event_type, detail) VALUES (?, ?, ?, ?, ?)',
      ...[open.conversationId, open.sessionId, at, isUsage ? 'model_reply' : record.type, detail],
    )
  }
}

/** Texts are looked through as they are: once they are JSON, an escape could end a secret. */
const textBlock = (text: string): string => JSON.stringify({ type: 'text', text: stored(text) })

/** `payload`: JSON without secrets. */
function entry(db: Db, open: Open, at: string, type: string, payload: string, toolUseId: string | null = null): void {
  db.run(
    `INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json, tool_use_id, created_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
    ...[open.sessionId, open.next++, type, payload, toolUseId, at],
  )
}

function hookRow(db: Db, open: Open, { at, key, hook }: Extract<HistoryRecord, { kind: 'hook' }>): void {
  const started = new Date(Date.parse(at) - hook.ms).toISOString()
  db.run(
    `INSERT INTO hook_invocations(session_id, conversation_id, hook_event, hook_ordinal, matcher, command, tool_use_id,
       tool_name, input_json, exit_code, stdout_text, stderr_text, started_at, completed_at)
     VALUES (?, ?, ?, 0, '*', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[open.sessionId, open.conversationId, hook.event, stored(hook.command), hook.call ?? null, hook.tool ?? null],
    ...[storedJson({ record: key }), hook.exitCode, stored(hook.stdout), stored(hook.stderr), started, at],
  )
}

/** Whole seconds, as every other row has them. */
const sqlTime = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 19)}`
