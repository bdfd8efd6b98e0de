/** What the fleet's pages of `ona inspect` show, read from PostgreSQL with a reader's rights as they are asked for. */
import pg from 'pg'
import type {
  FleetDenial,
  FleetFault,
  FleetFilter,
  FleetJob,
  FleetNode,
  FleetPages,
  FleetView,
  JobEvent,
  JobLog,
  TeamCost,
} from '../audit/inspect/data/fleet-shapes.ts'
import { redact } from '../hooks/secrets/redact.ts'
import { sqlTime } from './copy-rows.ts'

export interface FleetReader extends FleetPages {
  close(): Promise<void>
}

const mostRows = 200

export function openFleetViews(url: string): FleetReader {
  const pool = new pg.Pool({
    ...{ connectionString: url, max: 4, connectionTimeoutMillis: 10_000, statement_timeout: 30_000 },
    application_name: 'ona inspect',
    onConnect: (client) => client.query('SET ROLE ona_reader; SET default_transaction_read_only = on').then(() => {}),
  })
  pool.on('error', () => {}) // a connection that the server closed: the next question opens another
  const all = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    (await pool.query<Row>(text, values)).rows
  return {
    view: (filter) => viewOf(all, filter),
    job: (id) => jobOf(all, id),
    close: () => pool.end(),
  }
}

type All = <Row extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>

/** `$1` and `$2` are the node and the team, or null. */
const fits = (table: string) => `($1::text IS NULL OR ${table}.name = $1) AND ($2::text IS NULL OR ${table}.team = $2)`

async function viewOf(all: All, { node, team, state, from }: FleetFilter): Promise<FleetView> {
  const who = [node ?? null, team ?? null]
  const since = new Date((from ?? 0) * 1000)
  const [nodes, counted, jobs, jobCounts, costs, denials, faults, names, teams] = await Promise.all([
    all<FleetNode>(nodesSql, who),
    all<{ count: number }>(
      `SELECT count(*)::int AS count FROM ona_fleet.nodes n WHERE revoked_at IS NULL AND ${fits('n')}`,
      who,
    ),
    all<FleetJob>(
      `${jobsSql} WHERE ${fits('n')} AND ($3::text IS NULL OR coalesce(o.outcome, j.status) = $3) ${newestJobs}`,
      [...[...who, state ?? null]],
    ),
    all<{ state: string; count: number }>(
      `SELECT coalesce(o.outcome, j.status) AS state, count(*)::int AS count ${jobTables} WHERE ${fits('n')} GROUP BY 1 ORDER BY 2 DESC, 1`,
      who,
    ),
    all<TeamCost>(costsSql, [...who, since]),
    all<FleetDenial>(denialsSql, [...who, since]),
    all<FleetFault>(faultsSql, who),
    all<{ name: string }>('SELECT DISTINCT name FROM ona_fleet.nodes WHERE revoked_at IS NULL ORDER BY 1 LIMIT 2000'),
    all<{ name: string }>("SELECT DISTINCT team AS name FROM ona_fleet.nodes WHERE team <> '' ORDER BY 1 LIMIT 500"),
  ])
  return {
    ...{ nodes, jobs: jobs.map(safe), jobCounts, costs, faults, nodeCount: counted[0]?.count ?? 0 },
    denials: denials.map((denial) => ({ ...denial, target: denial.target && redact(denial.target) })),
    choices: { nodes: names.map(({ name }) => name), teams: teams.map(({ name }) => name) },
  }
}

const safe = <Job extends FleetJob>(job: Job): Job => ({
  ...job,
  prompt: redact(job.prompt),
  reason: job.reason && redact(job.reason),
})

