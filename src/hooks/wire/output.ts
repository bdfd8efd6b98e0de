/** What a handler of an event may answer (spec 003, appendix B): a row for each event that has words of its own. */
import type { Profile } from '../claude/profile.ts'
import type { EventName } from '../events.ts'
import type { PermissionUpdate } from '../plane.ts'
import {
  boolean,
  type Fielded,
  isObject,
  type JsonObject,
  json,
  list,
  literal,
  map,
  oneOf,
  optional,
  type Parsed,
  parse,
  record,
  type Shape,
  string,
} from '../shape.ts'
import { permissionDecision } from './permission-update.ts'

const context = { additionalContext: optional(string('put before the model')) }
const watch = { watchPaths: optional(list(string(), 'absolute paths; replaces what was watched before')) }
const elicitation = {
  action: optional(oneOf(['accept', 'decline', 'cancel'])),
  content: optional(map(json())),
}

/** The fields of `hookSpecificOutput`, event by event; an event without a row has none. */
const specificFields = {
  PreToolUse: {
    permissionDecision: optional(oneOf(['allow', 'deny', 'ask'])),
    permissionDecisionReason: optional(string()),
    updatedInput: optional(map(json(), 'replaces the whole input')),
    ...context,
  },
  UserPromptSubmit: context,
  SessionStart: { ...context, initialUserMessage: optional(string()), ...watch },
  Setup: context,
  SubagentStart: context,
  PostToolUse: { ...context, updatedMCPToolOutput: optional(json()) },
  PostToolUseFailure: context,
  PermissionDenied: { retry: optional(boolean('the model may try again')) },
  Notification: context,
  PermissionRequest: { decision: permissionDecision },
  Elicitation: elicitation,
  ElicitationResult: elicitation,
  CwdChanged: watch,
  FileChanged: watch,
  WorktreeCreate: { worktreePath: string() },
} as const satisfies Partial<Record<EventName, Record<string, Shape<unknown>>>>

/** What Claude Code takes besides, by event; for hooks of that profile. */
const claudeFields: Partial<Record<EventName, Record<string, Shape<unknown>>>> = {
  PreToolUse: { permissionDecision: optional(oneOf(['allow', 'deny', 'ask', 'defer'])) },
  // replaces the tool's output, in the form of tool_response
  PostToolUse: { updatedToolOutput: optional(json()) },
  Stop: context,
  SubagentStop: context,
}

type Specific<E extends EventName> = E extends keyof typeof specificFields
  ? { hookSpecificOutput?: { hookEventName: E } & Fielded<(typeof specificFields)[E]> }
  : { hookSpecificOutput?: undefined }

const shared = {
  continue: optional(boolean('false: the turn ends here')),
  suppressOutput: optional(boolean('do not show what the hook printed')),
  stopReason: optional(string('shown when the turn ends here')),
  decision: optional(oneOf(['approve', 'block'])),
  systemMessage: optional(string('shown to the user')),
  reason: optional(string('why it is blocked')),
}

/** The answer of a handler of one event. */
export type Output<E extends EventName = EventName> = Fielded<typeof shared> & Specific<E>

export function outputShape<E extends EventName>(name: E, profile?: Profile): Shape<Output<E>> {
  const key = `${name} ${profile}`
  const known = shapes.get(key)
  if (known) return known as Shape<Output<E>>
  const usual = specificFields[name as keyof typeof specificFields]
  const more = profile && claudeFields[name]
  const fields: Record<string, Shape<unknown>> | undefined = more ? { ...usual, ...more } : usual
  const specific = fields
    ? optional(record({ hookEventName: literal(name as string), ...fields }))
    : optional(absent(`has nothing to say at ${name}; leave it out`))
  const shape = record({ ...shared, hookSpecificOutput: specific })
  shapes.set(key, shape)
  return shape as unknown as Shape<Output<E>>
}

/** Reads an answer, all or nothing. `{"async":true}` is no answer: the turn waits for every hook. */
export function readOutput<E extends EventName>(name: E, value: unknown, profile?: Profile): Parsed<Output<E>> {
  if ((value as JsonObject | null)?.async === true) {
    return {
      ok: false,
      problem: { path: 'async', why: 'is true, but every hook is waited for; answer with the verdict' },
    }
  }
  return parse(outputShape(name, profile), value)
}

/** What refuses in an answer that cannot be used as a whole: a bad field never turns a no into a yes. */
export function refusalIn(name: EventName, value: unknown): Output {
  const answer = field(value, 'hookSpecificOutput')
  const text = (from: unknown, key: string) => {
    const said = field(from, key)
    return typeof said === 'string' ? { [key]: said } : {}
  }
  const decision = field(answer, 'permissionDecision')
  const behaviour = field(field(answer, 'decision'), 'behavior')
  const action = field(answer, 'action')
  return {
    ...(field(value, 'decision') === 'block' && { decision: 'block', ...text(value, 'reason') }),
    ...(field(value, 'continue') === false && { continue: false, ...text(value, 'stopReason') }),
    hookSpecificOutput: {
      hookEventName: name,
      ...((decision === 'deny' || decision === 'ask' || decision === 'defer') && {
        permissionDecision: decision,
        ...text(answer, 'permissionDecisionReason'),
      }),
      ...(behaviour === 'deny' && { decision: { behavior: 'deny', ...text(field(answer, 'decision'), 'message') } }),
      ...((action === 'decline' || action === 'cancel') && { action }),
    },
  } as Output
}

/** The keys of an answer, where it has some and the event takes none of them. */
export function unknownOnly(name: EventName, value: unknown, profile?: Profile): string | undefined {
  if (!isObject(value)) return undefined
  const usual = specificFields[name as keyof typeof specificFields]
  const specific = { ...usual, ...(profile && claudeFields[name]) }
  const strange = (given: unknown, known: object): string | undefined => {
    const keys = isObject(given) ? Object.keys(given).filter((key) => key !== 'hookEventName') : []
    return keys.length > 0 && !keys.some((key) => Object.hasOwn(known, key)) ? keys.join(', ') : undefined
  }
  return (
    strange(value, { ...shared, hookSpecificOutput: true }) ??
    (Object.hasOwn(value, 'permissionDecision') ? 'permissionDecision outside of hookSpecificOutput' : undefined) ??
    strange(value.hookSpecificOutput, specific)
  )
}

/** An own field of whatever a handler returned; reading it must not throw. */
function field(value: unknown, key: string): unknown {
  try {
    return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  } catch {
    return undefined // a getter that throws
  }
}

/** All that the reading of an answer looks at, whatever the event. */
export interface AnySpecific {
  /** `defer` is Claude Code's: a host decides later. */
  readonly permissionDecision?: 'allow' | 'deny' | 'ask' | 'defer'
  readonly permissionDecisionReason?: string
  readonly updatedInput?: JsonObject
  readonly additionalContext?: string
  readonly initialUserMessage?: string
  readonly watchPaths?: readonly string[]
  readonly updatedMCPToolOutput?: unknown
  readonly updatedToolOutput?: unknown
  readonly retry?: boolean
  readonly decision?:
    | { behavior: 'allow'; updatedInput?: JsonObject; updatedPermissions?: PermissionUpdate[] }
    | { behavior: 'deny'; message?: string; interrupt?: boolean }
  readonly action?: 'accept' | 'decline' | 'cancel'
  readonly content?: JsonObject
  readonly worktreePath?: string
}

const shapes = new Map<string, Shape<unknown>>()

const absent = (why: string): Shape<undefined> => ({
  check: (value, path) => (value === undefined ? undefined : { path, why }),
  schema: () => ({ not: {} }),
})
