/** Reads hooks from settings: the flat list, and Claude's object of events. Every fault is reported. */

import type { Profile } from './claude/profile.ts'
import { type EventName, eventNames, events, isEventName, rowOf } from './events.ts'
import { failureOf, type Handler, type OnFailure, type Source } from './handler.ts'
import { builtins } from './handlers/builtin.ts'
import { urlProblem } from './handlers/url.ts'
import { type Infer, isObject, parse } from './shape.ts'
import { type StepName, stepNames } from './steps.ts'
import { nearest, notKnown } from './text/nearest.ts'
import { readMatcher, slowMatcher } from './wire/matcher.ts'
import { kinds, matchShape } from './wire/settings-shape.ts'
import { groupShape, type HookPlace, walkHooks } from './wire/walk-hooks.ts'

export interface HookProblem {
  /** Such as `hooks.PreToolUse[0].hooks[1].timeout`. */
  readonly path: string
  /** What is wrong there and what to do; follows the path. */
  readonly why: string
  /** An error: the hook is not in force. A warning: it is, but perhaps not as meant. */
  readonly level: 'error' | 'warning'
}

export interface ReadHooksOptions {
  readonly source: Source
  /** The contract of hooks that do not set "profile" themselves. */
  readonly profile?: Profile
  /** Why they must not run; they are recorded as skipped. */
  readonly withheld?: string
  /** Loads the hooks that a file exports. Without it no file is loaded, and its hooks are listed only. */
  readonly load?: LoadHooks | undefined
}

export type LoadHooks = (file: string) => { readonly handlers: readonly Handler[] } | { readonly why: string }

/** The handlers in settings that hold a `hooks` key, in the order they are written. */
export function readHooks(
  settings: unknown,
  { source, profile, withheld, load }: ReadHooksOptions,
): { handlers: Handler[]; problems: HookProblem[] } {
  const handlers: Handler[] = []
  const problems: HookProblem[] = []
  const hooks = isObject(settings) ? settings.hooks : undefined
  forEachEntry(hooks, problems, (entry) => {
    const read = readEntry(entry, problems, profile, withheld === undefined ? load : undefined)
    const of = { source, ...(withheld !== undefined && { withheld }) }
    for (const handler of read) handlers.push({ ...handler, ...of })
  })
  return { handlers, problems }
}

/** `hooks[2].hook_event_name is "PreToolUs"; did you mean "PreToolUse"?` */
export const sayHookProblem = ({ path, why }: HookProblem): string => `${path} ${why}`

interface Entry {
  readonly event: EventName | StepName
  readonly matcher: string
  readonly match?: Infer<typeof matchShape>
  readonly hook: Record<string, unknown>
  readonly path: string
}

function forEachEntry(hooks: unknown, problems: HookProblem[], use: (entry: Entry) => void): void {
  const fault = (path: string, why: string) => void problems.push({ path, why, level: 'error' })
  walkHooks(hooks, {
    fault,
    event(name) {
      if (!isHookName(name)) fault('hooks', `has a key that ${notKnown(name, allNames)}`)
      return isHookName(name)
    },
    group({ matcher: _m, match: _s, hooks: inner, ...unknown }, path) {
      if (!Array.isArray(inner)) fault(path, groupShape)
      else for (const key of Object.keys(unknown)) warnUnknown(`${path}.${key}`, problems)
      return Array.isArray(inner)
    },
    hook(place) {
      const entry = entryOf(place, fault)
      if (entry) use(entry)
    },
  })
}

function entryOf(
  { event, matcher = '', match, hook, path, eventPath }: HookPlace,
  fault: (path: string, why: string) => void,
): Entry | undefined {
  if (typeof event !== 'string') return void fault(eventPath, 'is missing; it names the event or step')
  if (!isHookName(event)) return void fault(eventPath, notKnown(event, allNames))
  if (typeof matcher !== 'string') return void fault(`${path}.matcher`, 'must be a string')
  if (match === undefined || match === null) return { event, matcher, hook, path }
  const parsed = parse(matchShape, match)
  if (!parsed.ok)
    return void fault(`${path}.match${parsed.problem.path && `.${parsed.problem.path}`}`, parsed.problem.why)
  if (isEventName(event)) return void fault(`${path}.match`, `belongs to steps; at ${event} use "matcher"`)
  if (matcher !== '') return void fault(`${path}.match`, 'stands beside a matcher; keep one of the two')
  return { event, matcher: JSON.stringify(parsed.value), match: parsed.value, hook, path }
}

