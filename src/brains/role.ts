/** A role: briefs, skills and inits that are linked into a repository, and hooks that go into every brain in it. */

import { Problem } from '../files/problem.ts'
import { durationMs, type IsoDuration } from '../hosts/duration.ts'
import {
  type BrainHook,
  type BrainHookEvent,
  type BrainHookFilter,
  described,
  events,
  uniqueOf,
} from '../hosts/hook.ts'

export interface Role {
  readonly slug: string
  /** Where the role comes from, the "repo=" of its author; ".this" when nothing is said. */
  readonly repo?: string
  readonly purpose?: string
  readonly briefs?: RoleDirs
  readonly skills?: RoleDirs
  readonly inits?: RoleDirs & { readonly exec?: readonly { readonly cmd: string }[] }
  readonly hooks?: RoleHooks
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

/** What is asked of a role before it is put to the model. */
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
  /** Only under onTool. */
  readonly filter?: BrainHookFilter
}

/** A source of roles: what `ona.roles.*` and a roles package give. */
export interface RoleRegistry {
  readonly slug?: string
  readonly roles: readonly Role[]
}

export const authorOf = ({ repo, slug }: Pick<Role, 'repo' | 'slug'>): string => `repo=${repo ?? '.this'}/role=${slug}`

/** The role's hooks as they stand in a brain, in the order in which they are declared. */
export function hooksOf(role: Role): BrainHook[] {
  const author = authorOf(role)
  const hooks = events.flatMap((event) =>
    (role.hooks?.onBrain?.[event] ?? []).map((hook): BrainHook => ({ author, event, ...hook })),
  )
  const seen = new Map<string, BrainHook>()
  for (const hook of hooks) {
    durationMs(hook.timeout)
    if (hook.filter && hook.event !== 'onTool')
      throw new Problem(`${author}: ${hook.event} takes no filter, only onTool does; take it off "${hook.command}"`)
    const twin = seen.get(uniqueOf(hook))
    if (twin)
      throw new Problem(
        `${author} declares one hook twice, "${described(twin)}" and "${described(hook)}"; keep one of them`,
      )
    seen.set(uniqueOf(hook), hook)
  }
  return hooks
}

/** Roles from outside: a registry, a list of roles or one role, checked field by field. */
export function parseRoles(value: unknown, where: string, repo: string): Role[] {
  if (Array.isArray(value)) return value.map((role, index) => parseRole(role, `${where}: roles[${index}]`, repo))
  const fields = object(value, where)
  if (!('roles' in fields)) return [parseRole(fields, where, repo)]
  known(fields, where, ['slug', 'repo', 'readme', 'roles'])
  const slug = fields['slug'] ?? fields['repo']
  return list(fields['roles'], `${where}: roles`).map((role, index) =>
    parseRole(role, `${where}: roles[${index}]`, slug === undefined ? repo : name(slug, `${where}: slug`)),
  )
}

/** From `name` on they are rhachet's own: they mean nothing here and are let through. */
const roleKeys = [
  'slug',
  'repo',
  'purpose',
  'briefs',
  'skills',
  'inits',
  'hooks',
  'name',
  'readme',
  'traits',
  'boot',
  'keyrack',
]

export function parseRole(value: unknown, where: string, repo: string): Role {
  const fields = object(value, where)
  known(fields, where, roleKeys)
  const role: Role = {
    slug: name(fields['slug'], `${where}: slug`),
    repo: fields['repo'] === undefined ? repo : name(fields['repo'], `${where}: repo`),
    ...(typeof fields['purpose'] === 'string' && { purpose: fields['purpose'] }),
    ...(fields['briefs'] !== undefined && { briefs: parseDirs(fields['briefs'], `${where}: briefs`) }),
    ...(fields['skills'] !== undefined && { skills: parseDirs(fields['skills'], `${where}: skills`) }),
    ...(fields['inits'] !== undefined && { inits: parseInits(fields['inits'], `${where}: inits`) }),
    ...(fields['hooks'] !== undefined && { hooks: parseHooks(fields['hooks'], `${where}: hooks`) }),
  }
  hooksOf(role)
  return role
}

/** The folders as plain paths, whichever way they were written. */
export function dirsOf(dirs: RoleDirs | undefined): string[] {
  const given = dirs?.dirs ?? []
  return [given].flat().map((dir: RoleDir) => (typeof dir === 'string' ? dir : dir.uri))
}

function parseDirs(value: unknown, where: string): RoleDirs {
  const { dirs = [] } = object(value, where)
  return {
    dirs: [dirs].flat().map((dir, index) => {
      if (typeof dir === 'string') return dir
      return text(object(dir, `${where}.dirs[${index}]`)['uri'], `${where}.dirs[${index}].uri`)
    }),
  }
}

