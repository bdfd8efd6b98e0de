/** dispatch.manifest.json, read so that no mistake in it can switch a guard off without a word. */
import { isObject } from './session/paths.ts'
import { isPhase } from './session/phase.ts'
import { type EventName, eventNames, type Phase } from './types.ts'

export interface ModuleEntry {
  readonly name: string
  readonly path: string
  /** Undefined: as the module itself says. */
  readonly priority?: number
  readonly hotPathSafe?: boolean
  readonly critical?: boolean
}

export interface PhaseRule {
  readonly allowTools: readonly string[] | '*'
  readonly mode: 'allow' | 'warn' | 'deny'
}

export interface Manifest {
  readonly dialect: string
  readonly budgets: Readonly<Record<EventName, number>>
  readonly enforcePhases: boolean
  readonly phasePolicy: Readonly<Partial<Record<Phase, PhaseRule>>>
  readonly rewriteOwner: { readonly inputMetadata: string; readonly updatedInput: string }
  readonly gc: { readonly maxAgeDays: number; readonly maxSessions: number }
  readonly autoApprove: boolean
  readonly stampToolInput: boolean
  readonly modules: readonly ModuleEntry[]
}

interface Shipped {
  readonly priority: number
  readonly hotPathSafe: boolean
  readonly critical: boolean
  readonly supports: readonly EventName[]
}

/** The modules that come with the dispatcher: known without loading them. */
export const shipped: Readonly<Record<string, Shipped>> = {
  session: { priority: 0, hotPathSafe: true, critical: true, supports: eventNames },
  'graph-pretooluse': { priority: 10, hotPathSafe: true, critical: true, supports: ['PreToolUse'] },
  'planGraph-exec': { priority: 20, hotPathSafe: true, critical: false, supports: ['PreToolUse'] },
  'plan-subagent-contract': {
    priority: 30,
    hotPathSafe: false,
    critical: false,
    supports: ['SubagentStart', 'SubagentStop'],
  },
  'rlm-work': {
    priority: 40,
    hotPathSafe: true,
    critical: false,
    supports: ['PreToolUse', 'SubagentStart', 'SubagentStop'],
  },
  'memory-journal': {
    priority: 50,
    hotPathSafe: false,
    critical: false,
    supports: ['UserPromptSubmit', 'PostToolUse', 'Stop'],
  },
  'memory-activation': { priority: 60, hotPathSafe: true, critical: false, supports: ['PreToolUse', 'PostToolUse'] },
  'stop-synth': { priority: 100, hotPathSafe: false, critical: false, supports: ['Stop'] },
}

export const minimalSet: readonly string[] = ['session', 'graph-pretooluse', 'planGraph-exec']

export const defaultBudgets: Readonly<Record<EventName, number>> = {
  SessionStart: 5000,
  UserPromptSubmit: 1000,
  PreToolUse: 300,
  PostToolUse: 500,
  PreCompact: 1000,
  Stop: 5000,
  SubagentStart: 1000,
  SubagentStop: 1000,
}

const searchTools = ['semantic_search', 'read_file', 'grep_search', 'list_dir', 'file_search']
export const defaultPhasePolicy: Readonly<Record<Phase, PhaseRule>> = {
  UNINITIALIZED: { allowTools: searchTools, mode: 'deny' },
  PLANNING: { allowTools: [...searchTools, 'runSubagent'], mode: 'deny' },
  EXECUTING: { allowTools: '*', mode: 'allow' },
  COMPLETE: { allowTools: ['read_file', 'grep_search'], mode: 'deny' },
  BLOCKED: { allowTools: ['read_file'], mode: 'deny' },
}

export const modulePath = (name: string): string => `features/${name}/hook.mjs`

