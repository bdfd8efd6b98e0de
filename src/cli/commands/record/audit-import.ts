/** `ona audit import`: other agents' histories and the dispatcher's logs into the database. */

import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { type Counts, noCounts } from '../../../audit/import/counts.ts'
import { openDryRun } from '../../../audit/import/dry-run.ts'
import { type Found, findHistories } from '../../../audit/import/find-histories.ts'
import { importFile } from '../../../audit/import/import-history.ts'
import type { ImportTarget } from '../../../audit/import/write-records.ts'
import { counted } from '../../../hooks/text/counted.ts'
import { historyReaders } from '../../../hosts/history/readers.ts'
import type { HistoryReader } from '../../../hosts/history/record.ts'
import { dbPath, openDb, StoreError } from '../../../store/open.ts'
import { requireOperator } from '../../../store/operator.ts'
import { command } from '../../command.ts'
import { failed, noted, said, saidJson, table, warned, wrong } from '../../print.ts'
import { openProgress } from '../../progress.ts'
import { endingSignals } from '../../signals.ts'
import { sinceMs, sinceProblem } from '../../since.ts'

const agents = historyReaders.map(({ agent }) => agent)
const name = 'ona audit import'

const help = `ona audit import brings the sessions of other agents into the database, where ona inspect, ona hooks replay,
ona hooks log and SQL read them beside ona's own. It reads only; importing again adds only what is new.

  ona audit import                     every agent on this machine, sessions of the last 30 days
  ona audit import claude              one agent: ${agents.join(', ')}
  ona audit import codex PATH          the sessions in this folder or file
  ona audit import DIR                 a dispatcher's logs (<repository>/.ai/tmp)

  --since 90d|DATE   sessions that were active since then (default 30d)
  --all              sessions of any age
  --watch            keep following live sessions until Ctrl-C
  --dry-run          count what would be added, and store nothing
  --project DIR      of a dispatcher's logs: the repository they belong to (default: two folders above DIR)
  --json             print the counts as JSON

Example:
  ona audit import --since 90d && ona hooks replay --rule 'deny:Bash(git push *)'
`

const flags = {
  since: 'value',
  all: 'flag',
  watch: 'flag',
  'dry-run': 'flag',
  project: 'value',
  json: 'flag',
} as const

export const run = command(name, { help, flags, words: 2 }, async (given, [first, second]) => {
  const reader = historyReaders.find(({ agent }) => agent === first)
  if (first !== undefined && !reader) {
    if (second !== undefined) return wrong(name, `unknown agent "${first}"; there are ${agents.join(', ')}`)
    return await importLogs(first, given.project, given.json === true)
  }
  if (given.all && given.since !== undefined) return wrong(name, '--all and --since exclude each other')
  if (given.watch && given['dry-run']) return wrong(name, '--watch and --dry-run exclude each other')
  const since = given.all ? 0 : sinceMs(given.since ?? '30d')
  if (since === undefined) return wrong(name, sinceProblem(given.since!))
  const path = second === undefined ? undefined : resolve(second)
  if (path !== undefined && !statSync(path, { throwIfNoEntry: false }))
    return failed(`${path} does not exist; name a folder or file with ${reader!.title} sessions`)
  const wanted = reader ? [reader] : historyReaders
  const search = {
    ...(path !== undefined && { path }),
    sinceMs: since,
    env: process.env,
    home: process.env['HOME'] || homedir(),
  }
  const look = () => findHistories(wanted, search)
  const found = look()
  if (!given.json) said(foundTable(found, since, wanted.length === 1 ? wanted[0]!.title : undefined))
  if (found.length === 0 && !given.watch) return given.json ? saidJson({ agents: [], not_read: [], problems: [] }) : 0
  const opened = given['dry-run'] ? openDryRun(dbPath(), found) : { db: openDb(dbPath()) }
  const target: ImportTarget = { ...opened, sinceMs: since }
  const { db } = target
  try {
    requireOperator('importing into the record', { db })
    const done = await importAll(target, found)
    if (given.json) saidJson({ agents: done.agents, not_read: done.notRead, problems: done.problems })
    else said(summary(done, given['dry-run'] ? undefined : db.path))
    for (const problem of [...done.notRead, ...done.problems]) warned(problem)
    if (given.watch) await watch(target, look)
    return done.problems.length === 0 ? 0 : 1
  } finally {
    if (target.dryRun?.recorded !== db) target.dryRun?.recorded.close()
    db.close()
  }
})

interface Done {
  readonly agents: readonly ({ readonly agent: string; readonly files: number; readonly bytes: number } & Counts)[]
  /** Links, pipes and devices. */
  readonly notRead: readonly string[]
  readonly problems: readonly string[]
}

async function importAll(target: ImportTarget, found: readonly Found[]): Promise<Done> {
  const agents: Done['agents'][number][] = []
  const problems: string[] = []
  const notRead: string[] = []
  const total = found.reduce((sum, { files }) => sum + sizeOf(files), 0)
  const progress = openProgress()
  let read = 0
  for (const { reader, files, skipped } of found) {
    const counts = noCounts()
    for (const { path, why, isFailure } of skipped) (isFailure ? problems : notRead).push(`${path} is not read: ${why}`)
    for (const file of files) {
      const problem = await importFile(target, reader, file, counts)
      if (problem !== undefined) problems.push(problem)
      read += file.bytes
      progress.show(`${megabytes(read)} of ${megabytes(total)}`, read / total)
    }
    agents.push({ agent: reader.agent, files: files.length, bytes: sizeOf(files), ...counts })
  }
  progress.end()
  return { agents, notRead, problems }
}

const sizeOf = (files: Found['files']): number => files.reduce((sum, { bytes }) => sum + bytes, 0)

