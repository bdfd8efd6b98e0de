/** `ona hooks`: one file per verb, loaded on demand. */
import { family } from '../../command.ts'
import type { Verb } from '../../verbs.ts'

const help = `ona hooks: what runs before and after every action of an agent.

  ona hooks list                                every hook in force, in the order it runs, and where it came from
  ona hooks fire PreToolUse --input call.json   run the hooks on an event that you supply, and show their answers
  ona hooks log                                 which hooks ran, and their verdicts
  ona hooks replay --rule 'deny:Bash(rm *)'     how other rules or hooks would have decided the calls on record
  ona hooks brains                              which agents are here, which role hooks they have, and what differs
  ona hooks import claudecode                   make a role from the hooks that you have in an agent
`

export const run = family<Verb<'hooks'>>('ona hooks', help, {
  list: async (words) => (await import('./plane.ts')).list(words),
  fire: async (words) => (await import('./plane.ts')).fire(words),
  log: async (words) => (await import('./log.ts')).log(words),
  replay: async (words) => (await import('./replay.ts')).replay(words),
  brains: async (words) => (await import('./brains.ts')).brains(words),
  import: async (words) => (await import('./brains.ts')).importHooks(words),
})
