/** How long to wait before asking again, and how often. */

export interface RetryPolicy {
  /** Tries after the first one. */
  readonly most: number
  /** The same, once part of a reply had come: a reply that is cut again and again is paid for again and again. */
  readonly mostAfterOutput: number
  readonly firstMs: number
  readonly longestMs: number
  /** A server that wants a longer wait than this is not waited for. */
  readonly patienceMs: number
}

export const usualRetries: RetryPolicy = {
  most: 10,
  mostAfterOutput: 2,
  firstMs: 500,
  longestMs: 32_000,
  patienceMs: 120_000,
}

/** Milliseconds until the try after `attempt` (from 1), or undefined when there shall be none. */
export function delay(
  policy: RetryPolicy,
  attempt: number,
  { output, retryAfterMs }: { output: boolean; retryAfterMs?: number },
): number | undefined {
  if (attempt > (output ? Math.min(policy.mostAfterOutput, policy.most) : policy.most)) return undefined
  if (retryAfterMs !== undefined) return retryAfterMs > policy.patienceMs ? undefined : retryAfterMs
  const full = Math.min(policy.firstMs * 2 ** (attempt - 1), policy.longestMs)
  return Math.round(full * (0.75 + Math.random() / 4))
}

/** False when the wait was interrupted. */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const end = (whole: boolean) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      resolve(whole)
    }
    const stop = () => end(false)
    const timer = setTimeout(() => end(true), ms)
    signal.addEventListener('abort', stop)
  })
}
