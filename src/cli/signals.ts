/**
 * What ends a program from outside: Ctrl-C, `kill`, a terminal that is closed. Commands and hooks run in groups of their own, which
 * no terminal signals: a command of ours that runs some listens, and ends them.
 */
export const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const satisfies readonly NodeJS.Signals[]

export type EndingSignal = (typeof endingSignals)[number]

/** Calls it for each, until the function that it returns is called. */
export function onEndingSignals(run: (signal: EndingSignal) => void): () => void {
  for (const signal of endingSignals) process.on(signal, run)
  return () => {
    for (const signal of endingSignals) process.removeListener(signal, run)
  }
}

/** Aborted by the first of them; the next one ends this process at once. */
export function untilEndingSignal(): { readonly signal: AbortSignal; release(): void } {
  const stop = new AbortController()
  const release = onEndingSignals(() => {
    release()
    stop.abort()
  })
  return { signal: stop.signal, release }
}
