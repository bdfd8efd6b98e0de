/** The algorithm: modules run in order, and their answers are merged into one. */
import { askInOrder, errorOf, isA, type Outcome, type Policy, TimeLimit } from '../hooks/kernel.ts'
import { BadAction, readAction } from './action.ts'
import { contextFor } from './context.ts'
import { namesTool } from './host/tools.ts'
import { late, sha256 } from './lazy-builtins.ts'
import type { Seat } from './load-modules.ts'
import { elapsed, emit, logLine, patchState, type Run, register, warn } from './run.ts'
import type { Session } from './session/session.ts'
import { summarise } from './summary.ts'
import type { Context, Decision, HookAction, Json } from './types.ts'

/** In order of priority, until one denies or asks, or the budget is spent on all but the critical ones. */
export async function askModules(run: Run, seats: readonly Seat[]): Promise<void> {
  const asked: [Seat, Context][] = []
  for (const seat of seats) if (seat.critical) run.awaited.add(seat.name)
  await askInOrder(seats, policyOf(run, asked))
  run.awaited.clear()
  if (run.session.event.name === 'PreToolUse') {
    judgeByPhase(run)
    if (run.unseen && run.decision === 'allow')
      decide(run, 'ask', 'dispatcher', 'the call could not be read, so no guard has checked it')
    for (const [seat, ctx] of asked) settle(run, seat, ctx)
    recordDecision(run)
  }
  if (run.budgetExceeded) blockOnBudget(run)
}

/** Contract §12.2: the budget cap blocks the work, where the phase is tracked. What starts or unblocks work does not. */
function blockOnBudget(run: Run): void {
  const { event, state } = run.session
  const { phase } = state.core
  const config = run.config['session'] as Json | undefined
  if (!run.ran.includes('session') || config?.['blockOnBudget'] === false) return
  if (event.name === 'SessionStart' || event.name === 'UserPromptSubmit') return
  if (phase === 'BLOCKED' || phase === 'COMPLETE') return
  patchState(run, 'dispatcher', { core: { phase: 'BLOCKED', prevPhase: phase } })
  const data = { from: phase, to: 'BLOCKED', trigger: 'budget cap' }
  emit(run, 'dispatcher', { kind: 'PHASE_TRANSITION', phase: 'BLOCKED', data })
}

/** The dispatcher over the kernel: one budget for all, and a critical module that fails refuses the call. */
const policyOf = (run: Run, asked: [Seat, Context][]): Policy<Seat, HookAction> => ({
  admit(seat, isDecided) {
    if (isDecided) return false
    const spent = run.budgetExceeded || elapsed(run) > run.budgetMs
    return !spent || seat.critical || 'the budget is spent'
  },
  question: (seat) => ({
    call() {
      if (!seat.module) throw seat.failure
      const { module } = seat
      const ctx = contextFor(run, seat.name)
      run.ran.push(seat.name)
      asked.push([seat, ctx])
      return orCrash(
        run,
        letGo(run, seat, () => module.handle(run.session.event.name, ctx)),
      )
    },
    read: readAction,
    get limitMs() {
      return left(run)
    },
  }),
  settle(seat, outcome) {
    run.crash = undefined
    if (outcome.kind === 'skipped' || outcome.kind === 'timed-out') exceeded(run, seat.name)
    if (outcome.kind === 'skipped') return false
    const goesOn =
      outcome.kind === 'answered' ? take(run, seat.name, outcome.value) : failed(run, seat, failureOf(run, outcome))
    run.awaited.delete(seat.name)
    return !goesOn
  },
})

function failureOf(run: Run, outcome: Outcome<HookAction>): unknown {
  if (outcome.kind === 'failed') return outcome.cause
  return (outcome.kind === 'timed-out' && outcome.cause) || new Error(`gave no answer in ${run.budgetMs} ms`)
}

/** What is left of the budget. A critical module that runs late still gets a little time. */
const left = (run: Run): number => Math.ceil(Math.max(run.budgetMs - elapsed(run), 50))

/** Runs the part of a module that holds the thread. One of the user's own is cut off there, even in the midst of a loop. */
function letGo<T>(run: Run, seat: Seat, work: () => T): T {
  if (!seat.own) return work()
  const ms = left(run)
  Object.assign(globalThis, { onaWork: work })
  try {
    return new (late('node:vm').Script)('onaWork()').runInThisContext({ timeout: ms, displayErrors: false })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw cause
    throw new TimeLimit(ms, `held the thread for ${ms} ms`)
  }
}

/** A module that is being waited for fails when an error of its own reaches the process. */
function orCrash(run: Run, returned: unknown): unknown {
  if (typeof returned !== 'object' || returned === null || !('then' in returned)) return returned
  const crashed = new Promise<never>((_, reject) => {
    run.crash = reject
  })
  return Promise.race([returned, crashed])
}

function exceeded(run: Run, module: string): void {
  if (run.budgetExceeded) return
  run.budgetExceeded = true
  const data = { module, elapsedMs: Math.round(elapsed(run)), budgetMs: run.budgetMs, pid: process.pid }
  emit(run, 'dispatcher', { kind: 'BUDGET_EXCEEDED', data })
  logLine(run, module, 'warn', `Budget exceeded at module ${module}`, data)
}

