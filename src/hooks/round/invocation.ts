/** The row that the audit keeps of a handler that was asked, or passed over. Secrets do not get into it. */
import type { Ordered } from '../order.ts'
import type { Invocation } from '../plane.ts'
import type { Redact } from '../secrets/redact.ts'

export type Outcome = Pick<Invocation, 'exitCode' | 'stdout' | 'stderr' | 'startedAt' | 'completedAt' | 'skippedReason'>

/** The warning of an event's row that is no failure. */
export const textBeforeJson = 'printed text before its JSON, so the JSON was not read; print nothing else on stdout'

export const now = (): string => new Date().toISOString()

/** Of a handler that was passed over. */
export const notAsked = (skippedReason: string): Outcome => ({
  exitCode: null,
  stdout: null,
  stderr: null,
  startedAt: now(),
  completedAt: null,
  skippedReason,
})

export function invocationOf(
  { event, ordinal, matcher, label }: Ordered & { readonly label: string },
  about: Pick<Invocation, 'toolUseId' | 'toolName' | 'inputJson'>,
  { stdout, stderr, ...outcome }: Outcome,
  redact: Redact,
): Invocation {
  return {
    event,
    ordinal,
    matcher,
    command: redact(label),
    ...about,
    stdout: stdout && redact(stdout),
    stderr: stderr && redact(stderr),
    ...outcome,
  }
}
