/**
 * Operator acts (approving a plan, signing off, trusting a folder, changing rules, logging in) belong to whoever governs
 * the agent. They are refused in a process that a tool or a hook of the agent started.
 */
import { statSync } from 'node:fs'
import type { Socket } from 'node:net'
import { procFault } from '../files/proc-mounts.ts'
import {
  argumentsOf,
  bootedAt,
  environmentOf,
  folderOf,
  hasOpen,
  isSameFile,
  lineage,
  type Process,
  peersOf,
  processOf,
  real,
  startedAt,
} from '../files/process-tree.ts'
import { isObject } from '../hooks/shape.ts'
import { readJson } from '../hooks/text/json-text.ts'
import { packageRoot } from '../package-root.ts'
import { type Db, dbPath, readDb, StoreError } from './open.ts'
import { isStartedHere } from './own-commands.ts'

/** Set for what an agent's tools and hooks start: whose record and home the agent works with, and where. */
export const governedVariable = 'ONA_GOVERNED'

export const governedMark = (place: Place): Record<string, string> => ({
  [governedVariable]: JSON.stringify({ db: place.db, home: place.home, folder: place.folder }),
})

interface Place {
  readonly db: string
  readonly home: string
  readonly folder?: string
}

/** `db` for an act on a record, `home` for one on the user's own files, `folder` for one on a project's. */
export interface Acted {
  readonly db?: Pick<Db, 'path' | 'all'>
  readonly home?: string
  readonly folder?: string
}

/** Why this act is refused here, or undefined. */
export function operatorProblem(act: string, on: Acted): string | undefined {
  const remedy = 'run it in a terminal of your own'
  const fault = procFault()
  if (fault)
    return `${act} is for the operator, and /proc does not show who started this command: ${fault}, or ${remedy}`
  const governor = governorOf(process.env, lineage(), on)
  if (governor === undefined) return undefined
  return `${act} is for the operator, and this command was started by an agent's ${governor}; ${remedy}`
}

/** The same of a request over a connection on this machine: the program that sent it may be an agent's, whatever it knows. */
export function senderProblem(
  act: string,
  on: Acted,
  socket: Pick<Socket, 'localPort' | 'remotePort'>,
): string | undefined {
  if (process.platform !== 'linux') return undefined
  const remedy = 'use ona approvals in a terminal of your own'
  const peers = peersOf(socket)
  const governors = peers.map((pid) => {
    const chain = lineage(pid)
    const own = chain.findIndex((each) => each.pid === process.pid) // a browser that this process started
    const env = environmentOf(pid)
    return env ? governorOf(env, own < 0 ? chain : chain.slice(0, own), on) : 'process that cannot be looked at'
  })
  if (peers.length === 0)
    return `${act} is for the operator, and /proc does not show which program sent this; ${remedy}`
  const governor = governors.find((each) => each !== undefined)
  return governor && `${act} is for the operator, and this was sent by an agent's ${governor}; ${remedy}`
}

