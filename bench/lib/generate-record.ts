/**
 * A database of any size, with the rows that the program itself writes: conversations, sessions, sub-agents, calls, outputs,
 * hooks, decisions, and the chain over them. The same seed gives the same rows.
 *
 *   node bench/lib/generate-record.ts --rows 1000000 /tmp/record.db
 */
import { hash } from 'node:crypto'
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { databaseLink, type Hash, sessionLink } from '../../src/store/chain/chain.ts'
import { openDb } from '../../src/store/open.ts'
import { type Call, recordedCall, type Shape, words } from './recorded-work.ts'

export interface RecordOptions {
  /** Rows of the four audit tables together, reached within one conversation. */
  readonly rows: number
  readonly seed?: number
  /** Where the sessions worked; conversations are spread over ten projects below it. */
  readonly projects?: string
  /** The last row is of this time; the first, `days` before. */
  readonly until?: Date
  readonly days?: number
  /** Calls in a session, about. One session in ten has four times as many. */
  readonly callsPerSession?: number
  readonly shape?: Shape
}

export interface Generated {
  readonly conversations: number
  readonly sessions: number
  readonly calls: number
  readonly rows: number
  readonly bytes: number
  /** One in the middle that has the same content in a record of every size. */
  readonly conversationId: string
  readonly newestConversationId: string
}

/** Fills a new file at an absolute path. */
export function generateRecord(path: string, options: RecordOptions): Generated {
  openDb(path).close() // the tables and indexes are the program's
  const db = new DatabaseSync(path)
  db.exec('PRAGMA journal_mode=DELETE; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-200000')
  const indexes = db
    .prepare(`SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL`)
    .all() as unknown as { name: string; sql: string }[]
  for (const { name } of indexes) db.exec(`DROP INDEX ${name}`)
  db.exec('BEGIN')
  const made = fill(db, options)
  for (const { sql } of indexes) db.exec(sql)
  db.exec('COMMIT; PRAGMA journal_mode=WAL')
  db.close()
  return { ...made, bytes: statSync(path).size }
}

function fill(db: DatabaseSync, options: RecordOptions): Omit<Generated, 'bytes'> {
  const { rows, seed = 1, projects = '/home/dev/src', until = new Date(), days = 180 } = options
  const { callsPerSession = 24, shape = 'mixed' } = options
  const add = adder(db)
  const count = { conversations: 0, sessions: 0, calls: 0 }
  const begin = until.getTime() - days * 86_400_000
  const writeConversation = (random: () => number, perSession: number, left: () => boolean, agents: boolean) => {
    const at = begin + (add.rows() / rows) * days * 86_400_000
    const conversation = uuid(random)
    const project = `${projects}/project-${Math.floor(random() * 10)}`
    count.conversations++
    add.conversation(conversation, project, at)
    const write = (calls: number, more: () => boolean) => {
      const session = uuid(random)
      const where = { session, conversation, project, path: '/home/dev/.ona/agent.db' }
      count.sessions++
      add.session(session, conversation, at)
      count.calls += writeSession(add, where, at, { random, calls, shape, first: count.calls, left: more })
      return session
    }
    for (let session = random() < 0.8 ? 1 : 2; session > 0; session--) {
      const parent = write(Math.ceil(perSession * (0.5 + random())), left)
      if (agents && random() < 0.1)
        add.subagent(
          write(6, () => true),
          parent,
          `agent-${count.sessions}`,
        )
    }
    return conversation
  }
  const random = generator(seed)
  const left = () => add.rows() < rows
  let [probe, newest] = ['', '']
  while (left()) {
    if (probe === '' && add.rows() * 2 >= rows) probe = writeConversation(generator(0), 24, () => true, false)
    newest = writeConversation(random, random() < 0.1 ? 4 * callsPerSession : callsPerSession, left, true)
  }
  return { ...count, rows: add.rows(), conversationId: probe, newestConversationId: newest }
}

interface Where {
  readonly session: string
  readonly conversation: string
  readonly project: string
  readonly path: string
}

interface Work {
  readonly random: () => number
  readonly calls: number
  readonly shape: Shape
  /** The number of the first call: what it names is found nowhere else. */
  readonly first: number
  left(): boolean
}

