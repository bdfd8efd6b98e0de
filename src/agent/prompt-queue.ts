/** Prompts for the user, one at a time and in order: agents that work side by side may prompt at once. */
import type { User } from './events.ts'

/** The last prompt of each user's queue. */
const last = new WeakMap<User, Promise<void>>()

/** `prompt` learns whether it had to wait: what was answered meanwhile may make it unnecessary. */
export async function inPromptQueue<T>(
  user: User,
  signal: AbortSignal,
  prompt: (waited: boolean) => Promise<T>,
): Promise<T> {
  const before = last.get(user)
  const done = Promise.withResolvers<void>()
  const mine = Promise.all([before, done.promise]).then(() => {
    if (last.get(user) === mine) last.delete(user)
  })
  last.set(user, mine)
  try {
    if (before) await unlessAborted(before, signal)
    return await prompt(before !== undefined)
  } finally {
    done.resolve()
  }
}

function unlessAborted(wait: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  const abort = () => resolve()
  signal.addEventListener('abort', abort)
  void wait.then(resolve)
  return promise.finally(() => signal.removeEventListener('abort', abort))
}
