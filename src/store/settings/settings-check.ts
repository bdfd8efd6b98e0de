/** Faults in the settings of one file, each with its place and remedy. */
import { blockingEvents } from '../../hooks/claude/events.ts'
import { secretIn } from '../../hooks/secrets/redact.ts'
import { isHookName, readHooks, sayHookProblem } from '../../hooks/settings.ts'
import { isObject, type JsonObject, type JsonSchema, type Shape, say } from '../../hooks/shape.ts'
import type { Layer } from './settings-files.ts'
import { flatHooks } from './settings-merge.ts'
import {
  type HookEntry,
  managedOnly,
  notFromClaude,
  notFromFolder,
  notFromProject,
  permissionsShape,
  sandboxShape,
  settingsShape,
} from './settings-shape.ts'

/** Says why a rule cannot be used, or nothing when it can. */
export type CheckRule = (rule: string, list: 'allow' | 'ask' | 'deny') => string | undefined

export interface Checked {
  /** What can be used. */
  readonly settings: JsonObject
  /** Invalid values: they are reported before anything runs. */
  readonly problems: string[]
  /** Entries left out, and keys that do nothing here. */
  readonly warnings: string[]
  readonly unknown: string[]
}

export function checkLayer(layer: Omit<Layer, 'file'>, checkRule: CheckRule): Checked {
  return layer.foreign ? checkForeign(layer, checkRule) : checkOwn(layer, checkRule)
}

/**
 * A file that was written for Claude Code may use keys and events that only Claude Code has; ona starts without them and
 * says so. A guard is not left out: a deny rule or a hook of an event we have that cannot be used refuses to start.
 */
function checkForeign({ level, settings }: Omit<Layer, 'file'>, checkRule: CheckRule): Checked {
  const { hooks, ...others } = settings
  const rest = Object.fromEntries(Object.entries(others).filter(([key]) => !notFromClaude.includes(key)))
  const checked = checkOwn({ level, settings: rest }, checkRule)
  const isGuard = (why: string) => why.startsWith('permissions.deny') || why.startsWith('permissions.ask')
  const problems = checked.problems.filter(isGuard)
  const unusable = checked.problems.filter((why) => !isGuard(why))
  const warnings = [...checked.warnings, ...unusable.map((why) => `${why}; it was left out`)]
  const foreign = flatHooks(hooks, level).map((hook): HookEntry => ({ ...hook, profile: 'claude' }))
  const usable = foreign.filter((hook) => {
    const faults = hookProblems([hook]).map((why) => `${hook.hook_event_name} hook: ${why}`)
    if (blockingEvents.includes(hook.hook_event_name))
      problems.push(
        `${hook.hook_event_name} hook: ona does not raise this event, so the hook would guard nothing; remove it, or copy the others to .ona/settings.json`,
      )
    else if (isHookName(hook.hook_event_name)) problems.push(...faults)
    else warnings.push(...faults.map((why) => `${why}; it was left out`))
    return faults.length === 0
  })
  const own = usable.length > 0 ? { ...checked.settings, hooks: usable } : checked.settings
  return { settings: own, problems, warnings, unknown: [] }
}

function checkOwn({ level, settings }: Omit<Layer, 'file'>, checkRule: CheckRule): Checked {
  const checked: Checked = { settings: {}, problems: [], warnings: [], unknown: [] }
  const kept: [string, unknown][] = []
  for (const [key, value] of Object.entries(settings)) {
    if (key === '__proto__') continue
    if (level !== 'managed' && managedOnly.includes(key)) {
      checked.warnings.push(`${key} counts in managed settings only; it was left out`)
    } else if ((level === 'project' || level === 'local') && notFromFolder.includes(key)) {
      checked.warnings.push(
        `${key} counts in your own settings (~/.ona/settings.json) and managed settings only; it was left out`,
      )
    } else if (level === 'project' && notFromProject.includes(key)) {
      checked.warnings.push(`${key} cannot be set by a project; put it into your own settings`)
    } else if (key === 'permissions' && isObject(value)) {
      kept.push([key, checkPermissions(value, level === 'managed', checkRule, checked)])
    } else {
      const problems = problemsOf(key, value)
      checked.problems.push(...problems)
      if (problems.length === 0) kept.push([key, value])
      if (!Object.hasOwn(settingsShape.fields, key)) checked.unknown.push(key)
      if (key === 'sandbox' && problems.length === 0)
        checked.unknown.push(...unknownIn(sandboxShape.schema(), value, key))
    }
  }
  return { ...checked, settings: Object.fromEntries(kept) }
}