/** Follows what the agents write: a look a second costs less than a watcher on every folder, and misses nothing. */
async function watch(target: ImportTarget, look: () => Found[]): Promise<void> {
  noted('following live sessions; Ctrl-C ends it')
  const stop = new AbortController()
  for (const signal of endingSignals) process.once(signal, () => stop.abort())
  const { setTimeout: sleep } = await import('node:timers/promises')
  const seen = new Map<string, number>()
  const told = new Set<string>()
  while (!stop.signal.aborted) {
    await sleep(1000, undefined, { signal: stop.signal }).catch(() => {})
    for (const { reader, files } of look())
      for (const file of files) {
        if (seen.get(file.path) === file.modifiedMs) continue
        const counts = noCounts()
        const problem = await importFile(target, reader, file, counts).catch(whileLocked)
        if (problem === undefined) seen.set(file.path, file.modifiedMs)
        else if (!told.has(problem)) warned(problem) // once, and tried again
        if (problem !== undefined) told.add(problem)
        const added = nonZero(counts)
        if (added !== '') said(`${reader.agent}: ${added}`)
      }
  }
}

/** Another process holds the database for long: what was not stored is stored the next time. */
function whileLocked(cause: unknown): string {
  if (cause instanceof StoreError && cause.kind === 'locked') return cause.message
  throw cause
}

function foundTable(found: readonly Found[], since: number, title: string | undefined): string {
  const withFiles = found.filter(({ files }) => files.length > 0)
  if (withFiles.length === 0) {
    const older = since > 0 ? ' from that time; --all takes sessions of any age' : ''
    return `no ${title ?? "agent's"} sessions found here${older}`
  }
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  const rows = withFiles.map(({ reader, roots, files }) => {
    const times = files.map(({ modifiedMs }) => modifiedMs)
    const days = `${day(least(times))} to ${day(-least(times.map((ms) => -ms)))}`
    const where = roots.filter((root) => files.some(({ path }) => path.startsWith(root)))
    return [reader.title, sessionsOf(reader, files, since), days, megabytes(sizeOf(files)), where.join(', ')]
  })
  return table(['agent', 'sessions', 'last active', 'size', 'where'], rows)
}

const least = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)

/** Sub-agents' count as well. */
function sessionsOf(reader: HistoryReader, files: Found['files'], since: number): string {
  const { count, orMore } = reader.sessionsIn?.(files, since) ?? { count: new Set(files.map(({ key }) => key)).size }
  return orMore ? `${count} or more` : String(count)
}

function summary({ agents: done }: Done, path: string | undefined): string {
  const lines = done.map(({ agent, ...counts }) => `${agent}: ${about(counts)}`)
  return [...lines, path === undefined ? 'nothing was stored (--dry-run)' : `stored in ${path}`].join('\n')
}

function about(counts: Counts): string {
  const { sessions, prompts, calls, denied, hooks } = counts
  const always = [counted(sessions, 'new session'), counted(prompts, 'prompt')]
  const more = [`${counted(calls, 'call')} (${denied} denied)`, counted(hooks, 'hook')]
  return [...always, ...more, ...exceptions(counts)].join(', ') + unknownRecords(counts)
}

/** Of a live session: what was just added. */
function nonZero(counts: Counts): string {
  const { sessions, prompts, replies, calls, denied, hooks } = counts
  const parts = [
    ...(sessions > 0 ? [counted(sessions, 'new session')] : []),
    ...(prompts > 0 ? [counted(prompts, 'prompt')] : []),
    ...(replies > 0 ? [counted(replies, 'reply', 'replies')] : []),
    ...(calls > 0 ? [counted(calls, 'call') + (denied > 0 ? ` (${denied} denied)` : '')] : []),
    ...(hooks > 0 ? [counted(hooks, 'hook')] : []),
  ]
  return [...parts, ...exceptions(counts)].join(', ') + unknownRecords(counts)
}

const exceptions = ({ errors, copied, unreadable }: Counts): string[] => [
  ...(errors > 0 ? [counted(errors, 'error')] : []),
  ...(copied > 0 ? [`${counted(copied, 'copied record')} stored once`] : []),
  ...(unreadable > 0 ? [counted(unreadable, 'unreadable line')] : []),
]

function unknownRecords({ unknown }: Counts): string {
  const types = Object.entries(unknown).map(([type, count]) => `${type} × ${count}`)
  return types.length > 0 ? `; unknown records, not imported: ${types.join(', ')}` : ''
}

const megabytes = (bytes: number): string =>
  bytes < 1e6
    ? `${Math.ceil(bytes / 1000)} KB`
    : `${(bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 })} MB`

async function importLogs(given: string, project: string | undefined, json: boolean): Promise<number> {
  const folder = resolve(given)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    return failed(
      `"${given}" is neither an agent (${agents.join(', ')}) nor a folder of dispatcher logs, such as .ai/tmp`,
    )
  const { importDispatcher } = await import('../../../audit/import/dispatcher.ts')
  const db = openDb(dbPath())
  try {
    requireOperator('importing into the record', { db })
    const { problems, ...counts } = importDispatcher(db, folder, project === undefined ? undefined : resolve(project))
    if (json) saidJson({ ...counts, problems })
    else {
      const { decisions, events, sessions, torn } = counts
      said(
        `${counted(decisions, 'decision')} and ${counted(events, 'event')} of ${counted(sessions, 'session')} imported into ${db.path}`,
      )
      if (torn > 0) said(`left out, because a crash cut them off: ${counted(torn, 'line')}`)
    }
    for (const problem of problems) warned(problem)
    return problems.length === 0 ? 0 : 1
  } finally {
    db.close()
  }
}