function readEntry(
  { event, matcher, match, hook, path }: Entry,
  problems: HookProblem[],
  usual: Profile | undefined,
  load: LoadHooks | undefined,
): readonly HandlerRead[] {
  const note = (level: HookProblem['level'], at: string, why: string) =>
    problems.push({ path: at === '' ? path : `${path}.${at}`, why, level })
  const type = hook.type ?? 'command'
  if (typeof type !== 'string' || !Object.hasOwn(kinds, type)) {
    note('error', 'type', typeof type === 'string' ? unknownKind(type) : 'must be a string')
    return []
  }
  const kind = kinds[type as keyof typeof kinds]
  const problem = kind.check(hook, '')
  if (problem) {
    note('error', problem.path, problem.why)
    return []
  }
  for (const key of Object.keys(hook)) if (!Object.hasOwn(kind.fields, key)) warnUnknown(`${path}.${key}`, problems)
  const {
    if: rule,
    if_condition,
    timeout,
    timeout_ms,
    onFailure,
    onError,
    once,
    parallel,
    statusMessage,
    profile = usual,
  } = hook as Infer<typeof kinds.command>
  const ifCondition = rule ?? if_condition ?? ''
  const failure = onFailure ?? failureOf(onError)
  warnings({ event, matcher, match, hook, path }, { ifCondition, profile, failure }, note)
  if (parallel && !isEventName(event)) {
    note('error', 'parallel', 'belongs to events; at a step each hook sees what the one before it changed')
    return []
  }
  const timeoutMs = timeout_ms ?? (timeout === undefined ? undefined : timeout * 1000)
  const declared = {
    event,
    matcher,
    ifCondition,
    ...(match && { match }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(failure && { onFailure: failure }),
    ...(once && { once }),
    ...(parallel && { parallel: true as const }),
    ...(statusMessage && { statusMessage }),
    ...(profile && { profile }),
  }
  return [readKind[type as keyof typeof kinds](declared, hook, note, load) ?? []].flat()
}

type HandlerRead = Handler extends infer H ? (H extends Handler ? Omit<H, 'source' | 'withheld'> : never) : never
type DeclaredRead = Pick<
  HandlerRead,
  'event' | 'matcher' | 'ifCondition' | 'match' | 'timeoutMs' | 'onFailure' | 'once' | 'parallel' | 'profile'
>
type Note = (level: HookProblem['level'], at: string, why: string) => void

const readKind: Record<
  keyof typeof kinds,
  (
    declared: DeclaredRead,
    hook: Record<string, unknown>,
    note: Note,
    load: LoadHooks | undefined,
  ) => HandlerRead | HandlerRead[] | undefined
> = {
  command(declared, hook, note) {
    const { command, shell = 'bash', args, sandbox, persistent } = hook as Infer<typeof kinds.command>
    const isAsync = hook.async === true && hook.asyncRewake !== true && declared.profile === 'claude'
    const how = {
      ...(sandbox && { sandbox: true as const }),
      ...(persistent && { persistent: true as const }),
      ...(isAsync && isEventName(declared.event) && { async: true as const }),
    }
    if (command.trim() === '') return refuse(note, 'command', 'is empty')
    if ([command, ...(args ?? [])].some((word) => word.includes('\0')))
      return refuse(
        note,
        command.includes('\0') ? 'command' : 'args',
        'has a NUL in it, which no program can take; remove it',
      )
    if (how.async && declared.onFailure === 'refuse')
      return refuse(
        note,
        'async',
        'does not go with "onFailure": "refuse": nobody waits for its answer; leave one of them out',
      )
    if (declared.parallel && how.async)
      return refuse(note, 'async', 'does not go with "parallel": nobody waits for it; leave one of them out')
    if (persistent && how.async) return refuse(note, 'async', 'does not go with "persistent"; leave one of them out')
    if (sandbox && persistent) return refuse(note, 'persistent', 'does not go with "sandbox"; leave one of them out')
    if (args) return { ...declared, ...how, kind: 'command', command, shell, args }
    if (process.platform === 'win32' && shell !== 'powershell') {
      return refuse(note, 'shell', `is ${shell}, which does not run on Windows; use "shell": "powershell"`)
    }
    return { ...declared, ...how, kind: 'command', command, shell }
  },
  builtin(declared, hook, note) {
    const { name } = hook as Infer<typeof kinds.builtin>
    if (!Object.hasOwn(builtins, name)) return refuse(note, 'name', notKnown(name, Object.keys(builtins)))
    if (isEventName(declared.event)) return refuse(note, 'name', 'is a built-in, and those stand at steps')
    return { ...declared, kind: 'builtin', name }
  },
  prompt(declared, hook, note) {
    const { prompt, system, render, model } = hook as Infer<typeof kinds.prompt>
    if (prompt === undefined && system === undefined) return refuse(note, 'prompt', 'is missing')
    if (prompt !== undefined && render !== undefined) return refuse(note, 'render', 'goes with "system", not "prompt"')
    return { ...declared, kind: 'prompt', ...(prompt !== undefined && { prompt }), system, render, model }
  },
  http(declared, hook, note) {
    const { url, headers = {}, allowedEnvVars = [] } = hook as Infer<typeof kinds.http>
    const problem = urlProblem(url)
    if (problem) return refuse(note, 'url', problem)
    return { ...declared, kind: 'http', url, headers, allowedEnvVars }
  },
  /** What the entry says goes before what the function says of itself. */
  function(declared, hook, note, load) {
    const { file } = hook as Infer<typeof kinds.function>
    const { event, matcher, ifCondition, ...rest } = declared
    const of = isEventName(event) ? 'event' : 'step'
    if (!load) return { ...declared, kind: 'function', name: file, file, of, run: () => undefined }
    const read = load(file)
    if ('why' in read) return refuse(note, 'file', read.why)
    const asked = read.handlers.filter((each) => each.kind === 'function').filter((each) => each.event === event)
    if (asked.length === 0) {
      const others = [...new Set(read.handlers.map((each) => each.event))].join(', ')
      return refuse(note, 'file', `${file} exports no hook for ${event}, only for ${others}`)
    }
    return asked.map((each) => ({
      ...each,
      ...rest,
      ...(matcher !== '' && { matcher }),
      ...(ifCondition !== '' && { ifCondition }),
      name: `${each.name} in ${file}`,
      file,
    }))
  },
}

/** Kinds that only Claude Code has are named as such: a guard of that kind cannot run here. */
const unknownKind = (type: string): string =>
  type === 'agent' || type === 'mcp_tool'
    ? `is "${type}", a kind of hook that ona does not run; use "command", "prompt" or "http"`
    : notKnown(type, Object.keys(kinds))

function refuse(note: Note, at: string, why: string): undefined {
  note('error', at, why)
}

/** What is allowed but cannot be what was meant. */
function warnings(
  { event, matcher, match, hook }: Entry,
  {
    ifCondition,
    profile,
    failure,
  }: { ifCondition: string; profile: Profile | undefined; failure: OnFailure | undefined },
  note: Note,
): void {
  const never = failure === 'refuse' ? 'error' : 'warning' // a guard that never runs never refuses
  const waits = 'has no effect; the hook is waited for like any other'
  if (hook.async === true && (profile !== 'claude' || !isEventName(event))) note('warning', 'async', waits)
  if (hook.asyncRewake === true) note('warning', 'asyncRewake', waits)
  if (ifCondition !== '' && !hasToolCall(event)) {
    note(never, 'if', `is a rule for tool calls, and ${event} has none: the hook never runs`)
  }
  if (match?.safety?.length && event !== 'before_tool_apply') {
    note(never, 'match', `asks for a safety class, which only before_tool_apply shows: the hook never runs`)
  }
  if (match || matcher === '' || matcher === '*') return
  const row = isEventName(event) ? rowOf(event) : undefined
  if (!row?.takesNoMatcher && !readMatcher(matcher, profile)) {
    const slow = slowMatcher(matcher)
    if (slow !== null) note('error', 'matcher', slow)
    else note(never, 'matcher', `${JSON.stringify(matcher)} is no regular expression: the hook never runs`)
  }
  if (row?.takesNoMatcher) note('warning', 'matcher', `is ignored: ${event} has nothing to match`)
  else if (row ? row.matchOn === undefined : !toolSteps.includes(event as StepName)) {
    note(never, 'matcher', `has nothing to match at ${event}: the hook never runs`)
  }
}

const toolEvents: readonly string[] = eventNames.filter((name) => 'tool_name' in events[name].fields)
const toolSteps: readonly StepName[] = [
  'before_permission',
  'after_permission',
  'before_tool_apply',
  'after_tool_apply',
]
/** Where a rule such as `Bash(git *)` can be held against a call. */
export const hasToolCall = (event: EventName | StepName): boolean =>
  toolEvents.includes(event) || toolSteps.includes(event as StepName)

const allNames: readonly string[] = [...eventNames, ...stepNames]
/** The event or step that a name may have been meant to be. */
export const meantHookName = (name: string): string | undefined => nearest(name, allNames)

/** Whether an event or a step has this name. */
export const isHookName = (name: string): name is EventName | StepName => allNames.includes(name)

const warnUnknown = (path: string, problems: HookProblem[]) =>
  problems.push({ path, why: 'is an unknown key; ignored', level: 'warning' })