function problemsOf(key: string, value: unknown): string[] {
  const problem = fieldOf(settingsShape.fields, key)?.check(value, key)
  if (problem) return [say(problem) + (fixes[key] ?? '')]
  if (key === 'hooks') return hookProblems(value)
  if (key === 'model_config') return modelConfigProblems(value as JsonObject)
  return []
}

/** What the plane cannot use; what it can use and doubts, it says itself when it reads them. */
const hookProblems = (hooks: unknown): string[] =>
  readHooks({ hooks }, { source: { kind: 'settings' } })
    .problems.filter(({ level }) => level === 'error')
    .map(sayHookProblem)

const fixes: Record<string, string> = {
  model_config:
    '; model_config takes provider and model_id and nothing else. Keys and tokens come from the environment or ona login',
}

/** Each field by itself: a wrong mode must not take the deny rules with it. */
function checkPermissions(
  permissions: JsonObject,
  isManaged: boolean,
  checkRule: CheckRule,
  { problems, warnings, unknown }: Checked,
): JsonObject {
  const { fields } = permissionsShape
  const kept: [string, unknown][] = []
  for (const [key, value] of Object.entries(permissions)) {
    const path = `permissions.${key}`
    const problem = fieldOf(fields, key)?.check(value, path)
    if (problem) problems.push(say(problem))
    else if (!isManaged && managedOnly.includes(key)) warnings.push(`${path} counts in managed settings only`)
    else if (key === 'allow' || key === 'ask' || key === 'deny') {
      kept.push([
        key,
        (value as unknown[]).filter((rule) => isUsable(rule, key, path, checkRule, { problems, warnings })),
      ])
    } else {
      if (!Object.hasOwn(fields, key)) unknown.push(path)
      if (key !== '__proto__') kept.push([key, value])
    }
  }
  return Object.fromEntries(kept)
}

function isUsable(
  rule: unknown,
  list: 'allow' | 'ask' | 'deny',
  path: string,
  checkRule: CheckRule,
  { problems, warnings }: Pick<Checked, 'problems' | 'warnings'>,
): boolean {
  const why =
    typeof rule !== 'string' || rule.trim() === ''
      ? 'a rule is a text such as "Bash(npm test *)"'
      : checkRule(rule, list)
  if (why === undefined) return true
  const invalid = `${path}: invalid permission rule ${JSON.stringify(rule)}`
  // without it more would be allowed than was meant
  if (list === 'allow') warnings.push(`${invalid} was skipped: ${why}`)
  else problems.push(`${invalid}: ${why}; correct or remove it`)
  return false
}

/** The provider is one of a list, so only the model's id can hold one. */
const modelConfigProblems = ({ model_id }: JsonObject): string[] =>
  secretIn(model_id as string) ? [`model_config.model_id looks like a secret${fixes['model_config']}`] : []

const fieldOf = (fields: Record<string, Shape<unknown>>, key: string): Shape<unknown> | undefined =>
  Object.hasOwn(fields, key) ? fields[key] : undefined

/** Keys of a nested object that no shape knows: a mistyped one would close nothing. */
function unknownIn({ properties }: JsonSchema, value: unknown, path: string): string[] {
  if (!isObject(value) || !isObject(properties)) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    Object.hasOwn(properties, key)
      ? unknownIn(properties[key] as JsonSchema, inner, `${path}.${key}`)
      : [`${path}.${key}`],
  )
}
