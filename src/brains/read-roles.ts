/** Roles from outside, checked field by field: what is wrong is reported with its place. */
import { Problem, problemOf } from '../files/problem.ts'
import { nearest } from '../hooks/text/nearest.ts'
import { durationMs, type IsoDuration } from '../hosts/duration.ts'
import { type BrainHookEvent, type BrainHookFilter, deadFilter, events } from '../hosts/hook.ts'
import {
  hooksOf,
  type Role,
  type RoleDirs,
  type RoleHookOnBrain,
  type RoleHooks,
  type RoleHooksOnBrain,
  type RoleHooksOnDispatch,
  type RoleProof,
} from './role.ts'

/** What was read from a source of roles. */
export interface ReadRoles {
  readonly roles: readonly ReadRole[]
  /** Roles that cannot be used; the others can. */
  readonly failed: readonly { readonly slug?: string; readonly repo: string; readonly why: string }[]
}

export interface ReadRole {
  readonly role: Role
  /** What of its declaration is ignored or left out, and why. */
  readonly warnings: readonly string[]
  /** Hooks that are declared wrongly, with why; the others stand. */
  readonly faults: readonly string[]
}

/** Roles from outside: a registry, a list of roles or one role. A role that is wrong does not take the others with it. */
export function readRoles(value: unknown, where: string, repo: string): ReadRoles {
  const roles: ReadRole[] = []
  const failed: { slug?: string; repo: string; why: string }[] = []
  const read = (given: unknown, place: string, from: string) => {
    try {
      roles.push(readRole(given, place, from))
    } catch (thrown) {
      const { slug } = (typeof given === 'object' && given !== null ? given : {}) as { slug?: unknown }
      failed.push({ ...(typeof slug === 'string' && { slug }), repo: from, why: problemOf(thrown).message })
    }
  }
  const fields = Array.isArray(value) ? { roles: value } : object(value, where)
  if (!('roles' in fields)) read(fields, where, repo)
  else {
    const slug = fields['slug'] ?? fields['repo']
    const from = slug === undefined ? repo : name(slug, `${where}: slug`)
    for (const [index, role] of list(fields['roles'], `${where}: roles`).entries())
      read(role, `${where}: roles[${index}]`, from)
  }
  return { roles, failed }
}

/** The same, where a role that is wrong is an error. */
export function parseRoles(value: unknown, where: string, repo: string): Role[] {
  const { roles, failed } = readRoles(value, where, repo)
  const [why] = [...failed.map((one) => one.why), ...roles.flatMap(({ faults }) => faults)]
  if (why !== undefined) throw new Problem(why)
  return roles.map(({ role }) => role)
}

/** From `name` on they are rhachet's own and have no effect here. */
const roleKeys = [
  'slug',
  'repo',
  'purpose',
  'boot',
  'briefs',
  'skills',
  'inits',
  'hooks',
  'proof',
  'name',
  'readme',
  'traits',
  'keyrack',
]

export function readRole(value: unknown, where: string, repo: string): ReadRole {
  const fields = object(value, where)
  const warnings = unknownKeys(fields, where, roleKeys)
  const faults: string[] = []
  const boot = fields['boot']
  const role: Role = {
    slug: name(fields['slug'], `${where}: slug`),
    repo: fields['repo'] === undefined ? repo : name(fields['repo'], `${where}: repo`),
    ...(typeof fields['purpose'] === 'string' && { purpose: fields['purpose'] }),
    ...(boot !== undefined && boot !== null && { boot: parseDir(boot, `${where}: boot`) }),
    ...(fields['briefs'] !== undefined && { briefs: parseDirs(fields['briefs'], `${where}: briefs`) }),
    ...(fields['skills'] !== undefined && { skills: parseDirs(fields['skills'], `${where}: skills`) }),
    ...(fields['inits'] !== undefined && { inits: parseInits(fields['inits'], `${where}: inits`) }),
    ...(fields['hooks'] !== undefined && {
      hooks: parseHooks(fields['hooks'], `${where}: hooks`, { warnings, faults }),
    }),
  }
  const proof = fields['proof'] === undefined ? undefined : parseProof(fields['proof'], `${where}: proof`)
  hooksOf(role)
  return { role: proof ? { ...role, proof } : role, warnings, faults }
}

function parseDirs(value: unknown, where: string): RoleDirs {
  const { dirs = [] } = object(value, where)
  return { dirs: [dirs].flat().map((dir, index) => parseDir(dir, `${where}.dirs[${index}]`)) }
}

const parseDir = (dir: unknown, where: string): string =>
  typeof dir === 'string' ? dir : text(object(dir, where)['uri'], `${where}.uri`)