/** Takes a module's answer in; false ends the round. */
function take(run: Run, module: string, action: HookAction): boolean {
  const { session, manifest } = run
  const before = session.event.name === 'PreToolUse'
  for (const warning of action.warnings ?? []) warn(run, module, warning)
  for (const item of action.additionalContext ?? []) run.context.push({ key: item.key, value: item.value })
  if (action.statePatch) patchState(run, module, action.statePatch)
  for (const record of action.emitEvents ?? []) emit(run, module, record)
  for (const artifact of action.registerArtifacts ?? []) register(run, module, artifact as unknown as Json)
  if (action.metrics) emit(run, module, { kind: 'METRICS', data: action.metrics })
  if (action.stop && run.stop === undefined) run.stop = action.stop.reason
  if (action.block && run.block === undefined && canBlock(session.event)) run.block = action.block.reason
  if (!before) return true

  if (action.inputMetadata) stamp(run, module, action.inputMetadata)
  if (action.updatedInput) {
    if (module !== manifest.rewriteOwner.updatedInput)
      warn(
        run,
        module,
        `${module} does not own updatedInput (${manifest.rewriteOwner.updatedInput} does); its rewrite is left out`,
      )
    else run.updatedInput ??= action.updatedInput
  }
  if (action.decision === 'allow') run.approved = true
  if (action.decision !== 'deny' && action.decision !== 'ask') return true
  decide(
    run,
    action.decision,
    module,
    action.denyReason || action.warnings?.join('; ') || `${module} says ${action.decision}`,
  )
  return false
}

/** A stop that was already held up once is let go: otherwise the agent could never end. */
const canBlock = (event: Session['event']): boolean =>
  event.name === 'PostToolUse' ||
  event.name === 'UserPromptSubmit' ||
  ((event.name === 'Stop' || event.name === 'SubagentStop') && event.stopHookActive !== true)

function stamp(run: Run, module: string, metadata: Json): void {
  const owner = run.manifest.rewriteOwner.inputMetadata
  if (module !== owner) {
    warn(run, module, `${module} does not own inputMetadata (${owner} does); its stamps are left out`)
    return
  }
  for (const [key, value] of Object.entries(metadata)) {
    if (key.startsWith('_hook') && (typeof value !== 'object' || value === null)) run.inputMetadata[key] = value
    else warn(run, module, `stamp ${key} is left out: stamps are plain values under _hook… keys`)
  }
}

function decide(run: Run, decision: Decision, by: string, reason: string): void {
  run.decision = decision
  run.decidedBy = by
  run.reason = reason
}

/** A module that threw, timed out, could not be loaded or returned nonsense. False ends the round. */
function failed(run: Run, seat: Seat, cause: unknown): boolean {
  const error = errorOf(cause)
  const message = error.message.slice(0, 500)
  emit(run, seat.name, {
    kind: seat.critical ? 'ERROR_MODULE_CRITICAL' : 'ERROR_MODULE',
    error: { module: seat.name, message, stackHash: sha256(`${error.stack ?? message}`, 8) },
    data: { pid: process.pid },
  })
  run.warnings.push(`module ${seat.name} failed: ${message}`)
  logLine(run, seat.name, 'error', message)
  const goesOn = !isA(cause, BadAction) || take(run, seat.name, cause.refusal)
  if (!goesOn || !seat.critical) return goesOn
  if (run.session.event.name === 'PreToolUse')
    decide(
      run,
      'deny',
      seat.name,
      `the critical module ${seat.name} failed (${message}), so the call is refused; run: ona dispatcher doctor`,
    )
  return false
}

/** The phase before the call decides, and only over a call that every module let through. */
function judgeByPhase(run: Run): void {
  const { manifest, session } = run
  if (!manifest.enforcePhases || run.decision !== 'allow') return
  const phase = session.snapshot.core.phase
  const rule = manifest.phasePolicy[phase]
  if (!rule || rule.mode === 'allow' || rule.allowTools === '*') return
  if (rule.allowTools.some((tool) => namesTool(tool, session.event))) return
  const text = `${session.event.toolName ?? 'this call'} is not allowed in phase ${phase} (dispatch.manifest.json, phasePolicy)`
  if (rule.mode === 'warn') warn(run, 'dispatcher', text)
  else decide(run, 'deny', 'phase-policy', text)
}

function settle(run: Run, seat: Seat, ctx: Context): void {
  if (!seat.module?.settled) return
  try {
    const { settled } = seat.module
    const outcome = { decision: run.decision, decidedBy: run.decidedBy }
    const action = readAction(letGo(run, seat, () => settled(ctx, outcome)))
    if (action.statePatch) patchState(run, seat.name, action.statePatch)
    for (const record of action.emitEvents ?? []) emit(run, seat.name, record)
  } catch (cause) {
    failed(run, { ...seat, critical: false }, cause) // the decision has been made
  }
}

function recordDecision(run: Run): void {
  const { event } = run.session
  const config = run.config['session'] as Json | undefined
  emit(run, 'dispatcher', {
    kind: 'TOOL_DECISION',
    ...(event.toolName !== undefined && { toolName: event.toolName.slice(0, 200) }),
    decision: run.decision,
    ...(run.reason && { reason: run.reason }),
    data: {
      decidedBy: run.decidedBy,
      ...(event.toolUseId !== undefined && { toolUseId: event.toolUseId.slice(0, 200) }),
      toolInput: summarise(event.toolInput, config?.['redactKeys']),
      modules: run.ran,
    },
  })
}