async function jobOf(all: All, id: string): Promise<JobLog | undefined> {
  const [job] = await all<JobLog['job']>(`${jobsSql.replace(' FROM ', ', o.branch, o.result FROM ')} WHERE j.id = $1`, [
    id,
  ])
  if (!job) return undefined
  const events = await all<JobEvent>(
    `SELECT ${sqlTime('e.at')} AS at, e.attempt, n.name AS node, e.what, e.detail FROM ona_fleet.job_events e
     LEFT JOIN ona_fleet.nodes n ON n.id = e.node_id WHERE e.job_id = $1 ORDER BY e.id LIMIT 1000`,
    [id],
  )
  return {
    job: { ...safe(job), result: job.result && redact(job.result) },
    events: events.map((event) => ({ ...event, detail: redact(event.detail) })),
  }
}

const nodesSql = `SELECT p.node, p.person, p.team, p.ring, p.version::int AS version, p.wanted_version::int AS "wantedVersion", p.digest,
    p.state, coalesce(p.detail, '') AS detail, coalesce(p.drift, '{}') AS drift, p.hooks::float AS hooks, coalesce(p.proof, '') AS proof, p.ok,
    ${sqlTime('p.last_seen')} AS "lastSeen",
    (SELECT coalesce(sum(s.rows), 0)::float FROM ona_fleet.streams s WHERE s.node_id = p.node_id) AS rows,
    (SELECT count(*)::int FROM ona_fleet.faults f WHERE f.node_id = p.node_id AND f.acknowledged_at IS NULL) AS faults
  FROM (SELECT * FROM ona_fleet.policy_status p WHERE ($1::text IS NULL OR p.node = $1) AND ($2::text IS NULL OR p.team = $2)
    ORDER BY p.ok, p.last_seen DESC NULLS LAST, p.node LIMIT ${mostRows}) p`

const jobTables = `FROM ona_fleet.jobs j LEFT JOIN ona_fleet.outcomes o ON o.job_id = j.id LEFT JOIN ona_fleet.nodes n ON n.id = j.node_id`
const jobsSql = `SELECT j.id, coalesce(o.outcome, j.status) AS state, n.name AS node, n.team, j.attempt, j.repo, j.ref, left(j.prompt, 500) AS prompt,
    left(o.reason, 1000) AS reason, j.submitted_by AS "submittedBy", ${sqlTime('j.submitted_at')} AS "submittedAt" ${jobTables}`
const newestJobs = `ORDER BY j.status = 'ended', j.submitted_at DESC LIMIT ${mostRows}`

/** By what each conversation has added up to: the rows themselves are too many to add up for a page. */
const costsSql = `SELECT n.team, count(*)::int AS conversations, sum(c.calls)::float AS calls, sum(c.refused)::float AS denied,
    sum(c.tokens)::float AS tokens, sum(c.cost_usd) AS cost
  FROM ona_fleet.conversations c JOIN ona_fleet.nodes n ON n.id = c.node_id
  WHERE ${fits('n')} AND c.last_active >= $3 GROUP BY 1 ORDER BY sum(c.cost_usd) DESC NULLS LAST, 1 LIMIT ${mostRows}`

const denialsSql = `SELECT ${sqlTime('d.at')} AS at, d.node, d.person, d.team, d.tool, d.by, d.conversation,
    (SELECT c.target FROM ona_fleet.calls c WHERE c.session_id = d.session_id AND c.tool_use_id = d.tool_use_id AND c.node_id = d.node_id LIMIT 1) AS target
  FROM (SELECT r.at, n.name AS node, n.person, n.team, r.tool_name AS tool, r.decided_by AS by, r.conversation_id AS conversation, r.session_id,
      r.tool_use_id, r.node_id
    FROM ona_fleet.rows r JOIN ona_fleet.nodes n ON n.id = r.node_id
    WHERE r.decision = 'deny' AND r.at IS NOT NULL AND r.at >= $3 AND ${fits('n')} ORDER BY r.at DESC LIMIT 50) d ORDER BY d.at DESC`

const faultsSql = `SELECT ${sqlTime('f.found_at')} AS at, n.name AS node, f.kind, f.link::float AS link, f.detail
  FROM ona_fleet.faults f JOIN ona_fleet.nodes n ON n.id = f.node_id WHERE f.acknowledged_at IS NULL AND ${fits('n')} ORDER BY f.id DESC LIMIT 100`
