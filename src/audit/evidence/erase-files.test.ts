import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createConversation, createSession, type ParentAgent } from '../../store/conversations.ts'
import { openDb } from '../../store/open.ts'
import { appendEntry } from '../../store/session/transcript.ts'
import { eraseSession } from './erase.ts'
import { removeErasedFiles } from './erase-files.ts'

test('with a session of a sub-agent goes its transcript, and with any session what a process left that died as it wrote', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'ona-erase-files-'))
  const db = openDb(join(home, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(home, { recursive: true, force: true })
  })
  const { id } = createConversation(db, { projectDir: '/p' })
  const said = (parent?: ParentAgent) => {
    const { sessionId } = createSession(db, id, undefined, parent)
    appendEntry(db, sessionId, { _t: 'user', uuid: sessionId, content: [{ type: 'text', text: 'words' }] })
    return sessionId
  }
  const main = said()
  const agent = (parent: string, agentId: string) => said({ sessionId: parent, agentId, agentType: 'scout' })
  const scout = agent(main, 'a1')
  const [deeper] = [agent(scout, 'a2'), agent(main, 'a3')]
  const folder = join(home, '.ona/transcripts/-p')
  mkdirSync(join(folder, main, 'subagents'), { recursive: true })
  const file = `${main}.jsonl`
  const ofAgents = ['a1', 'a2', 'a3', 'of another record'].map((name) => join(main, `subagents/agent-${name}.jsonl`))
  const files = [file, `${file}.77.tmp`, ...ofAgents, `${ofAgents[0]}.78.tmp`]
  for (const each of files) writeFileSync(join(folder, each), 'words')
  const left = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((each) => statSync(join(folder, each)).isFile())
  const without = (gone: string[]) => files.filter((each) => !gone.includes(each)).toSorted()

  assert.deepEqual(removeErasedFiles(db, home), [])
  assert.deepEqual(left().toSorted(), files.toSorted())
  eraseSession(db, deeper!, 'on request')
  removeErasedFiles(db, home)
  assert.deepEqual(left().toSorted(), without([ofAgents[1]!]))
  eraseSession(db, scout, 'on request')
  removeErasedFiles(db, home)
  assert.deepEqual(left().toSorted(), without([ofAgents[0]!, ofAgents[1]!, `${ofAgents[0]}.78.tmp`]))
  eraseSession(db, main, 'on request')
  removeErasedFiles(db, home)
  assert.deepEqual(left(), [])
})