/** What of an agent a process, the first of its chain, belongs to. */
function governorOf(env: NodeJS.ProcessEnv, chain: readonly Process[], on: Acted): string | undefined {
  const { db, ...places } = on
  const place = { ...places, ...(db && { db: db.path }) }
  return markOf(env, place) ?? governorAbove(chain, place) ?? scheduled(chain) ?? bornOfCommand(chain, on)
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

/** By the file, not by its name: a hard link or a mount is another name of the same. */
const isSame = (place: Partial<Place>, on: Partial<Place>): boolean =>
  (on.db !== undefined && place.db !== undefined && isSameFile(on.db, place.db)) ||
  (on.home !== undefined && place.home !== undefined && isSameFile(on.home, place.home)) ||
  (on.folder !== undefined && place.folder !== undefined && isWithin(place.folder, on.folder))

/** What is said in a folder counts in those below it. */
const isWithin = (folder: string, above: string): boolean =>
  `${real(folder)}/`.startsWith(`${real(above).replace(/\/$/, '')}/`)

/** An ona above us that works with the same record or home. */
function governorAbove(chain: readonly Process[], on: Partial<Place>): string | undefined {
  const found = chain.slice(1).find(({ pid }) => governs(pid, on))
  return found && `tool or hook (below process ${found.pid})`
}

/**
 * A process that detached itself has no such ancestor left: the system has adopted it, or it is the first of a process
 * namespace of its own. The record tells when commands of the agent ran, and a process that was born meanwhile may be one of
 * theirs.
 */
export function bornOfCommand(chain: readonly Process[], { db, home }: Acted, booted = bootedAt()): string | undefined {
  const heads = headsOf(chain)
  if (heads.length === 0) return undefined
  const isOwn = chain[0]?.pid === process.pid
  if (db) return commandAround(db, heads, { isOwn, booted })
  const file = home && dbPath({ HOME: home })
  if (!file || !statSync(file, { throwIfNoEntry: false })?.size) return undefined
  const own = readDb(file)
  try {
    return commandAround(own, heads, { isOwn, booted })
  } finally {
    own.close()
  }
}

/**
 * The first process and the one below it. The first is not in the chain where /proc hides what belongs to others, nor where the
 * chain was started from outside of its process namespace: then it is as old as that namespace.
 */
function headsOf(chain: readonly Process[]): Process[] {
  const init = chain.findIndex(isInit)
  if (init >= 0) return chain.slice(Math.max(init - 1, 0), init + 1)
  const last = chain.at(-1)
  if (!last || last.parent === process.pid) return [] // what this process started was cut off from it
  return [(last.parent === 0 && processOf(1)) || last]
}

/** A job of at or cron has no window of its own, and a tool can leave one behind. */
function scheduled(chain: readonly Process[]): string | undefined {
  const daemon = chain.find(({ name }) => schedulers.test(name))
  return daemon && `job, or by another that ${daemon.name} ran`
}

const schedulers = /^(atd|cron|crond|anacron|fcron|CRON)$/

function commandAround(
  db: Pick<Db, 'path' | 'all'>,
  processes: readonly Process[],
  { isOwn, booted }: { readonly isOwn: boolean; readonly booted: number },
): string | undefined {
  for (const each of processes) {
    const born = startedAt(each)
    if (born === undefined) return `command, or by another: process ${each.pid} cannot be dated`
    const bornAt = timestamp(born)
    const known = [
      ...db.all<Command>(commandAt, bornAt, timestamp(booted)),
      ...db.all<Command>(commandOf, bornAt, `${each.pid}:${each.ticks}`),
    ]
    const command = known.find(({ event }) => !(isOwn && isStartedHere(db.path, event)))
    if (command) return `detached command (process ${each.pid}, started while the agent's command ${command.id} ran)`
  }
  return undefined
}

const timestamp = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')

interface Command {
  readonly id: string
  readonly event: number
}

/**
 * A second on either side: rows have whole seconds, and the machine's start, which births are counted from, is rounded too.
 * A Bash call that had started by then, and had no result yet; one in the background runs as long as its session does. One
 * that never got a result ended with its ona, long before two hours had passed, and with the machine at the latest.
 */
const commandAt = `WITH calls AS (
    SELECT id AS event, session_id, timestamp AS started, json_extract(detail, '$.tool_use_id') AS id FROM events
    WHERE event_type = 'tool_start' AND instr(detail, '"tool_name":"Bash"') > 0
      AND timestamp <= datetime(?1, '+1 second') AND timestamp >= datetime(?2, '-1 second')
      AND json_valid(detail) AND json_extract(detail, '$.tool_name') = 'Bash'
    ORDER BY timestamp DESC, events.id DESC LIMIT 200)
  SELECT c.id, c.event FROM calls c LEFT JOIN transcript_entries e
    ON e.session_id = c.session_id AND +e.entry_type = 'tool_result' AND e.tool_use_id = c.id
  WHERE (e.created_at IS NULL AND c.started >= datetime(?1, '-2 hours')) OR e.created_at >= datetime(?1, '-1 second')
    OR (e.payload_json LIKE '%background%' AND (SELECT later.created_at FROM transcript_entries later
      WHERE later.session_id = c.session_id ORDER BY later.sequence DESC LIMIT 1) >= ?1)`

/** A shell that waited for its command is older than that, but for no longer than tools/bash/waiting-shell.ts lets it wait. */
const commandOf = `SELECT id AS event, json_extract(detail, '$.tool_use_id') AS id FROM events
  WHERE event_type = 'tool_start' AND instr(detail, '"tool_name":"Bash"') > 0
    AND timestamp BETWEEN datetime(?1, '-1 second') AND datetime(?1, '+11 minutes')
    AND json_valid(detail) AND json_extract(detail, '$.shell_process') = ?2`

/** What adopts orphans. */
const isInit = ({ pid, name }: Process): boolean => pid === 1 || name === 'systemd'

/** Whether the process has this record open, or its own one in this home or folder: an ona, whatever copy of it, or a host of the SDK. */
function governs(pid: number, on: Partial<Place>): boolean {
  if (on.db !== undefined && hasOpen(pid, on.db)) return true
  if (on.home === undefined && on.folder === undefined) return false
  const env = environmentOf(pid)
  // it cannot be looked at: an ona above us is reason enough
  if (!env) return argumentsOf(pid).some((word) => word.startsWith(`${packageRoot}/`))
  const place = { home: env['HOME'] || '/', folder: folderOf(pid) ?? '/' }
  return isSame(place, on) && hasOpen(pid, recordOf(env))
}

function recordOf(env: NodeJS.ProcessEnv): string {
  try {
    return dbPath(env)
  } catch {
    return dbPath({ HOME: env['HOME'] }) // what it says is no path, so it has no such record open
  }
}
