/** `ona audit`: the record as evidence: bring other agents' sessions in, prove that nothing was changed, hand it on. */
import { family } from '../../command.ts'
import type { Verb } from '../../verbs.ts'

const help = `ona audit: every agent's history in one record that cannot be edited unseen.

  ona audit import [AGENT] [PATH]   bring other agents' sessions in
  ona audit verify                  prove that no row was changed, removed or inserted
  ona audit checkpoint              sign the end of the record, to be kept elsewhere
  ona audit export                  the record as JSON lines, OCSF or CSV
  ona audit archive --older-than 90d  compress old conversations into files that can still be read
  ona audit unarchive ID            put a conversation back into the database
  ona audit retain --days N         remove content that is older than N days
  ona audit erase --session ID      remove the content of one session
  ona audit hold CONVERSATION       protect it from being erased, until it is released

Every subcommand has --help with an example.
`

export const run = family<Verb<'audit'>>('ona audit', help, {
  import: async (words) => (await import('./audit-import.ts')).run(words),
  verify: async (words) => (await import('./audit-evidence.ts')).verify(words),
  checkpoint: async (words) => (await import('./audit-evidence.ts')).checkpoint(words),
  export: async (words) => (await import('./audit-evidence.ts')).exporting(words),
  archive: async (words) => (await import('./audit-archive.ts')).archive(words),
  unarchive: async (words) => (await import('./audit-archive.ts')).unarchive(words),
  retain: async (words) => (await import('./audit-retention.ts')).retain(words),
  erase: async (words) => (await import('./audit-retention.ts')).erasing(words),
  hold: async (words) => (await import('./audit-retention.ts')).hold(words),
})
