/**
 * Operator acts (approving a plan, signing off, trusting a folder, changing rules, logging in) belong to whoever governs
 * the agent. They are refused in a process that a tool or a hook of the agent started.
 */
import { argumentsOf, environmentOf, hasOpen, lineage, type Process, real, startedAt } from '../files/process-tree.ts'
import { isObject } from '../hooks/shape.ts'
import { readJson } from '../hooks/text/json-text.ts'
import { packageRoot } from '../package-root.ts'
import { type Db, dbPath, StoreError } from './open.ts'

/** Set for what an agent's tools and hooks start: whose record and whose home the agent works with. */
export const governedVariable = 'ONA_GOVERNED'

export const governedMark = (place: Place): Record<string, string> => ({
  [governedVariable]: JSON.stringify({ db: place.db, home: place.home }),
})

interface Place {
  readonly db: string
  readonly home: string
}

/** `db` for an act on a record, `home` for one on the user's own files. */
export interface Acted {
  readonly db?: Pick<Db, 'path' | 'get'>
  readonly home?: string
}

/** Why this act is refused here, or undefined. */
export function operatorProblem(act: string, on: Acted): string | undefined {
  const place = { ...(on.db && { db: on.db.path }), ...(on.home && { home: on.home }) }
  const governor = markOf(process.env, place) ?? governorAbove(place) ?? bornOfCommand(on)
  if (governor === undefined) return undefined
  return `${act} is for the operator, and this command was started by an agent's ${governor}; run it in a terminal of your own`
}

/** For acts whose callers cannot go on without them. */
export function requireOperator(act: string, on: Acted): void {
  const problem = operatorProblem(act, on)
  if (problem) throw new StoreError('not-operator', problem)
}

function markOf(env: NodeJS.ProcessEnv, on: Partial<Place>): string | undefined {
  const mark = env[governedVariable]
  if (mark === undefined) return undefined
  const read = readJson(mark)
  const place = read.ok && isObject(read.value) ? read.value : {}
  const known = typeof place['db'] === 'string' && typeof place['home'] === 'string'
  return !known || isSame(place as unknown as Place, on) ? `tool or hook (${governedVariable} is set)` : undefined
}

const isSame = (place: Place, on: Partial<Place>): boolean =>
  (on.db !== undefined && real(on.db) === real(place.db)) ||
  (on.home !== undefined && real(on.home) === real(place.home))

/** An ona above us that works with the same record or home. */
function governorAbove(on: Partial<Place>): string | undefined {
  const found = lineage()
    .slice(1)
    .find(({ pid }) => governs(pid, on))
  return found && `tool or hook (below process ${found.pid})`
}

/**
 * A process that detached itself has no such ancestor left: the system has adopted it. The record tells when commands of
 * the agent ran, and a process that was born meanwhile may be one of theirs.
 */
function bornOfCommand({ db }: Acted): string | undefined {
  if (!db) return undefined
  const chain = lineage()
  const adopted = chain[chain.findIndex(isInit) - 1]
  if (!adopted) return undefined
  const bornAt = new Date(startedAt(adopted)).toISOString().slice(0, 19).replace('T', ' ')
  const command = db.get<{ id: string }>(commandAt, bornAt)
  return command && `detached command (process ${adopted.pid}, started while the agent's command ${command.id} ran)`
}

/** A Bash call that had started by then, and had no result yet; one in the background runs as long as its session does. */
const commandAt = `WITH calls AS (
    SELECT session_id, timestamp AS started, json_extract(detail, '$.tool_use_id') AS id FROM events
    WHERE event_type = 'tool_start' AND timestamp <= ?1 AND json_valid(detail) AND json_extract(detail, '$.tool_name') = 'Bash'
    ORDER BY id DESC LIMIT 200)
  SELECT c.id FROM calls c LEFT JOIN transcript_entries e
    ON e.session_id = c.session_id AND e.entry_type = 'tool_result' AND e.tool_use_id = c.id
  WHERE e.created_at IS NULL OR e.created_at >= ?1
    OR (e.payload_json LIKE '%background%' AND EXISTS (
      SELECT 1 FROM transcript_entries later WHERE later.session_id = c.session_id AND later.created_at >= ?1))
  LIMIT 1`

/** What adopts orphans. */
const isInit = ({ pid, name }: Process): boolean => pid === 1 || name === 'systemd'

/** Whether the process is an ona that has this record open, or its own one in this home. */
function governs(pid: number, on: Partial<Place>): boolean {
  if (!argumentsOf(pid).some((word) => word.startsWith(`${packageRoot}/`))) return false
  if (on.db !== undefined && hasOpen(pid, real(on.db))) return true
  if (on.home === undefined) return false
  const env = environmentOf(pid)
  if (!env) return true // it cannot be looked at: an ona above us is reason enough
  return real(env['HOME'] ?? '') === real(on.home) && hasOpen(pid, real(dbPath(env)))
}
