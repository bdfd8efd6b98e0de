/** `ona --init-db`: makes the database. */
import { createConversation, createSession, newestConversation } from '../../store/conversations.ts'
import { dbPath, openDb } from '../../store/open.ts'

export function run(words: string[]): number {
  const unknown = words.find((word) => word !== '--json' && word !== '--help' && word !== '-h')
  if (unknown !== undefined) {
    process.stderr.write(`ona --init-db: "${unknown}" is not known here; ona --init-db --help shows what is\n`)
    return 2
  }
  if (words.includes('--help') || words.includes('-h')) {
    process.stdout.write(help)
    return 0
  }
  const db = openDb(dbPath())
  const created = db.transaction(() => {
    if (newestConversation(db)) return false
    createSession(db, createConversation(db, { projectDir: process.cwd() }).id)
    return true
  })
  db.close()
  process.stdout.write(words.includes('--json') ? `${JSON.stringify({ path: db.path, created })}\n` : `${db.path}\n`)
  return 0
}

const help = `ona --init-db makes the database with one idle conversation, and prints its path. On a database that is
there already it changes nothing.

  ona --init-db                                      ~/.ona/agent.db
  AGENT_SDLC_DB=/srv/agent.db ona --init-db          another place; the path must be absolute
  ona --init-db --json                               {"path":"…","created":true}
`
