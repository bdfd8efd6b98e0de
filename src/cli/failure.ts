/** The last words when something was thrown: what is expected to fail is told in its own words, the rest is a bug. */
import { StoreError } from '../store/failure.ts'

export function tellFailure(cause: unknown): number {
  if (cause instanceof StoreError) process.stderr.write(`ona: ${cause.message}\n`)
  else {
    const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
    process.stderr.write(`ona: this is a fault of ours; please report it (/bug)\n${text}\n`)
  }
  return 1
}