/** A session as the runtime commits it; the number of its calls. */
function writeSession(add: Adder, where: Where, begin: number, { random, calls, shape, first, left }: Work): number {
  let clock = begin
  const at = () => {
    clock += 400 + random() * 4000
    return stamp(clock)
  }
  add.event(where, at(), 'session_start', { cwd: where.project })
  add.commit(where.session)
  let call = 0
  while (call < calls && (left() || call === 0)) {
    add.entry(where, at(), 'user', {
      ...{ _t: 'user', uuid: uuid(random), content: [{ type: 'text', text: words(random, 12) }], source: 'prompt' },
    })
    add.commit(where.session)
    const inTurn = Math.min(calls - call, 1 + Math.floor(random() * 8))
    for (let end = call + inTurn; call < end; call++)
      writeCall(add, where, at, random, recordedCall(random, first + call, where.project, shape))
    reply(add, where, at(), random, [{ type: 'text', text: words(random, 60) }], 'end_turn')
    add.event(where, at(), 'turn_end', { stop: 'end_turn', requests: inTurn + 1 })
    add.commit(where.session)
  }
  return call
}

function writeCall(add: Adder, where: Where, at: () => string, random: () => number, call: Call): void {
  const { session, conversation, project, path } = where
  const use = { id: `toolu_${uuid(random).slice(0, 18)}`, name: call.tool, input: call.input }
  const text = { type: 'text', text: words(random, 14) }
  reply(add, where, at(), random, [text, { type: 'tool_use', ...use }], 'tool_use')
  const fields = {
    ...{ session_id: session, conversation_id: conversation, runtime_db_path: path, cwd: project },
    ...{ permission_mode: 'default', tool_name: use.name, tool_input: use.input, tool_use_id: use.id },
  }
  const started = at()
  if (call.decision !== 'deny') {
    add.event(where, started, 'tool_start', { tool_use_id: use.id, tool_name: use.name, sandboxed: false })
    add.commit(session)
  }
  add.hook(where, started, 0, use, { hook_event_name: 'PreToolUse', ...fields }, call.decision === 'deny' ? 2 : 0)
  const response = { content: call.output, is_error: call.isError }
  if (call.decision !== 'deny')
    add.hook(where, at(), 1, use, { hook_event_name: 'PostToolUse', ...fields, tool_response: response }, 0)
  if (call.decision !== 'none') add.permission(where, at(), use, call.decision)
  const result = { _t: 'tool_result', tool_use_id: use.id, content: call.output, is_error: call.isError }
  add.entry(where, at(), 'tool_result', result, use.id)
  add.commit(session)
}

function reply(add: Adder, where: Where, at: string, random: () => number, content: unknown[], stop: string): void {
  add.event(where, at, 'model_reply', {
    ...{ model: 'claude-sonnet-5', stop, inputTokens: 200 + Math.floor(random() * 4000) },
    ...{ outputTokens: 40 + Math.floor(random() * 400), cacheReadTokens: 18_000, cacheWriteTokens: 0, costUsd: 0.0123 },
  })
  add.entry(where, at, 'assistant', { _t: 'assistant', uuid: uuid(random), content })
  add.commit(where.session)
}

type Adder = ReturnType<typeof adder>

