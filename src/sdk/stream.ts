/** A run as it happens. */
import type { Agent } from './agent-types.ts'
import { type RunOptions, type RunResult, run } from './run.ts'
import type { RunEvent } from './run-event.ts'

export interface RunStream<Answer, Raw = unknown> extends AsyncIterable<RunEvent> {
  /** Settles as `run` does. */
  readonly result: Promise<RunResult<Answer, Raw>>
}

/** Starts at once. Leaving the loop early aborts the run; a run that fails ends the loop with its error. */
export function stream<ContextInput extends object, Answer, Raw>(
  agent: Agent<ContextInput, Answer, Raw>,
  options: RunOptions<ContextInput>,
): RunStream<Answer, Raw> {
  const left = new AbortController()
  const waiting: RunEvent[] = []
  let wake = () => {}
  let over = false
  const result = run(agent, {
    ...options,
    signal: options.signal ? AbortSignal.any([options.signal, left.signal]) : left.signal,
    on(event: RunEvent) {
      waiting.push(event)
      wake()
      options.on?.(event)
    },
  } as RunOptions<ContextInput>).finally(() => {
    over = true
    wake()
  })
  result.catch(() => {}) // reported at the end of the loop, or to whoever awaits the result

  async function* events(): AsyncGenerator<RunEvent> {
    try {
      for (;;) {
        while (waiting.length > 0) yield waiting.shift()!
        if (over) break
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      await result
    } finally {
      left.abort()
    }
  }
  return { result, [Symbol.asyncIterator]: events }
}
