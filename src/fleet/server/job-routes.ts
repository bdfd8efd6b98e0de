/** The addresses of jobs: users submit and decide, workers take and end. */
import { isObject } from '../../hooks/shape.ts'
import type { Queue } from '../jobs/queue.ts'
import { cancel, decide, type NewJob, retry, submit } from './job-requests.ts'
import { beat, type Ending, end, take, wait } from './jobs.ts'
import { field, jsonOf, Refused, uuidPattern } from './request.ts'
import { type Context, forNode, forUser, ok, type Route } from './route.ts'
import { clean } from './row-facts.ts'
import { acting } from './user-access.ts'

const queueIn = ({ queue }: Context): Queue => {
  if (!queue) throw new Refused(503, 'this service has no queue')
  return queue
}

function idOf(part: string | undefined): string {
  if (!part || !uuidPattern.test(part)) throw new Refused(400, 'a job is named by its UUID')
  return part
}

/** What git takes for an address, and for a place to run a program, is not left to git. */
export function repoProblem(repo: string): string | undefined {
  if (
    /^(https|ssh|file):\/\/[^\s]+$/.test(repo) ||
    /^[\w.-]+@[\w.-]+:[^\s:][^\s]*$/.test(repo) ||
    /^\/[^\s]+$/.test(repo)
  )
    return undefined
  return '"repo" must be an https, ssh or file address, user@host:path, or an absolute path'
}

function newJob(body: Record<string, unknown>): NewJob {
  const repo = field.text(body, 'repo', 1000)
  const ref = field.text(body, 'ref', 200)
  const why = repoProblem(repo)
  if (why) throw new Refused(400, why)
  if (!/^[\w][\w./-]*$/.test(ref)) throw new Refused(400, '"ref" must be a branch, tag or commit')
  const limit = (name: string, fallback: number, most: number) => {
    const value = field.number(body, name) ?? fallback
    if (!(value > 0 && value <= most)) throw new Refused(400, `"${name}" must be more than 0 and at most ${most}`)
    return value
  }
  const turns = field.number(body, 'maxTurns')
  const cost = field.number(body, 'maxCostUsd')
  const policy = field.optional(body, 'policy', 100) ?? null
  if (policy !== null && !/^[\w-]+$/.test(policy)) throw new Refused(400, '"policy" must be a name')
  return {
    ...{ prompt: clean(field.text(body, 'prompt', 50_000)), repo, ref, policy },
    onCrash: body['onCrash'] === 'resume' ? 'resume' : 'restart',
    model: field.optional(body, 'model', 100) ?? null,
    push: body['push'] === true,
    maxMinutes: limit('maxMinutes', 30, 24 * 60),
    maxTurns: turns === undefined ? null : Math.ceil(turns),
    maxCostUsd: cost ?? null,
    attempts: Math.ceil(limit('attempts', 3, 20)),
  }
}

const outcomes = ['done', 'failed', 'cancelled'] as const

