/** A role: briefs, skills and inits that are linked into a repository, and hooks that go into every agent used in it. */
import { Problem } from '../files/problem.ts'
import { durationMs, type IsoDuration } from '../hosts/duration.ts'
import {
  type BrainHook,
  type BrainHookEvent,
  type BrainHookFilter,
  described,
  events,
  type OnFailure,
  uniqueOf,
} from '../hosts/hook.ts'

export interface Role {
  readonly slug: string
  /** Where the role comes from, the "repo=" of its author; ".this" when none is given. */
  readonly repo?: string
  readonly purpose?: string
  /** A file that chooses what of the role is printed whole at boot. */
  readonly boot?: RoleDir
  readonly briefs?: RoleDirs
  readonly skills?: RoleDirs
  readonly inits?: RoleDirs & { readonly exec?: readonly { readonly cmd: string }[] }
  readonly hooks?: RoleHooks
  /** Calls that `ona prove --role` attempts, and what must become of them. */
  readonly proof?: readonly RoleProof[]
}

export interface RoleProof {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly expect: 'refused' | 'allowed'
}

/** Folders, seen from the file that declares the role. */
export interface RoleDirs {
  readonly dirs?: RoleDir | readonly RoleDir[]
}
export type RoleDir = string | { readonly uri: string }

export interface RoleHooks {
  readonly onDispatch?: RoleHooksOnDispatch
  readonly onBrain?: RoleHooksOnBrain
}

/** Middleware over ona's own dispatch: each transform gets what the one before it gave. */
export interface RoleHooksOnDispatch {
  readonly onInvokeAskInput?: Transforms<AskInput>
  readonly onInvokeActInput?: Transforms<ActInput>
}
export type Transforms<T> = Transform<T> | readonly Transform<T>[]
export type Transform<T> = (input: T) => T | Promise<T>

/** A prompt to a role before the model gets it. */
export interface AskInput {
  readonly ask: string
  readonly [more: string]: unknown
}
/** What a skill or tool is about to be run with. */
export interface ActInput {
  readonly skill: string
  readonly input: Readonly<Record<string, unknown>>
  readonly [more: string]: unknown
}

/** Middleware over what a brain does, put there by the brain's adapter. */
export type RoleHooksOnBrain = { readonly [event in BrainHookEvent]?: readonly RoleHookOnBrain[] }

export interface RoleHookOnBrain {
  readonly command: string
  readonly timeout: IsoDuration
  readonly filter?: BrainHookFilter
  /** What a failure of the hook means for the call that it guards; "pass" by default. */
  readonly onFailure?: OnFailure
}

/** A source of roles: what `ona.roles.*` and a roles package give. */
export interface RoleRegistry {
  readonly slug?: string
  readonly roles: readonly Role[]
}

export const authorOf = ({ repo, slug }: Pick<Role, 'repo' | 'slug'>): string => `repo=${repo ?? '.this'}/role=${slug}`

/** The role's hooks as an agent's config has them, in the order in which they are declared. */
export function hooksOf(role: Role): readonly BrainHook[] {
  const known = hooksByRole.get(role)
  if (known) return known
  const hooks = declaredHooks(role)
  hooksByRole.set(role, hooks)
  return hooks
}

/** Every agent's plan asks for the same hooks. */
const hooksByRole = new WeakMap<Role, readonly BrainHook[]>()

function declaredHooks(role: Role): BrainHook[] {
  const author = authorOf(role)
  const hooks = events.flatMap((event) =>
    (role.hooks?.onBrain?.[event] ?? []).map((hook): BrainHook => ({ author, event, ...hook })),
  )
  const seen = new Map<string, BrainHook>()
  for (const hook of hooks) {
    durationMs(hook.timeout)
    const twin = seen.get(uniqueOf(hook))
    if (twin)
      throw new Problem(
        `${author} declares one hook twice, "${described(twin)}" and "${described(hook)}"; keep one of them`,
      )
    seen.set(uniqueOf(hook), hook)
  }
  return hooks
}

/** The folders as plain paths, whichever way they were written. */
export function dirsOf(dirs: RoleDirs | undefined): string[] {
  const given = dirs?.dirs ?? []
  return [given].flat().map((dir: RoleDir) => (typeof dir === 'string' ? dir : dir.uri))
}
