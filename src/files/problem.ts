/** What a user can put right: a broken file, an unknown name, two claims to one thing. */
export class Problem extends Error {
  override readonly name = 'Problem'
}

/** The problem if that is what it is; anything else is our own mistake and goes on up. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown
  throw thrown
}

/** What somebody else's code threw, in words: an Error's message, or the thing itself. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))