/** Rows with ids of our own, so that their digests are known without reading them back. */
function adder(db: DatabaseSync) {
  const into = (table: string, columns: string) =>
    db.prepare(`INSERT INTO ${table}(${columns}) VALUES (${columns.replaceAll(/[^,]+/g, '?')})`)
  const conversations = into('conversations', 'id, project_dir, created_at, last_active')
  const sessions = into('sessions', 'session_id, conversation_id, started_at')
  const subagents = into('ona_subagents', 'session_id, parent_session_id, agent_id, agent_type')
  const state = into('state', 'conversation_id, key, value, updated_at')
  const links = into('ona_chain', 'id, session_id, rows, session_hash, hash')
  const tables = [
    'id, session_id, sequence, parent_entry_id, entry_type, payload_json, tool_use_id, created_at',
    'id, conversation_id, session_id, timestamp, event_type, detail',
    'id, session_id, conversation_id, hook_event, hook_ordinal, matcher, command, tool_use_id, tool_name, input_json, exit_code, stdout_text, stderr_text, started_at, completed_at, skipped_reason',
    'id, session_id, tool_use_id, tool_name, decision, reason_json, created_at',
  ].map((columns, at) => into(names[at]!, columns))
  const last = [0, 0, 0, 0]
  const sequences = new Map<string, number>()
  const ends = new Map<string, Uint8Array>()
  let pending: Buffer[] = []
  let linkId = 0
  let end: Uint8Array = new Uint8Array(32)

  const row = (table: number, values: readonly (string | number | null)[]) => {
    const id = ++last[table]!
    const whole = [id, ...values]
    tables[table]!.run(...whole)
    const entry = Buffer.alloc(41)
    entry[0] = table
    entry.writeBigUInt64BE(BigInt(id), 1)
    hash('sha256', JSON.stringify(whole), 'buffer').copy(entry, 9)
    pending.push(entry)
  }
  return {
    rows: () => last[0]! + last[1]! + last[2]! + last[3]!,
    conversation(id: string, project: string, at: number) {
      conversations.run(id, project, stamp(at), stamp(at))
      state.run(id, `model:${id}`, 'claude-sonnet-5', stamp(at))
    },
    session: (id: string, conversation: string, at: number) => sessions.run(id, conversation, stamp(at)),
    subagent: (id: string, parent: string, agent: string) => subagents.run(id, parent, agent, 'general-purpose'),
    entry(where: Where, at: string, type: string, payload: unknown, toolUseId: string | null = null) {
      const sequence = sequences.get(where.session) ?? 0
      sequences.set(where.session, sequence + 1)
      row(0, [where.session, sequence, null, type, JSON.stringify(payload), toolUseId, at])
    },
    event: (where: Where, at: string, type: string, detail: unknown) =>
      row(1, [where.conversation, where.session, at, type, JSON.stringify(detail)]),
    hook(where: Where, at: string, ordinal: number, use: Use, input: HookInput, exit: number) {
      const time = `${at.replace(' ', 'T')}.000Z`
      const command = ordinal === 0 ? '.ona/hooks/guard.sh' : '.ona/hooks/format.sh'
      row(2, [
        ...[where.session, where.conversation, input.hook_event_name, ordinal, '*', command, use.id, use.name],
        ...[JSON.stringify(input), exit, '', exit === 0 ? '' : 'not in this project', time, time, null],
      ])
    },
    permission: (where: Where, at: string, use: Use, decision: string) =>
      row(3, [where.session, use.id, use.name, decision, permissionReasons[decision]!, at]),
    /** One link, as a transaction leaves it. */
    commit(session: string) {
      const rows = Buffer.concat(pending)
      pending = []
      const sessionHash = sessionLink(ends.get(session) ?? new Uint8Array(32), rows, sha256)
      end = databaseLink(end, ++linkId, session, sessionHash, sha256)
      ends.set(session, sessionHash)
      links.run(linkId, session, rows, sessionHash, end)
    },
  }
}

interface HookInput {
  readonly hook_event_name: string
  readonly [field: string]: unknown
}

interface Use {
  readonly id: string
  readonly name: string
}

const names = ['transcript_entries', 'events', 'hook_invocations', 'tool_permission_log']
const permissionReasons: Record<string, string> = {
  allow: '{"by":"person","reason":"the user allowed it"}',
  deny: '{"by":"hook","reason":"not in this project"}',
}
const sha256: Hash = (bytes) => hash('sha256', bytes, 'buffer')
const stamp = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ')

/** mulberry32: small, fast, and the same everywhere. */
function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function uuid(random: () => number): string {
  const hex = () =>
    Math.floor(random() * 4_294_967_296)
      .toString(16)
      .padStart(8, '0')
  const [a, b, c, d] = [hex(), hex(), hex(), hex()]
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-8${c.slice(1, 4)}-${c.slice(4)}${d}`
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    options: { rows: { type: 'string', default: '10000' }, seed: { type: 'string', default: '1' } },
    allowPositionals: true,
  })
  const [file] = positionals
  if (file === undefined) {
    console.error('usage: node bench/lib/generate-record.ts [--rows N] [--seed N] FILE')
    process.exit(2)
  }
  console.log(JSON.stringify(generateRecord(file, { rows: Number(values.rows), seed: Number(values.seed) })))
}
