/** The plane itself: decides once which handlers run at what, and in which order. */
import type { ClaudeHost } from './claude/contract.ts'
import type { EventName } from './events.ts'
import { type Env, type Handler, labelOf, type Wrap } from './handler.ts'
import type { AskModel } from './handlers/prompt.ts'
import { type Ordered, orderHandlers } from './order.ts'
import { type Answer, type Plane, quiet, type Raised, type Scope } from './plane.ts'
import { Background } from './round/background.ts'
import type { MatchesRule, Prepared, Settled, Subject } from './round/state.ts'
import { type Redact, redact } from './secrets/redact.ts'
import type { StepName } from './steps.ts'
import { matchesAll, matchesNothing, readMatcher, readStepMatch } from './wire/matcher.ts'

export interface PlaneOptions {
  readonly env?: Env
  /** Whether a tool call matches a permission rule such as `Bash(git *)`; without it, a hook with a condition always runs. */
  readonly matchesRule?: MatchesRule
  /** For handlers that ask a model. */
  readonly askModel?: AskModel
  /** For hooks that ask for a sandbox; without it they do not run. */
  readonly wrap?: Wrap
  /** Takes secrets out of what is recorded. */
  readonly redact?: Redact
  /** Removes our own credentials from a hook's input. Anything else that looks like a secret stays: the hook may have to judge it. */
  readonly withhold?: Redact
  /** What a failing hook means where it does not say so itself; `forced`: whatever it says, it refuses. */
  readonly hookFailure?: 'refuse' | 'forced'
  /** For hooks that are written for Claude Code; without it they have no transcript. */
  readonly claude?: ClaudeHost
  /** Why no hook at all may run; they are recorded as skipped. */
  readonly disabled?: string
}

/** One plane serves all sessions of a process. */
export function createPlane(handlers: readonly Handler[], options: PlaneOptions = {}): Plane {
  const { env = process.env } = options
  const disabled = options.disabled ?? (env.SDLC_DISABLE_ALL_HOOKS === '1' ? 'hooks_disabled' : undefined)
  return planeOf(handlers, { redact, ...options, env, disabled, done: new Set(), background: new Background() })
}

function planeOf(handlers: readonly Handler[], settled: Settled): Plane {
  const byName = Map.groupBy(orderHandlers(handlers).map(prepare), ({ event }) => event)
  const both = new Map<string, Prepared[]>()

  /** Those of a step and those of the event it raises, in one order. */
  const concerned = (step: StepName, event: EventName | undefined): readonly Prepared[] => {
    const own = byName.get(step)
    const raised = event && byName.get(event)
    if (!own || !raised) return own ?? raised ?? []
    const key = `${step} ${event}`
    const known = both.get(key) ?? [...own, ...raised].sort((a, b) => a.ordinal - b.ordinal)
    both.set(key, known)
    return known
  }

  const commands = callNames.flatMap((name) => byName.get(name) ?? []).filter(({ kind }) => kind === 'command')
  const startLater = async (scope: Scope) => {
    const { startAhead } = loaded ?? (await loadRound())
    startAhead(commands, scope, settled.env)
  }

  /** What a round needs is loaded with the first: most sessions have no hooks. */
  const round = async (asked: readonly Prepared[] = [], subject: Subject, scope: Scope): Promise<Answer> =>
    asked.length === 0 ? quiet : (loaded ?? (await loadRound())).runRound(asked, subject, scope, settled)

  return {
    ask: (name, state, scope, event) => round(concerned(name, event?.name), { step: { name, state }, event }, scope),
    raise: (name, fields, scope) => round(byName.get(name), { event: { name, fields } as Raised }, scope),
    expectCalls(scope) {
      if (commands.length > 0 && settled.disabled === undefined) setTimeout(startLater, requestMs, scope).unref()
    },
    listens: (...names) => names.some((name) => byName.has(name)),
    with: (more) => planeOf([...handlers, ...more], settled),
    close: () => settled.background.close(),
  }
}

type Working = typeof import('./round/round.ts') & typeof import('./handlers/ahead.ts')
let loaded: Working | undefined

async function loadRound(): Promise<Working> {
  loaded = { ...(await import('./round/round.ts')), ...(await import('./handlers/ahead.ts')) }
  return loaded
}

/** What a tool call raises in every case. */
const callNames = ['before_tool_apply', 'PreToolUse', 'after_tool_apply', 'PostToolUse'] as const
/** A request to the model is on its way by then. */
const requestMs = 5

function prepare(handler: Ordered): Prepared {
  const { match, matcher, profile } = handler
  const takesAll = match === undefined && (matcher === '' || matcher === '*')
  const matches = match ? matchesAll : (readMatcher(matcher, profile) ?? matchesNothing)
  return {
    ...handler,
    takesAll,
    matches,
    matchesStep: match ? readStepMatch(match) : (tool) => (tool === undefined ? takesAll : matches(tool)),
    label: labelOf(handler),
  }
}
