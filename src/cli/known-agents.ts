/** The agents whose calls are on record, by the names that `--agent` takes. */
import { notKnown } from '../hooks/text/nearest.ts'

/** A misspelt agent has no calls, and a gate that looks at none always passes. */
export async function unknownAgent(given: readonly string[]): Promise<string | undefined> {
  const { historyReaders } = await import('../hosts/history/readers.ts')
  const known = ['ona', 'dispatcher', ...historyReaders.map(({ agent }) => agent)]
  const unknown = given.find((agent) => !known.includes(agent))
  return unknown && `--agent ${notKnown(unknown, known)}`
}
