/** What a route is: an address, who may ask, and what answers. */
import type { Queue } from '../jobs/queue.ts'
import type { Fleet } from './database.ts'
import type { Metrics } from './metrics.ts'
import type { NodeKey } from './node-access.ts'
import type { Oidc } from './oidc.ts'
import type { Answer, Asked } from './request.ts'
import type { User, UserRole } from './user-access.ts'

export interface Context {
  readonly fleet: Fleet
  readonly metrics: Metrics
  readonly queue?: Queue
  readonly oidc?: Oidc
}

/** `parts`: what stands at the colons of the path. */
export type Work<Who> = (context: Context, asked: Asked, who: Who, parts: readonly string[]) => Promise<Answer>

interface Limits {
  readonly bodyBytes?: number
  /** Only so many at a time. */
  readonly isHeavy?: true
}

export type Route = Limits & { readonly method: string; readonly path: RegExp } & (
    | { readonly for: 'anyone'; readonly run: Work<undefined> }
    | { readonly for: 'node'; readonly run: Work<NodeKey> }
    | { readonly for: UserRole; readonly run: Work<User> }
  )

/** `GET /v1/jobs/:id` */
function at(place: string): { method: string; path: RegExp } {
  const [method = '', path = ''] = place.split(' ')
  return { method, path: new RegExp(`^${path.replaceAll(/:\w+/g, '([^/]{1,200})')}$`) }
}

export const forAnyone = (place: string, run: Work<undefined>, more: Limits = {}): Route => ({
  ...at(place),
  for: 'anyone',
  run,
  ...more,
})
export const forNode = (place: string, run: Work<NodeKey>, more: Limits = {}): Route => ({
  ...at(place),
  for: 'node',
  run,
  ...more,
})
export const forUser = (role: UserRole, place: string, run: Work<User>, more: Limits = {}): Route => ({
  ...at(place),
  for: role,
  run,
  ...more,
})

export const ok = (body: unknown): Answer => ({ status: 200, body })
