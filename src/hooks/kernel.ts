/**
 * The kernel: asks handlers one after another, or side by side where a policy allows it, each within a time limit, and hands
 * every outcome to the policy in their order. The agent's rounds, the dispatcher and the SDK's hooks are policies over it.
 * Node 20 built-ins only: the dispatcher bundles it.
 */

/** What became of one handler. Exactly one of these reaches the policy for every handler that is concerned. */
export type Outcome<T> =
  | { readonly kind: 'answered'; readonly value: T }
  /** It threw, rejected, or returned what the policy cannot read. */
  | { readonly kind: 'failed'; readonly cause: unknown }
  | { readonly kind: 'timed-out'; readonly afterMs: number; readonly cause?: Error }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'skipped'; readonly why: string }

export interface Question<T> {
  /** Calls the handler. It may return a promise, or any object with `then`. */
  call(waiting: Waiting): unknown
  /** What it returned as an answer; throws where it is none. */
  read(returned: unknown): T
  /** Read when the wait begins: what the handler did before it returned a promise is over by then. */
  readonly limitMs: number
  /** Ends the wait from outside. */
  readonly interrupt?: AbortSignal | undefined
  /** Called when the outcome of a parallel handler is known, which may be before those of earlier ones. */
  ended?(): void
}

/** `true`: ask it. `false`: not concerned. A string: not asked, for this reason, and recorded. */
export type Admission = boolean | string

export interface Policy<H, T, Q extends Question<T> = Question<T>> {
  /** The stop rule: `isDecided` is true once `settle` has said so. */
  admit(handler: H, isDecided: boolean): Admission | Promise<Admission>
  /** Neighbours for which this holds are asked at the same time. None sees what the policy made of the others. */
  isParallel?(handler: H): boolean
  question(handler: H): Q
  /** The failure rule and the record. True: the round is decided. There is no question where it was skipped. */
  settle(handler: H, outcome: Outcome<T>, question: Q | undefined): boolean
}

/**
 * One after another: each sees what the policy made of those before it. Parallel neighbours are asked together and settled in
 * their order. A late answer is dropped.
 */
export async function askInOrder<H, T, Q extends Question<T>>(
  handlers: Iterable<H>,
  policy: Policy<H, T, Q>,
): Promise<void> {
  let isDecided = false
  const together: { handler: H; question: Q | undefined; outcome: Outcome<T> | Promise<Outcome<T>> }[] = []
  const settle = (handler: H, outcome: Outcome<T>, question: Q | undefined) => {
    if (policy.settle(handler, outcome, question)) isDecided = true
  }
  const settleTogether = async () => {
    const faults: unknown[] = []
    for (let next = together.shift(); next; next = together.shift()) {
      const outcome = await next.outcome
      try {
        settle(next.handler, outcome, next.question)
      } catch (fault) {
        faults.push(fault) // the others ran as well, and belong in the record
      }
    }
    if (faults.length > 0) throw faults[0]
  }
  try {
    for (const handler of handlers) {
      const isParallel = policy.isParallel?.(handler) === true
      let admission = policy.admit(handler, isDecided)
      if (typeof admission === 'object') admission = await admission
      if (admission !== false && !isParallel && together.length > 0) {
        await settleTogether()
        admission = await policy.admit(handler, isDecided)
      }
      if (admission === false) continue
      const question = admission === true ? policy.question(handler) : undefined
      const outcome = question ? ask(question) : ({ kind: 'skipped', why: String(admission) } as const)
      if (isParallel) together.push({ handler, question, outcome: noted(question, outcome) })
      else settle(handler, outcome instanceof Promise ? await outcome : outcome, question)
    }
  } finally {
    // also where the policy fails: what was asked belongs in the record
    if (together.length > 0) await settleTogether()
  }
}

async function noted<T>(question: Question<T> | undefined, outcome: Outcome<T> | Promise<Outcome<T>>) {
  const known = await outcome
  question?.ended?.()
  return known
}

/** Asks one handler. Never throws or rejects; only a handler that returned a promise is waited for. */
export function ask<T>(question: Question<T>): Outcome<T> | Promise<Outcome<T>> {
  const waiting = new Waiting()
  try {
    const returned = question.call(waiting)
    if (isThenable(returned)) return inTime(question, Promise.resolve(returned), waiting)
    return answer(question, returned)
  } catch (cause) {
    return failure(cause)
  }
}

function answer<T>(question: Question<T>, returned: unknown): Outcome<T> {
  try {
    return { kind: 'answered', value: question.read(returned) }
  } catch (cause) {
    return failure(cause)
  }
}

function inTime<T>(question: Question<T>, returned: Promise<unknown>, waiting: Waiting): Promise<Outcome<T>> {
  const { interrupt, limitMs } = question
  return new Promise((resolve) => {
    const end = (outcome: Outcome<T>) => {
      clearTimeout(timer)
      interrupt?.removeEventListener('abort', interrupted)
      resolve(outcome)
    }
    const giveUp = (outcome: Outcome<T>) => {
      end(outcome)
      waiting.abort()
    }
    const interrupted = () => giveUp({ kind: 'interrupted' })
    const timer = setTimeout(() => giveUp({ kind: 'timed-out', afterMs: limitMs }), Math.min(limitMs, longestTimer))
    returned.then(
      (value) => end(answer(question, value)),
      (cause) => end(failure(cause)),
    )
    if (interrupt?.aborted) interrupted()
    else interrupt?.addEventListener('abort', interrupted)
  })
}

/** `setTimeout` takes no more; a longer one would fire at once. */
const longestTimer = 2 ** 31 - 1

/** What a handler can watch while it works. The signal is made when it is first looked at: loading it costs time. */
export class Waiting {
  private controller: AbortController | undefined
  private isOver = false

  /** Aborted when nobody waits for the answer any more. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController()
    if (this.isOver) this.controller.abort()
    return this.controller.signal
  }

  abort(): void {
    this.isOver = true
    this.controller?.abort()
  }
}

/** Thrown by a `call` that has enforced the limit itself, such as one that held the thread. */
export class TimeLimit extends Error {
  readonly afterMs: number
  constructor(afterMs: number, message: string) {
    super(message)
    this.afterMs = afterMs
  }
}

const failure = (cause: unknown): Outcome<never> =>
  isA(cause, TimeLimit) ? { kind: 'timed-out', afterMs: cause.afterMs, cause } : { kind: 'failed', cause }

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'

/** Whatever was thrown, as an error with a message. Must not throw: what a handler throws may be any object. */
export function errorOf(cause: unknown): Error {
  try {
    if (isA(cause, Error) && typeof cause.message === 'string') return cause
    return new Error(String(cause), { cause })
  } catch {
    return new Error('an object that cannot be shown', { cause })
  }
}

/** `TypeError: x is not a function`, or what was thrown as text. */
export function describe(cause: unknown): string {
  const error = errorOf(cause)
  try {
    return error === cause ? `${error.name}: ${error.message}` : error.message
  } catch {
    return error.message
  }
}

/** `instanceof` for a value that may be a proxy whose traps throw. */
export function isA<T extends object>(value: unknown, type: new (...args: never[]) => T): value is T {
  try {
    return value instanceof type
  } catch {
    return false
  }
}
