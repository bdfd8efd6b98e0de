/** `ona --init-db`: makes the database. */
import { createConversation, createSession, newestConversation } from '../../../store/conversations.ts'
import { dbPath, openDb } from '../../../store/open.ts'
import { command } from '../../command.ts'
import { said, saidJson } from '../../print.ts'

const help = `ona --init-db makes the database with one idle conversation, and prints its path. On a database that is
there already it changes nothing.

  ona --init-db                                      ~/.ona/agent.db
  AGENT_SDLC_DB=/srv/agent.db ona --init-db          another place; the path must be absolute
  ona --init-db --json                               {"path":"…","created":true}
`

export const run = command('ona --init-db', { help, flags: { json: 'flag' } }, ({ json }) => {
  const db = openDb(dbPath())
  const created = db.transaction(() => {
    if (newestConversation(db)) return false
    createSession(db, createConversation(db, { projectDir: process.cwd() }).id)
    return true
  })
  db.close()
  return json ? saidJson({ path: db.path, created }) : said(db.path)
})
