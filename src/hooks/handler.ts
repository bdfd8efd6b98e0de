/** A handler: what it is, when it runs, and how. */
import type { Profile } from './claude/profile.ts'
import type { EventName } from './events.ts'
import type { Control, StepName, Steps } from './steps.ts'
import type { StepMatch } from './wire/matcher.ts'

/** Where a handler was declared; this and the place within it give the order (spec 003 §5.2). */
export type Source =
  | { readonly kind: 'code' }
  /** `layer` is for people: user, project, managed. */
  | { readonly kind: 'settings'; readonly layer?: string }
  /** `root` is the plugin's folder: a command of the plugin finds it in `CLAUDE_PLUGIN_ROOT`. `env`: more such variables. */
  | { readonly kind: 'plugin'; readonly pluginId: string; readonly root?: string; readonly env?: Env }
  | { readonly kind: 'session' }

/** Environment variables; like Node's own type, for those who do not have it. */
export type Env = Readonly<Record<string, string | undefined>>

/** Puts the words of a program inside a sandbox; rejects with the reason where that cannot be done. */
export type Wrap = (
  words: readonly string[],
  place: { readonly cwd: string; readonly env: Env },
) => Promise<{ readonly words: readonly string[]; readonly env: Env }>

export type Shell = 'bash' | 'sh' | 'powershell'

/** `refuse`: a failure counts as exit code 2. */
export type OnFailure = 'refuse' | 'proceed'

/** The same in the words of steps. */
export const failureOf = (onError: 'block' | 'proceed' | undefined): OnFailure | undefined =>
  onError === 'block' ? 'refuse' : onError

interface Declared {
  readonly event: EventName | StepName
  readonly source: Source
  readonly profile?: Profile
  /** As written; for a step's `match`, its JSON. */
  readonly matcher: string
  readonly match?: StepMatch
  /** A permission rule that the tool call must match, as in `Bash(git *)`. */
  readonly ifCondition: string
  readonly timeoutMs?: number
  /** What a failure means. By default it refuses at a gate step and is passed over elsewhere. */
  readonly onFailure?: OnFailure
  /** Asked once a session. */
  readonly once?: boolean
  /** Asked at the same time as its neighbours that are parallel, too. It judges: it may not change the input. */
  readonly parallel?: true
  readonly statusMessage?: string
  /** Why it must not run, such as an untrusted folder; it is recorded as skipped. */
  readonly withheld?: string
}

export type Handler = Declared &
  (
    | {
        readonly kind: 'command'
        readonly command: string
        readonly shell: Shell
        /** The exec form: `command` is a program, run with these and without a shell. */
        readonly args?: readonly string[]
        /** It runs in the sandbox, or not at all. */
        readonly sandbox?: true
        /** The program stays between calls (handlers/persistent.ts). */
        readonly persistent?: true
        /** The turn does not wait for it (profile `claude` only). */
        readonly async?: true
      }
    | { readonly kind: 'builtin'; readonly name: string }
    | {
        readonly kind: 'prompt'
        readonly system?: string
        /** Claude's form: `$ARGUMENTS` stands for the input. */
        readonly prompt?: string
        readonly render?: Render
        readonly model?: string
      }
    | {
        readonly kind: 'http'
        readonly url: string
        readonly headers: Readonly<Record<string, string>>
        readonly allowedEnvVars: readonly string[]
      }
    | {
        readonly kind: 'function'
        readonly name: string
        readonly of: 'event'
        readonly run: EventFunction /** Where settings named one. */
        readonly file?: string
      }
    | {
        readonly kind: 'function'
        readonly name: string
        readonly of: 'step'
        readonly run: StepFunction
        readonly file?: string
      }
  )

export type Render = 'json' | { readonly template: string }

/** Both take one object; see define.ts for their typed forms. */
export type EventFunction = (args: never) => unknown
export type StepFunction = (args: never) => unknown

export type StepReply<S extends StepName> = Control | StepVerdict<S> | undefined

/** The verdict that a step takes: what a command prints, and what a function may return instead of changing the step. */
export type StepVerdict<S extends StepName> = {
  control?: 'proceed' | 'break' | 'continue' | 'skip' | 'veto' | null
  stop_reason?: string
} & (Steps[S] extends { additionalContext: unknown } | { feedback: unknown }
  ? { additional_context?: string[] | null }
  : unknown) &
  (S extends 'before_ingest'
    ? { input?: string | string[] | null; prepend_input?: string | string[] | null }
    : unknown) &
  (S extends 'before_generate' ? { model?: string; assistant?: string } : unknown) &
  (S extends 'before_permission' ? { resolved?: boolean } : unknown) &
  (S extends 'before_tool_apply' ? { args?: unknown; result?: WireBody | null; is_error?: boolean } : unknown)

export type WireBody =
  | { kind: 'text'; text: string }
  | { kind: 'json'; value: unknown }
  | { kind: 'content'; blocks: WireBlock[] }
export type WireBlock =
  | { kind: 'text'; text: string }
  | { kind: 'image'; mime: string; data: { kind: 'base64'; encoded: string } | { kind: 'url'; url: string } }

/** What the audit and the screen call a handler. */
export function labelOf(handler: Handler): string {
  switch (handler.kind) {
    case 'command':
      return [handler.command, ...(handler.args ?? [])].join(' ')
    case 'builtin':
      return `builtin:${handler.name}`
    case 'function':
      return `function:${handler.name}`
    case 'http':
      return `http:${handler.url.replace(/[?#].*/s, '').replace(/^(\w+:\/\/)[^/]*@/, '$1')}`
    case 'prompt':
      return `prompt:${(handler.prompt ?? handler.system ?? 'json').slice(0, 200)}`
  }
}
