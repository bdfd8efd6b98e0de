/** `ona audit`: the record as evidence: bring other agents' sessions in, prove that nothing was changed, hand it on. */
import { family } from '../../command.ts'
import type { Verb } from '../../table.ts'

const help = `ona audit: every agent's history in one record.

  ona audit import [AGENT] [PATH]   bring other agents' sessions in

ona audit VERB --help says more.
`

export const run = family<Verb<'audit'>>('ona audit', help, {
  import: async (words) => (await import('./audit-import.ts')).run(words),
})
