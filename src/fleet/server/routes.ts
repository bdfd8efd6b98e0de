/** Every address of the service. */
import { limits } from '../wire.ts'
import { cursorOf, ingest } from './ingest.ts'
import { jobRoutes } from './job-routes.ts'
import { addEnrolToken, enrol } from './node-access.ts'
import { oidcRoutes } from './oidc-routes.ts'
import { otlpRoutes } from './otlp/routes.ts'
import { policyRoutes } from './policies.ts'
import { readBatch } from './read-batch.ts'
import { reportRoutes } from './reports.ts'
import { field, jsonOf, Refused, uuidPattern } from './request.ts'
import { forAnyone, forNode, forUser, ok, type Route } from './route.ts'
import { acting, addToken, userRoles } from './user-access.ts'

const open: readonly Route[] = [
  forAnyone('GET /health', async ({ fleet }) => {
    await fleet.query('SELECT 1')
    return ok({ ok: true })
  }),
  forUser('reader', 'GET /metrics', async ({ metrics }) => ({
    ...{ status: 200, text: metrics.text(), type: 'text/plain; version=0.0.4' },
  })),
  forAnyone('POST /v1/enrol', async ({ fleet }, asked) =>
    ok(await enrol(fleet, await jsonOf(asked, 64 * 1024), asked.address)),
  ),
]

const rows: readonly Route[] = [
  forNode('GET /v1/cursor', async ({ fleet }, { url }, node) => {
    const database = url.searchParams.get('database') ?? ''
    if (!uuidPattern.test(database)) throw new Refused(400, '"database" must be a UUID')
    return ok(await cursorOf(fleet, node.id, database))
  }),
  forNode(
    'POST /v1/rows',
    async ({ fleet, metrics }, asked, node) => {
      const found = await ingest(fleet, node.id, readBatch(await jsonOf(asked)))
      metrics.rows(found.rows, found.faults)
      return ok(found)
    },
    { bodyBytes: limits.bodyBytes, isHeavy: true },
  ),
]

const tokens: readonly Route[] = [
  forUser('reader', 'GET /v1/whoami', async (_, __, { actor, role }) => ok({ actor, role })),
  forUser('admin', 'POST /v1/enrol-tokens', async ({ fleet }, asked, user) => {
    const body = await jsonOf(asked)
    const wanted = {
      person: field.optional(body, 'person', 200) ?? '',
      team: field.optional(body, 'team', 200) ?? '',
      groups: field.texts(body, 'groups'),
      ring: body['ring'] === 'canary' ? ('canary' as const) : ('all' as const),
      worker: body['worker'] === true,
      hours: field.number(body, 'hours') ?? 24,
    }
    const token = await acting(fleet, user, 'create enrolment token', wanted.person, (sql) =>
      addEnrolToken(sql, user.actor, wanted),
    )
    return ok({ token })
  }),
  forUser('admin', 'POST /v1/tokens', async ({ fleet }, asked, user) => {
    const body = await jsonOf(asked)
    const role = userRoles.find((each) => each === body['role'])
    if (!role) throw new Refused(400, `"role" must be one of ${userRoles.join(', ')}`)
    const actor = field.text(body, 'name', 200)
    const node = body['node'] === undefined ? undefined : field.uuid(body, 'node')
    if (role === 'telemetry' && node === undefined)
      throw new Refused(400, 'a telemetry token belongs to a node: name it with "node"')
    const hours = field.number(body, 'hours')
    const token = await acting(fleet, user, 'create token', `${role} ${actor}`, (sql) =>
      addToken(sql, {
        ...{ actor, role, via: 'static', by: user.actor },
        ...(node !== undefined && { node }),
        ...(hours !== undefined && { hours }),
      }),
    )
    return ok({ token })
  }),
]

export const routes: readonly Route[] = [
  ...open,
  ...rows,
  ...otlpRoutes,
  ...policyRoutes,
  ...jobRoutes,
  ...reportRoutes,
  ...oidcRoutes,
  ...tokens,
]
