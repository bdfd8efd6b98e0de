/** The rows of a batch into their tables: checked against their links, added once, and counted with their conversations. */
import { chainedTables } from '../../store/chain/chain.ts'
import { sha256 } from '../wire.ts'
import type { Sql } from './database.ts'
import { type Link, type ReadBatch, rowKey } from './read-batch.ts'
import { factsOf, type RowFacts, timeOf } from './row-facts.ts'

export interface Fault {
  readonly kind: 'gap' | 'link changed' | 'changed' | 'removed' | 'cut off' | 'rewritten' | 'not a row'
  readonly link: number
  readonly table?: string
  readonly row?: number
  readonly detail: string
}

export interface Place {
  readonly sql: Sql
  readonly node: string
  readonly database: string
  readonly epoch: number
}

interface NewRow extends RowFacts {
  readonly kind: string
  readonly row_id: number
  readonly link: number
  readonly conversation: string
  readonly state: string
  readonly content: string
}

/** Returns how many were new. */
export async function storeRows(
  at: Place,
  batch: ReadBatch,
  fresh: readonly Link[],
  complete: readonly Link[],
  faults: Fault[],
): Promise<number> {
  const sessions = new Map(batch.sessions.map((session) => [session.id, session]))
  const found: NewRow[] = []
  const missing: { table: number; id: number; link: number }[] = []
  for (const link of fresh)
    for (const { table, id, digest } of link.holds) {
      const row = batch.rows.get(rowKey(table, id))
      if (!row) {
        if (complete.includes(link)) missing.push({ table, id, link: link.id })
        continue
      }
      const place = { link: link.id, table: chainedTables[table]!.name, row: id }
      const facts = factsOf(table, id, row.text)
      const isTrue = row.state !== 'exact' || sha256(row.text).equals(digest)
      if (!isTrue) faults.push({ kind: 'changed', ...place, detail: 'its content is not what was written' })
      else if (!facts && row.state !== 'omitted')
        faults.push({ kind: 'not a row', ...place, detail: 'its content is not a row of that table' })
      found.push({
        ...(facts ?? { ...noFacts, session: link.session }),
        kind: place.table,
        row_id: id,
        link: link.id,
        conversation: sessions.get(link.session)?.conversation ?? '',
        state: isTrue ? row.state : 'changed',
        content: row.text,
      })
    }
  await reportMissing(at, missing, faults)
  const added = found.length === 0 ? [] : await insertRows(at, found)
  await storeConversations(at, batch, added, sessions)
  return added.length
}

const noFacts: RowFacts = {
  ...{ session: '', at: null, type: '', tool: null, toolUseId: null, decision: null, by: null, isError: null },
  ...{ tokens: null, cost: null, skipped: false, calls: [] },
}

/** Rows that a link holds and the batch does not: stored by an earlier part of it, or removed on the node. */
async function reportMissing(
  { sql, node, database, epoch }: Place,
  missing: readonly { table: number; id: number; link: number }[],
  faults: Fault[],
): Promise<void> {
  if (missing.length === 0) return
  const { rows } = await sql.query<{ kind: string; id: number }>(
    `SELECT kind, row_id AS id FROM ona_fleet.rows WHERE node_id = $1 AND database_id = $2 AND epoch = $3
       AND (kind, row_id) IN (SELECT * FROM unnest($4::text[], $5::bigint[]))`,
    [node, database, epoch, missing.map(({ table }) => chainedTables[table]!.name), missing.map(({ id }) => id)],
  )
  const stored = new Set(rows.map(({ kind, id }) => `${kind} ${id}`))
  for (const { table, id, link } of missing) {
    const { name } = chainedTables[table]!
    if (!stored.has(`${name} ${id}`))
      faults.push({
        kind: 'removed',
        link,
        table: name,
        row: id,
        detail: 'its link holds it, and the node has it no more',
      })
  }
}

