/** The last words when something was thrown: an expected failure in its own words, the rest as a bug. */
import { Problem } from '../files/problem.ts'
import { StoreError } from '../store/failure.ts'
import { failed } from './print.ts'

export function tellFailure(cause: unknown): number {
  if (cause instanceof StoreError || cause instanceof Problem) return failed(cause.message)
  if ((cause as NodeJS.ErrnoException | undefined)?.syscall === 'uv_cwd')
    return failed('the folder that ona was started in is gone; change into another one, or say --cwd DIR')
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
  return failed(`this is a bug in ona; please report it (/bug)\n${text}`)
}