export const jobRoutes: readonly Route[] = [
  forUser('publisher', 'POST /v1/jobs', async (context, asked, user) => {
    const body = await jsonOf(asked)
    const count = body['count'] === undefined ? 1 : field.count(body, 'count', 1, 1000)
    const ids = await submit(
      context.fleet,
      queueIn(context),
      user,
      newJob(body),
      count,
      field.optional(body, 'key', 200) ?? null,
    )
    return ok({ jobs: ids })
  }),
  forUser('reader', 'GET /v1/jobs', async ({ fleet }, { url }, user) => {
    const rows = await acting(fleet, user, 'list jobs', '', (sql) =>
      sql.query(
        `SELECT j.id, j.status, o.outcome, o.reason, j.attempt, j.repo, j.ref, j.prompt, n.name AS node, o.branch, o.cost_usd AS "costUsd",
           j.submitted_by AS "submittedBy", j.submitted_at AS "submittedAt"
         FROM ona_fleet.jobs j LEFT JOIN ona_fleet.outcomes o ON o.job_id = j.id LEFT JOIN ona_fleet.nodes n ON n.id = j.node_id
         WHERE $1 = '' OR j.status = $1 ORDER BY j.submitted_at DESC LIMIT 1000`,
        [url.searchParams.get('status') ?? ''],
      ),
    )
    return ok(rows.rows)
  }),
  forUser('reader', 'GET /v1/jobs/:id', async ({ fleet }, _, user, [id]) => {
    const found = await acting(fleet, user, 'read job', idOf(id), async (sql) => ({
      job: (
        await sql.query(
          'SELECT j.*, o.outcome, o.reason, o.branch, o.commit_id, o.result, o.turns, o.cost_usd FROM ona_fleet.jobs j LEFT JOIN ona_fleet.outcomes o ON o.job_id = j.id WHERE j.id = $1',
          [id],
        )
      ).rows[0],
      events: (
        await sql.query(
          'SELECT e.at, e.attempt, n.name AS node, e.what, e.detail FROM ona_fleet.job_events e LEFT JOIN ona_fleet.nodes n ON n.id = e.node_id WHERE job_id = $1 ORDER BY e.id',
          [id],
        )
      ).rows,
    }))
    if (!found.job) throw new Refused(404, `there is no job ${id}`)
    return ok(found)
  }),
  forUser('publisher', 'POST /v1/jobs/:id/cancel', async (context, _, user, [id]) =>
    ok({ state: await cancel(context.fleet, queueIn(context), user, idOf(id)) }),
  ),
  forUser('publisher', 'POST /v1/jobs/:id/retry', async (context, _, user, [id]) => {
    await retry(context.fleet, queueIn(context), user, idOf(id))
    return ok({ state: 'queued' })
  }),
  forUser('reader', 'GET /v1/approvals', async ({ fleet }, _, user) => {
    const { rows } = await acting(fleet, user, 'list approvals', '', (sql) =>
      sql.query(
        `SELECT a.job_id AS job, a.id, n.name AS node, a.tool_name AS tool, a.input, a.reason, a.asked_at AS "askedAt", a.expires_at AS "expiresAt"
         FROM ona_fleet.approvals a JOIN ona_fleet.nodes n ON n.id = a.node_id WHERE a.decision IS NULL AND a.expires_at > now() ORDER BY a.asked_at`,
      ),
    )
    return ok(rows)
  }),
  forUser('publisher', 'POST /v1/approvals/:job/:id', async (context, asked, user, [job, id = '']) => {
    const body = await jsonOf(asked)
    if (typeof body['allow'] !== 'boolean') throw new Refused(400, '"allow" must be true or false')
    await decide(
      context.fleet,
      queueIn(context),
      user,
      idOf(job),
      id,
      body['allow'],
      field.optional(body, 'note', 2000) ?? null,
    )
    return ok({})
  }),
  forNode('POST /v1/work/take', async (context, asked, node) => {
    const body = await jsonOf(asked)
    const running = field.texts(body, 'running', 1000).filter((id) => uuidPattern.test(id))
    return ok({ jobs: await take(context.fleet, queueIn(context), node, field.count(body, 'slots', 0, 100), running) })
  }),
  forNode('POST /v1/work/:id/beat', async (context, asked, node, [id]) =>
    ok(await beat(context.fleet, queueIn(context), node, idOf(id), field.count(await jsonOf(asked), 'attempt'))),
  ),
  forNode(
    'POST /v1/work/:id/end',
    async (context, asked, node, [id]) => {
      const body = await jsonOf(asked)
      const outcome = outcomes.find((each) => each === body['outcome'])
      if (!outcome) throw new Refused(400, `"outcome" must be one of ${outcomes.join(', ')}`)
      const maybe = (name: string, most: number) => field.optional(body, name, most)
      const how: Ending & { again: boolean } = {
        ...{ outcome, again: body['again'] === true, reason: clean(field.text(body, 'reason', 5000)) },
        ...{ branch: maybe('branch', 200), commit: maybe('commit', 64), result: clean(maybe('result', 20_000) ?? '') },
        ...{ turns: field.number(body, 'turns'), costUsd: field.number(body, 'costUsd') },
      }
      await end(context.fleet, queueIn(context), node, idOf(id), field.count(body, 'attempt'), how)
      return ok({})
    },
    { bodyBytes: 256 * 1024 },
  ),
  forNode(
    'POST /v1/work/:id/wait',
    async (context, asked, node, [id]) => {
      const body = await jsonOf(asked)
      const list = Array.isArray(body['approvals']) ? body['approvals'].filter(isObject).slice(0, 100) : []
      if (list.length === 0) throw new Refused(400, '"approvals" must name what waits')
      const questions = list.map((each) => ({
        ...{
          id: field.text(each, 'id', 100),
          session: field.text(each, 'session', 200),
          tool: field.text(each, 'tool', 200),
        },
        ...{ input: clean(field.text(each, 'input', 100_000)), reason: clean(field.text(each, 'reason', 5000)) },
        expiresAt: new Date(field.count(each, 'expiresAt', 0, 4_102_444_800_000)).toISOString(),
      }))
      await wait(context.fleet, queueIn(context), node, idOf(id), field.count(body, 'attempt'), questions)
      return ok({})
    },
    { bodyBytes: 1024 * 1024 },
  ),
]
