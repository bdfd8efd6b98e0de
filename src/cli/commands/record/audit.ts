/** `ona audit import`: the logs of other agents' hooks into the database, so that one place holds what all of them did. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { command, family } from '../../command.ts'
import { failed, said, saidJson, warned, wrong } from '../../print.ts'
import type { Verb } from '../../table.ts'

const help = `ona audit: what other agents did, in the same database.

  ona audit import DIR    bring a dispatcher's logs (<repository>/.ai/tmp) in; what is already there is not added twice

  --project DIR     the repository the logs belong to (default: two folders above DIR)
  --json            print the counts as JSON

Example:
  ona audit import .ai/tmp
`

const importLogs = command(
  'ona audit import',
  { help, flags: { project: 'value', json: 'flag' }, words: 1 },
  async ({ project, json }, [given]) => {
    if (given === undefined) return wrong('ona audit import', 'name the folder of the logs')
    const folder = resolve(given)
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      return failed(`${folder} is not a folder; the dispatcher keeps its logs in <repository>/.ai/tmp`)
    const { dbPath, openDb } = await import('../../../store/open.ts')
    const { importDispatcher } = await import('../../../audit/import/dispatcher.ts')
    const db = openDb(dbPath())
    try {
      const { problems, ...counts } = importDispatcher(db, folder, project === undefined ? undefined : resolve(project))
      if (json) saidJson({ ...counts, problems })
      else {
        const { decisions, events, sessions, torn } = counts
        said(`${decisions} decisions and ${events} events of ${sessions} sessions imported into ${db.path}`)
        if (torn > 0) said(`${torn} lines were cut off by a crash and left out`)
      }
      for (const problem of problems) warned(problem)
      return problems.length === 0 ? 0 : 1
    } finally {
      db.close()
    }
  },
)

export const run = family<Verb<'audit'>>('ona audit', help, { import: importLogs })