function parseInits(value: unknown, where: string): NonNullable<Role['inits']> {
  const { exec = [] } = object(value, where)
  const commands = list(exec, `${where}.exec`).map((init, index) => ({
    cmd: text(object(init, `${where}.exec[${index}]`)['cmd'], `${where}.exec[${index}].cmd`),
  }))
  return { ...parseDirs(value, where), exec: commands }
}

function parseHooks(value: unknown, where: string): RoleHooks {
  const fields = object(value, where)
  known(fields, where, ['onDispatch', 'onBrain'])
  return {
    ...(fields['onDispatch'] !== undefined && {
      onDispatch: parseOnDispatch(fields['onDispatch'], `${where}.onDispatch`),
    }),
    ...(fields['onBrain'] !== undefined && { onBrain: parseOnBrain(fields['onBrain'], `${where}.onBrain`) }),
  }
}

function parseOnDispatch(value: unknown, where: string): RoleHooksOnDispatch {
  const fields = object(value, where)
  known(fields, where, ['onInvokeAskInput', 'onInvokeActInput'])
  for (const [key, given] of Object.entries(fields))
    for (const transform of [given].flat())
      if (typeof transform !== 'function')
        throw new Problem(`${where}.${key} must be a function or a list of functions`)
  return fields as RoleHooksOnDispatch
}

function parseOnBrain(value: unknown, where: string): RoleHooksOnBrain {
  const fields = object(value, where)
  known(fields, where, events)
  return Object.fromEntries(
    Object.entries(fields).map(([event, hooks]) => [
      event,
      list(hooks, `${where}.${event}`).map((hook, index) => parseHook(hook, `${where}.${event}[${index}]`)),
    ]),
  )
}

function parseHook(value: unknown, where: string): RoleHookOnBrain {
  const fields = object(value, where)
  known(fields, where, ['command', 'timeout', 'filter'])
  const command = text(fields['command'], `${where}.command`)
  if (/\\$|\0/.test(command)) throw new Problem(`${where}.command must not end in a backslash or hold a null character`)
  if (fields['timeout'] === undefined)
    throw new Problem(`${where}.timeout is missing; say how long it may take, as PT30S`)
  const timeout = fields['timeout'] as IsoDuration
  if (typeof timeout !== 'string') object(timeout, `${where}.timeout`)
  try {
    durationMs(timeout)
  } catch (thrown) {
    throw new Problem(`${where}.timeout: ${(thrown as Problem).message}`)
  }
  return {
    command,
    timeout,
    ...(fields['filter'] !== undefined && { filter: parseFilter(fields['filter'], `${where}.filter`) }),
  }
}

function parseFilter(value: unknown, where: string): BrainHookFilter {
  const fields = object(value, where)
  known(fields, where, ['what', 'when'])
  const when = fields['when']
  if (when !== undefined && when !== 'before' && when !== 'after')
    throw new Problem(`${where}.when is ${JSON.stringify(when)}; it is "before" or "after"`)
  const what = text(fields['what'], `${where}.what`)
  if (/[^\w\s|,*-]/.test(what)) {
    try {
      new RegExp(what)
    } catch {
      throw new Problem(`${where}.what is neither a list of tools nor a regular expression: ${what}`)
    }
  }
  return { what, ...(when && { when }) }
}

function object(value: unknown, where: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new Problem(`${where} must be an object, not ${kind(value)}`)
}

function list(value: unknown, where: string): unknown[] {
  if (Array.isArray(value)) return value
  throw new Problem(`${where} must be a list, not ${kind(value)}`)
}

function text(value: unknown, where: string): string {
  if (typeof value === 'string' && value.trim() !== '') return value
  throw new Problem(value === undefined ? `${where} is missing` : `${where} must be text, not ${kind(value)}`)
}

/** A name that becomes part of a folder's name and of an author. */
function name(value: unknown, where: string): string {
  const given = text(value, where)
  if (/^[\w.@+-]+$/.test(given) && given !== '.' && given !== '..') return given
  throw new Problem(`${where} is "${given}"; use letters, digits, ".", "_" and "-"`)
}

function known(fields: Record<string, unknown>, where: string, keys: readonly string[]): void {
  for (const key of Object.keys(fields))
    if (!keys.includes(key)) throw new Problem(`${where} has no "${key}"; it takes ${keys.join(', ')}`)
}

const kind = (value: unknown) =>
  value === null ? 'null' : Array.isArray(value) ? 'a list' : value === '' ? 'empty' : typeof value