/** Takes what is right and falls back, field by field, for what is not; each fall-back is a problem to tell. */
export function readManifest(value: unknown, unreadable?: string): { manifest: Manifest; problems: string[] } {
  const problems: string[] = []
  const wrong = (field: string, must: string) => problems.push(`dispatch.manifest.json: ${field} must be ${must}`)
  const file = isObject(value) ? value : {}
  if (unreadable !== undefined) problems.push(`dispatch.manifest.json: ${unreadable}; the minimal modules are used`)
  else if (!isObject(value))
    problems.push('dispatch.manifest.json is missing or not an object; the minimal modules are used')

  const flag = (field: string): boolean => {
    if (file[field] === undefined || typeof file[field] === 'boolean') return file[field] === true
    wrong(field, 'true or false')
    return false
  }
  const section = (field: string): Record<string, unknown> => {
    if (file[field] === undefined || isObject(file[field])) return (file[field] as Record<string, unknown>) ?? {}
    wrong(field, 'an object')
    return {}
  }
  const number = (
    from: Record<string, unknown>,
    key: string,
    least: number,
    fallback: number,
    field: string,
  ): number => {
    const given = from[key]
    if (given === undefined) return fallback
    if (typeof given === 'number' && given >= least && Number.isFinite(given)) return given
    wrong(`${field}.${key}`, `a number from ${least} up`)
    return fallback
  }

  const { dialect = 'auto' } = file
  if (!dialects.includes(dialect)) wrong('dialect', `one of ${dialects.join(', ')}`)
  const budgets = { ...defaultBudgets }
  const givenBudgets = section('budgets')
  for (const name of eventNames)
    budgets[name] = number(
      givenBudgets,
      name,
      name === 'PreToolUse' || name === 'PostToolUse' ? 50 : 100,
      budgets[name],
      'budgets',
    )

  const phasePolicy: Partial<Record<Phase, PhaseRule>> = { ...defaultPhasePolicy }
  for (const [phase, rule] of Object.entries(section('phasePolicy'))) {
    if (isPhase(phase) && isPhaseRule(rule)) phasePolicy[phase] = rule
    else wrong(`phasePolicy.${phase}`, 'a known phase with allowTools and mode')
  }
  const owners = section('rewriteOwner')
  const owner = (channel: string, fallback: string) => {
    if (owners[channel] === undefined || typeof owners[channel] === 'string')
      return (owners[channel] as string) ?? fallback
    wrong(`rewriteOwner.${channel}`, 'the name of a module')
    return fallback
  }
  const gc = section('gc')
  const manifest = {
    dialect: dialects.includes(dialect) ? (dialect as string) : 'auto',
    budgets,
    enforcePhases: flag('enforcePhases'),
    phasePolicy,
    rewriteOwner: {
      inputMetadata: owner('inputMetadata', 'session'),
      updatedInput: owner('updatedInput', 'planGraph-exec'),
    },
    gc: { maxAgeDays: number(gc, 'maxAgeDays', 1, 7, 'gc'), maxSessions: number(gc, 'maxSessions', 1, 20, 'gc') },
    autoApprove: flag('autoApprove'),
    stampToolInput: flag('stampToolInput'),
    modules: readModules(file['modules'], wrong),
  }
  // a key that is misspelt may be a guard that somebody relies on
  for (const [fields, known, at] of [
    [file, keys, ''],
    [givenBudgets, eventNames, 'budgets.'],
    [owners, ['inputMetadata', 'updatedInput'], 'rewriteOwner.'],
    [gc, ['maxAgeDays', 'maxSessions'], 'gc.'],
    ...entriesOf(file['modules']).map(([name, entry]) => [entry, entryKeys, `modules.${name}.`] as const),
  ] as const)
    for (const key of Object.keys(fields).filter((key) => !known.some((name) => name === key)))
      problems.push(`dispatch.manifest.json: unknown key ${at}${key}; ignored`)
  return { manifest, problems }
}

const dialects: readonly unknown[] = ['auto', 'vscode', 'claude', 'copilot-cli']
const keys = [
  ...['$schema', 'version', 'dialect', 'budgets', 'enforcePhases', 'phasePolicy', 'rewriteOwner', 'gc'],
  ...['autoApprove', 'stampToolInput', 'modules'],
]
const entryKeys = ['name', 'enabled', 'path', 'priority', 'hotPathSafe', 'critical']

const entriesOf = (modules: unknown): [string, object][] => {
  const listed = Array.isArray(modules) ? modules.map((item) => [item?.name, item]) : Object.entries(modules ?? {})
  return listed.filter((pair): pair is [string, object] => isObject(pair[1]))
}

const isPhaseRule = (rule: unknown): rule is PhaseRule =>
  isObject(rule) &&
  (rule['mode'] === 'allow' || rule['mode'] === 'warn' || rule['mode'] === 'deny') &&
  (rule['allowTools'] === '*' ||
    (Array.isArray(rule['allowTools']) && rule['allowTools'].every((tool) => typeof tool === 'string')))

/** `{name: {enabled, …}}`, or a list of names or of entries with a name: all three say the same. */
function readModules(given: unknown, wrong: (field: string, must: string) => void): ModuleEntry[] {
  const listed: [string, unknown][] = Array.isArray(given)
    ? given.map((item) => (typeof item === 'string' ? [item, {}] : [isObject(item) ? String(item['name']) : '', item]))
    : isObject(given)
      ? Object.entries(given)
      : []
  if (!Array.isArray(given) && !isObject(given)) {
    if (given !== undefined) wrong('modules', 'an object or a list')
    return minimalSet.map((name) => ({ name, path: modulePath(name) }))
  }
  const entries: ModuleEntry[] = []
  for (const [name, item] of listed) {
    const entry = isObject(item) ? item : {}
    if (!isObject(item) || !/^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(name))
      wrong(`modules.${name || '?'}`, 'a named object')
    if (name === '') continue
    if (entry['enabled'] === false) continue
    if (entry['enabled'] !== undefined && typeof entry['enabled'] !== 'boolean')
      wrong(`modules.${name}.enabled`, 'true or false (taken as true)')
    const known = <T>(key: string, type: string): T | undefined => {
      if (entry[key] === undefined || typeof entry[key] === type) return entry[key] as T | undefined
      wrong(`modules.${name}.${key}`, `a ${type}`)
      return undefined
    }
    entries.push({
      name,
      path: known<string>('path', 'string') ?? modulePath(name),
      priority: known<number>('priority', 'number'),
      hotPathSafe: known<boolean>('hotPathSafe', 'boolean'),
      critical: known<boolean>('critical', 'boolean'),
    })
  }
  return entries
}
