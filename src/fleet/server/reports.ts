/** What a reader sees of the fleet as a whole, and what an admin does about it. */
import type { Sql } from './database.ts'
import { field, jsonOf, Refused, uuidPattern } from './request.ts'
import { forUser, ok, type Route } from './route.ts'
import { acting } from './user-access.ts'

export interface FleetReport {
  readonly nodes: Record<string, unknown>[]
  readonly gaps: Record<string, unknown>[]
  /** How many are in each state. */
  readonly jobs: Record<string, unknown>[]
  /** Those that are open, then the newest. */
  readonly recentJobs: Record<string, unknown>[]
  readonly totals: Record<string, unknown>
}

export async function fleetReport(sql: Pick<Sql, 'query'>): Promise<FleetReport> {
  const all = async (text: string) => (await sql.query<Record<string, unknown>>(text)).rows
  const nodes = await all(
    `SELECT p.node_id AS id, p.node, p.person, p.team, p.ring, p.last_seen, p.version, p.wanted_version, p.state, p.drift, p.hooks, p.proof, p.ok,
       (SELECT coalesce(sum(s.rows), 0)::bigint FROM ona_fleet.streams s WHERE s.node_id = p.node_id) AS rows,
       (SELECT count(*) FROM ona_fleet.faults f WHERE f.node_id = p.node_id AND f.acknowledged_at IS NULL) AS faults
     FROM ona_fleet.policy_status p ORDER BY p.node LIMIT 20000`,
  )
  const gaps = await all('SELECT * FROM ona_fleet.gaps WHERE acknowledged_at IS NULL ORDER BY id DESC LIMIT 500')
  const jobs = await all(
    `SELECT coalesce(o.outcome, j.status) AS state, count(*) AS count FROM ona_fleet.jobs j
     LEFT JOIN ona_fleet.outcomes o ON o.job_id = j.id GROUP BY 1 ORDER BY 1`,
  )
  const recentJobs = await all(
    `SELECT j.id, coalesce(o.outcome, j.status) AS state, n.name AS node, j.attempt, j.repo, left(j.prompt, 200) AS prompt, left(o.reason, 200) AS reason
     FROM ona_fleet.jobs j LEFT JOIN ona_fleet.outcomes o ON o.job_id = j.id LEFT JOIN ona_fleet.nodes n ON n.id = j.node_id
     ORDER BY j.status = 'ended', j.submitted_at DESC LIMIT 20`,
  )
  const [totals = {}] = await all(
    `SELECT count(*) AS conversations, coalesce(sum(calls), 0)::bigint AS calls, coalesce(sum(refused), 0)::bigint AS denied,
       coalesce(sum(tokens), 0)::bigint AS tokens, sum(cost_usd) AS "costUsd" FROM ona_fleet.conversations`,
  )
  return { nodes, gaps, jobs, recentJobs, totals }
}

const months = (body: Record<string, unknown>) => field.count(body, 'months', 1, 1200)

export const reportRoutes: readonly Route[] = [
  forUser('reader', 'GET /v1/status', async ({ fleet }, _, user) =>
    ok(await acting(fleet, user, 'read status', '', fleetReport)),
  ),
  forUser('admin', 'GET /v1/access', async ({ fleet }, _, user) =>
    ok(
      (
        await acting(fleet, user, 'read access log', '', (sql) =>
          sql.query(
            'SELECT at, actor, role, action, target, detail, address FROM ona_fleet.access_log ORDER BY id DESC LIMIT 1000',
          ),
        )
      ).rows,
    ),
  ),
  forUser('admin', 'POST /v1/nodes/:id/revoke', async ({ fleet }, _, user, [id = '']) => {
    if (!uuidPattern.test(id)) throw new Refused(400, 'a node is named by its UUID')
    const { rowCount } = await acting(fleet, user, 'revoke node', id, (sql) =>
      sql.query('UPDATE ona_fleet.nodes SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1', [id]),
    )
    if (!rowCount) throw new Refused(404, `there is no node ${id}`)
    return ok({})
  }),
  forUser('admin', 'POST /v1/faults/acknowledge', async ({ fleet }, asked, user) => {
    const body = await jsonOf(asked)
    const node = field.uuid(body, 'node')
    const { rowCount } = await acting(fleet, user, 'acknowledge faults', node, (sql) =>
      sql.query(
        'UPDATE ona_fleet.faults SET acknowledged_by = $2, acknowledged_at = now() WHERE node_id = $1 AND acknowledged_at IS NULL',
        [node, user.actor],
      ),
    )
    return ok({ faults: rowCount })
  }),
  forUser('admin', 'POST /v1/retain', async ({ fleet }, asked, user) => {
    const keep = months(await jsonOf(asked))
    const { rows } = await acting(fleet, user, 'retain', `${keep} months`, (sql) =>
      sql.query<{ dropped: number }>('SELECT ona_fleet.retain($1, $2) AS dropped', [keep, user.actor]),
    )
    return ok({ dropped: rows[0]!.dropped })
  }),
  forUser('admin', 'POST /v1/erase', async ({ fleet }, asked, user) => {
    const body = await jsonOf(asked)
    const person = field.text(body, 'person', 200)
    if (person === '') throw new Refused(400, '"person" must not be empty')
    const { rows } = await acting(fleet, user, 'erase', person, (sql) =>
      sql.query<{ erased: number }>('SELECT ona_fleet.erase_person($1, $2, $3) AS erased', [
        person,
        user.actor,
        field.text(body, 'reason', 1000),
      ]),
    )
    return ok({ rows: rows[0]!.erased })
  }),
]
