/**
 * Keeps the hooks of calls that run side by side in their order. A call asks hooks of its session before `started` and after
 * `turn`, and none between them.
 */
export interface Pace {
  readonly signal: AbortSignal
  started(): void
  /** Waits until the calls before it are finished. */
  turn(): Promise<void>
}
