/**
 * Brings the dispatcher's logs (.ai/tmp) into the database. A log only grows, so what was imported is remembered as a
 * length: importing again adds what is new and nothing twice. A session's lines go in as a whole or not at all.
 */
import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { restoreSession, settleArchives } from '../../store/archive/archive.ts'
import { recordHooks } from '../../store/audit.ts'
import { type Db, StoreError } from '../../store/open.ts'
import { storable } from '../../store/secrets.ts'
import { asLiteral } from '../../store/session/stored-once.ts'

export interface Imported {
  readonly sessions: number
  readonly events: number
  readonly decisions: number
  /** Lines that are not whole JSON objects: cut off by a crash. */
  readonly torn: number
  readonly problems: readonly string[]
}

interface Line {
  readonly ts: number
  readonly event: string
  readonly kind: string
  readonly toolName?: string
  readonly decision?: string
  readonly reason?: string
  readonly data?: Record<string, unknown>
}

/** `folder`: the dispatcher's work folder, `<repository>/.ai/tmp`. */
export function importDispatcher(db: Db, folder: string, projectDir = resolve(folder, '..', '..')): Imported {
  const total = { sessions: 0, events: 0, decisions: 0, torn: 0, problems: [] as string[] }
  for (const sid of readdirSync(folder)
    .filter((name) => /^[0-9a-f]{8}$/.test(name))
    .sort()) {
    const file = join(folder, sid, 'events.jsonl')
    if (!existsSync(file)) continue
    const found = unlessDamaged(file, () => db.transaction(() => importSession(db, file, projectDir, sid)))
    if (typeof found === 'string') {
      total.problems.push(found)
      continue
    }
    if (found.events + found.decisions > 0) total.sessions++
    total.events += found.events
    total.decisions += found.decisions
    total.torn += found.torn
  }
  total.problems.push(...settleArchives(db))
  return total
}

/** The rows of a log may be in an archive that is missing or was changed: the other logs are imported. */
function unlessDamaged<T>(file: string, work: () => T): T | string {
  try {
    return work()
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'damaged') return `${file} was not imported: ${error.message}`
    throw error
  }
}

function importSession(db: Db, file: string, projectDir: string, sid: string) {
  const known = db.get<{ bytes: number; session: string }>(
    'SELECT bytes, session_id AS session FROM ona_dispatcher_imports WHERE project_dir = ? AND sid = ?',
    projectDir,
    sid,
  )
  const from = known?.bytes ?? 0
  const counts = { events: 0, decisions: 0, torn: 0 }
  const fd = openSync(file, 'r')
  try {
    const { size } = fstatSync(fd)
    if (size < from) return `${file} is shorter than when it was last imported; it was left out`
    let session = known?.session
    let bytes = from
    let newest = -Infinity
    for (const { text, end } of wholeLines(fd, from, size)) {
      bytes = end
      const line = readLine(text)
      if (!line) {
        if (text !== '') counts.torn++
        continue
      }
      session ??= beginSession(db, projectDir, sid, line.ts)
      if (counts.events + counts.decisions === 0) restoreSession(db, session) // its rows return before one is added
      newest = Math.max(newest, line.ts)
      if (line.kind === 'TOOL_DECISION') {
        addDecision(db, session, line)
        counts.decisions++
      } else {
        const sql =
          'INSERT INTO events(conversation_id, session_id, timestamp, event_type, detail) VALUES (?, ?, ?, ?, ?)'
        db.run(sql, session, session, sqlTime(line.ts), `dispatcher.${line.kind}`, storable(text))
        counts.events++
      }
    }
    if (session !== undefined && newest > -Infinity)
      db.run('UPDATE conversations SET last_active = max(last_active, ?) WHERE id = ?', sqlTime(newest), session)
    if (session !== undefined && bytes > from)
      db.run(
        `INSERT INTO ona_dispatcher_imports(project_dir, sid, session_id, bytes) VALUES (?, ?, ?, ?)
         ON CONFLICT(project_dir, sid) DO UPDATE SET bytes = excluded.bytes`,
        projectDir,
        sid,
        session,
        bytes,
      )
    return counts
  } finally {
    closeSync(fd)
  }
}

/** The lines that end before `size`, and where each ends. A last line without its end is left for the next time. */
function* wholeLines(fd: number, from: number, size: number): Generator<{ text: string; end: number }> {
  let rest = Buffer.alloc(0)
  for (let at = from; at < size; ) {
    const chunk = Buffer.allocUnsafe(Math.min(4 * 1024 * 1024, size - at))
    const got = readSync(fd, chunk, 0, chunk.length, at)
    if (got === 0) return
    const bytes = Buffer.concat([rest, chunk.subarray(0, got)])
    const start = at - rest.length
    at += got
    let begin = 0
    for (let newline = bytes.indexOf(10); newline >= 0; newline = bytes.indexOf(10, begin)) {
      yield { text: bytes.toString('utf8', begin, newline), end: start + newline + 1 }
      begin = newline + 1
    }
    rest = bytes.subarray(begin)
  }
}

function readLine(text: string): Line | undefined {
  try {
    const line = JSON.parse(text)
    const usable = typeof line?.ts === 'number' && typeof line.event === 'string' && typeof line.kind === 'string'
    return usable && !Number.isNaN(new Date(line.ts).getTime()) ? line : undefined
  } catch {
    return undefined // cut off by a crash
  }
}

/** A session of the dispatcher is a conversation with one session of the same id. */
function beginSession(db: Db, projectDir: string, sid: string, ts: number): string {
  const id = `dispatcher-${sid}-${db.get<{ n: number }>('SELECT count(*) AS n FROM ona_dispatcher_imports')!.n}`
  const at = sqlTime(ts)
  db.run(
    'INSERT INTO conversations(id, project_dir, created_at, last_active) VALUES (?, ?, ?, ?)',
    id,
    projectDir,
    at,
    at,
  )
  db.run('INSERT INTO sessions(session_id, conversation_id, started_at) VALUES (?, ?, ?)', id, id, at)
  return id
}

/** The dispatcher is one command hook: its decision is what it printed. */
function addDecision(db: Db, session: string, { ts, toolName, decision, reason, data = {} }: Line): void {
  const at = new Date(ts).toISOString()
  const { toolUseId, toolInput, ...rest } = data
  recordHooks(db, session, session, [
    {
      event: 'PreToolUse',
      ordinal: 0,
      matcher: '*',
      command: 'node .ai/hooks/dispatch.mjs PreToolUse',
      toolUseId: typeof toolUseId === 'string' ? toolUseId : null,
      toolName: toolName ?? null,
      inputJson: asLiteral(JSON.stringify({ tool_name: toolName, tool_input: toolInput })),
      exitCode: 0,
      stdout: JSON.stringify({ decision, ...(reason !== undefined && { denyReason: reason }), ...rest }),
      stderr: '',
      startedAt: at,
      completedAt: at,
      skippedReason: null,
    },
  ])
}

const sqlTime = (ts: number): string => new Date(ts).toISOString().slice(0, 19).replace('T', ' ')
