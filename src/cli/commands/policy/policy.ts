/** `ona policy`: rules that the record calls for, and policies to start from. */
import { family } from '../../command.ts'
import type { Verb } from '../../verbs.ts'

const help = `ona policy proposes rules and policies; nothing is changed unless you say so.

  ona policy suggest                 rules that would have removed prompts, each tried on the record
  ona policy new "no force pushes"   a policy to start from, with a rehearsal that proves it
  ona policy list                    the policies to start from
  ona policy guard FILE              apply the rules of a file to one call, as a hook of any agent

Every subcommand has --help with an example.
`

export const run = family<Verb<'policy'>>('ona policy', help, {
  suggest: async (words) => (await import('./suggest.ts')).run(words),
  new: async (words) => (await import('./new.ts')).run(words),
  list: async (words) => (await import('./new.ts')).list(words),
  guard: async (words) => (await import('./guard.ts')).run(words),
})