function parseInits(value: unknown, where: string): NonNullable<Role['inits']> {
  const { exec = [] } = object(value, where)
  const commands = list(exec, `${where}.exec`).map((init, index) => ({
    cmd: text(object(init, `${where}.exec[${index}]`)['cmd'], `${where}.exec[${index}].cmd`),
  }))
  return { ...parseDirs(value, where), exec: commands }
}

function parseProof(value: unknown, where: string): RoleProof[] {
  return list(value, where).map((given, index) => {
    const fields = object(given, `${where}[${index}]`)
    const expect = fields['expect'] ?? 'refused'
    if (expect !== 'refused' && expect !== 'allowed')
      throw new Problem(`${where}[${index}].expect is ${JSON.stringify(expect)}; it is "refused" or "allowed"`)
    return {
      tool: text(fields['tool'], `${where}[${index}].tool`),
      input: object(fields['input'], `${where}[${index}].input`),
      expect,
    }
  })
}

interface Notes {
  readonly warnings: string[]
  readonly faults: string[]
}

function parseHooks(value: unknown, where: string, notes: Notes): RoleHooks {
  const fields = object(value, where)
  notes.warnings.push(...unknownKeys(fields, where, ['onDispatch', 'onBrain']))
  const { onDispatch, onBrain } = fields
  return {
    ...(onDispatch !== undefined && { onDispatch: parseOnDispatch(onDispatch, `${where}.onDispatch`, notes.warnings) }),
    ...(onBrain !== undefined && { onBrain: parseOnBrain(onBrain, `${where}.onBrain`, notes) }),
  }
}

function parseOnDispatch(value: unknown, where: string, warnings: string[]): RoleHooksOnDispatch {
  const fields = object(value, where)
  const keys = ['onInvokeAskInput', 'onInvokeActInput']
  warnings.push(...unknownKeys(fields, where, keys))
  for (const [key, given] of Object.entries(fields).filter(([key]) => keys.includes(key)))
    for (const transform of [given].flat())
      if (typeof transform !== 'function')
        throw new Problem(`${where}.${key} must be a function or a list of functions`)
  return fields as RoleHooksOnDispatch
}

function parseOnBrain(value: unknown, where: string, { warnings, faults }: Notes): RoleHooksOnBrain {
  const fields = object(value, where)
  warnings.push(...unknownKeys(fields, where, events, 'unknown event; its hooks are left out'))
  const known = Object.entries(fields).filter(([event]) => events.includes(event as BrainHookEvent))
  return Object.fromEntries(
    known.map(([event, hooks]) => [
      event,
      list(hooks ?? [], `${where}.${event}`).flatMap((given, index) => {
        const place = `${where}.${event}[${index}]`
        const hook = attempt(() => parseHook(given, place, warnings), faults)
        if (!hook) return []
        const dead = deadFilter({ author: '', event: event as BrainHookEvent, ...hook })
        if (dead) warnings.push(`${place}.filter: ${dead}; the hook is left out`)
        return dead ? [] : [hook]
      }),
    ]),
  )
}

/** One hook that is declared wrongly does not take the others with it. */
function attempt<T>(work: () => T, faults: string[]): T | undefined {
  try {
    return work()
  } catch (thrown) {
    faults.push(problemOf(thrown).message)
    return undefined
  }
}

function parseHook(value: unknown, where: string, warnings: string[]): RoleHookOnBrain {
  const fields = object(value, where)
  warnings.push(...unknownKeys(fields, where, ['command', 'timeout', 'filter', 'onFailure']))
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
  const onFailure = fields['onFailure']
  if (onFailure !== undefined && onFailure !== 'refuse' && onFailure !== 'pass')
    throw new Problem(`${where}.onFailure is ${JSON.stringify(onFailure)}; it is "refuse" or "pass"`)
  return {
    command,
    timeout,
    ...(fields['filter'] !== undefined && { filter: parseFilter(fields['filter'], `${where}.filter`, warnings) }),
    ...(onFailure && { onFailure }),
  }
}

function parseFilter(value: unknown, where: string, warnings: string[]): BrainHookFilter {
  const fields = object(value, where)
  warnings.push(...unknownKeys(fields, where, ['what', 'when']))
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

/** A warning for each key that has no effect. */
function unknownKeys(
  fields: Record<string, unknown>,
  where: string,
  keys: readonly string[],
  means = 'unknown key; ignored',
): string[] {
  return Object.keys(fields)
    .filter((key) => !keys.includes(key))
    .map((key) => {
      const meant = nearest(key, keys)
      return `${where}.${key}: ${means}${meant ? ` (did you mean "${meant}"?)` : ''}`
    })
}

const kind = (value: unknown) =>
  value === null ? 'null' : Array.isArray(value) ? 'a list' : value === '' ? 'empty' : typeof value