async function insertRows({ sql, node, database, epoch }: Place, found: readonly NewRow[]): Promise<NewRow[]> {
  const { rows } = await sql.query<{ kind: string; id: number }>(
    `INSERT INTO ona_fleet.rows(node_id, database_id, epoch, kind, row_id, link, session_id, conversation_id, at, type,
       tool_name, tool_use_id, decision, decided_by, is_error, tokens, cost_usd, state, content)
     SELECT $1, $2, $3, kind, row_id, link, session, conversation, at, type, tool, "toolUseId", decision, by, "isError", tokens,
       cost, state, content
     FROM json_to_recordset($4) AS new(kind text, row_id bigint, link bigint, session text, conversation text, at timestamptz,
       type text, tool text, "toolUseId" text, decision text, by text, "isError" boolean, tokens bigint, cost double precision,
       state text, content text)
     ON CONFLICT DO NOTHING RETURNING kind, row_id AS id`,
    [node, database, epoch, JSON.stringify(found.map(({ calls: _, skipped: __, ...row }) => row))],
  )
  const added = new Set(rows.map(({ kind, id }) => `${kind} ${id}`))
  const fresh = found.filter(({ kind, row_id }) => added.has(`${kind} ${row_id}`))
  const calls = fresh.flatMap(({ calls: each, session, conversation, at, row_id }) =>
    each.map(({ id, tool, target }) => ({ session, conversation, id, tool, target, at, row_id })),
  )
  if (calls.length > 0)
    await sql.query(
      `INSERT INTO ona_fleet.calls(node_id, database_id, epoch, session_id, conversation_id, tool_use_id, tool_name, target, at, row_id)
       SELECT $1, $2, $3, session, conversation, id, tool, target, at, row_id FROM json_to_recordset($4)
         AS new(session text, conversation text, id text, tool text, target text, at timestamptz, row_id bigint)`,
      [node, database, epoch, JSON.stringify(calls)],
    )
  return fresh
}

async function storeConversations(
  { sql, node, database }: Place,
  batch: ReadBatch,
  added: readonly NewRow[],
  sessions: ReadonlyMap<string, { parent: string | null }>,
): Promise<void> {
  if (batch.sessions.length > 0)
    await sql.query(
      `INSERT INTO ona_fleet.sessions(node_id, database_id, session_id, conversation_id, started_at, parent_id, agent_id, agent_type, imported_from)
       SELECT $1, $2, id, conversation, "startedAt", parent, "agentId", "agentType", "importedFrom" FROM json_to_recordset($3)
         AS new(id text, conversation text, "startedAt" text, parent text, "agentId" text, "agentType" text, "importedFrom" text)
       ON CONFLICT DO NOTHING`,
      [node, database, JSON.stringify(batch.sessions)],
    )
  const counts = new Map<string, Counts>()
  for (const row of added) {
    const count = counts.get(row.conversation) ?? { ...nothing }
    counts.set(row.conversation, count)
    const sub = sessions.get(row.session)?.parent != null
    if (row.kind === 'transcript_entries' && !sub) count.entries++
    if (row.type === 'user' && !sub) count.prompts++
    if (row.type === 'tool_result') count.calls++
    if (row.decision === 'deny') count.refused++
    if (row.kind === 'hook_invocations' && !row.skipped) count.hooks++
    count.tokens += row.tokens ?? 0
    if (row.cost !== null) count.cost = (count.cost ?? 0) + row.cost
  }
  const agents = new Map(batch.sessions.map(({ conversation, importedFrom }) => [conversation, importedFrom ?? 'ona']))
  const known = batch.conversations.map((about) => ({
    ...about,
    createdAt: timeOf(about.createdAt),
    lastActive: timeOf(about.lastActive) ?? new Date(0).toISOString(),
    agent: agents.get(about.id) ?? 'ona',
    ...(counts.get(about.id) ?? nothing),
  }))
  if (known.length === 0) return
  await sql.query(
    `INSERT INTO ona_fleet.conversations AS old(node_id, database_id, id, project_dir, title, phase, agent, created_at, last_active,
       entries, prompts, calls, refused, hooks, tokens, cost_usd)
     SELECT $1, $2, id, "projectDir", title, phase, agent, "createdAt", "lastActive", entries, prompts, calls, refused, hooks, tokens, cost
     FROM json_to_recordset($3) AS new(id text, "projectDir" text, title text, phase text, agent text, "createdAt" timestamptz,
       "lastActive" timestamptz, entries bigint, prompts bigint, calls bigint, refused bigint, hooks bigint, tokens bigint,
       cost double precision)
     ORDER BY id
     ON CONFLICT (node_id, database_id, id) DO UPDATE SET title = excluded.title, phase = excluded.phase,
       last_active = greatest(old.last_active, excluded.last_active), entries = old.entries + excluded.entries,
       prompts = old.prompts + excluded.prompts, calls = old.calls + excluded.calls, refused = old.refused + excluded.refused,
       hooks = old.hooks + excluded.hooks, tokens = old.tokens + excluded.tokens,
       cost_usd = CASE WHEN old.cost_usd IS NULL AND excluded.cost_usd IS NULL THEN NULL
         ELSE coalesce(old.cost_usd, 0) + coalesce(excluded.cost_usd, 0) END`,
    [node, database, JSON.stringify(known)],
  )
}

interface Counts {
  entries: number
  prompts: number
  calls: number
  refused: number
  hooks: number
  tokens: number
  cost: number | null
}
const nothing: Counts = { entries: 0, prompts: 0, calls: 0, refused: 0, hooks: 0, tokens: 0, cost: null }
