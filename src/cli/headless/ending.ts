/** Signals that end a headless run: what is under way is interrupted, and the transcript stays whole. */
import { type EndingSignal, onEndingSignals } from '../signals.ts'

export interface Ending {
  readonly signal: AbortSignal
  /** Settles when a signal has arrived. */
  readonly arrived: Promise<void>
  readonly killedBy: number | undefined
  release(): void
}

/** Listens from the first hook on. */
export function endOnSignals(): Ending {
  const { constants } = process.getBuiltinModule('node:os')
  const abort = new AbortController()
  const arrived = Promise.withResolvers<void>()
  let killedBy: number | undefined
  const end = (signal: EndingSignal) => {
    killedBy = constants.signals[signal]
    abort.abort()
    arrived.resolve()
  }
  const release = onEndingSignals(end)
  return {
    signal: abort.signal,
    arrived: arrived.promise,
    get killedBy() {
      return killedBy
    },
    release,
  }
}

/** 128 and the signal's number where one ended the run, as shells count. */
export function exitCode(ending: Ending, code: number): number {
  ending.release()
  return ending.killedBy === undefined ? code : 128 + ending.killedBy
}
