/** What `ona audit archive` and `ona audit unarchive` say they did is what they did. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { place } from '../../../../test/support/program.ts'
import { archiveConversation, settleArchives } from '../../../store/archive/archive.ts'
import { createConversation, createSession } from '../../../store/conversations.ts'
import { inMemory, openDb } from '../../../store/open.ts'
import { appendEntry } from '../../../store/session/transcript.ts'
import { setState } from '../../../store/state.ts'
import { isWorthIt } from './audit-archive.ts'

test('the database is not said to be smaller when it is not; what is put back counts once', async (t) => {
  const here = place(t)
  mkdirSync(dirname(here.db), { recursive: true })
  const db = openDb(here.db)
  createConversation(db, { projectDir: '/', id: 'old' })
  createSession(db, 'old', 's')
  appendEntry(db, 's', { _t: 'system', subtype: 'x' })
  db.run("UPDATE conversations SET last_active = '2020-01-01 00:00:00'")
  db.close()
  const archived = await here.run(['audit', 'archive', '--older-than', '90d', '--no-vacuum'])
  assert.match(archived.stdout, /^moved 1 row of 1 conversation to agent\.db-archive-\d{8}T\d{6}\.zst \(\d+ bytes\)\n$/)
  const restored = await here.run(['audit', 'unarchive', 'old', 'old'])
  assert.deepEqual([restored.code, restored.stdout], [0, 'restored 1 conversation\n'])
})

test('where no conversation can be archived, the last line does not say that there is none', async (t) => {
  const here = place(t)
  mkdirSync(dirname(here.db), { recursive: true })
  const db = openDb(here.db)
  createConversation(db, { projectDir: '/', id: 'old' })
  createSession(db, 'old', 's')
  appendEntry(db, 's', { _t: 'system', subtype: 'x' })
  db.run("UPDATE conversations SET last_active = '2020-01-01 00:00:00'")
  db.run("UPDATE transcript_entries SET payload_json = '{}'")
  db.close()
  const { code, stdout, stderr } = await here.run(['audit', 'archive', '--older-than', '90d', '--no-vacuum'])
  assert.deepEqual([code, stdout], [1, 'nothing was archived\n'])
  assert.match(stderr, /^ona: conversation old .*\n$/)
})

test('an archive that is damaged keeps no other conversation from being put back', async (t) => {
  const here = place(t)
  const folder = dirname(here.db)
  mkdirSync(folder, { recursive: true })
  const db = openDb(here.db)
  for (const id of ['lost', 'kept']) {
    createConversation(db, { projectDir: '/', id })
    createSession(db, id, `s-${id}`)
    appendEntry(db, `s-${id}`, { _t: 'system', subtype: 'x' })
    archiveConversation(db, id, `agent.db-archive-${id}.zst`)
  }
  settleArchives(db)
  db.close()
  rmSync(join(folder, 'agent.db-archive-lost.zst'))
  const { code, stdout, stderr } = await here.run(['audit', 'unarchive', '--all', '--json'])
  assert.deepEqual([code, JSON.parse(stdout)], [1, { conversations: 1, skipped: 1 }])
  assert.match(
    stderr,
    /^ona: conversation lost stays archived: the archive \S+lost\.zst cannot be read: there is no such file; restore it from a copy\n$/,
  )
  const there = here.rows<{ session: string }>('SELECT session_id AS session FROM transcript_entries')
  assert.deepEqual(
    there.map(({ session }) => session),
    ['s-kept'],
  )
  assert.equal(existsSync(join(folder, 'agent.db-archive-kept.zst')), false)
})

test('pages that an earlier archive left free are given back later, although nothing is left to archive', async (t) => {
  const here = place(t)
  mkdirSync(dirname(here.db), { recursive: true })
  const db = openDb(here.db)
  createConversation(db, { projectDir: '/', id: 'old' })
  createSession(db, 'old', 's')
  for (let n = 0; n < 50; n++) appendEntry(db, 's', { _t: 'system', subtype: 'x', text: 'x'.repeat(40_000) })
  db.run("UPDATE conversations SET last_active = '2020-01-01 00:00:00'")
  db.close()
  const size = () => statSync(here.db).size
  await here.run(['audit', 'archive', '--older-than', '90d', '--no-vacuum'])
  const before = size()
  const { stdout } = await here.run(['audit', 'archive', '--older-than', '90d'])
  assert.match(stdout, /^there is nothing to archive; the database is [12]\.\d MB smaller\n$/)
  assert.ok(size() < before / 2)
  assert.equal((await here.run(['audit', 'archive', '--older-than', '90d'])).stdout, 'there is nothing to archive\n')
})

test('a large file is not copied while another process is in the middle of a turn', {
  skip: process.platform !== 'linux',
}, (t) => {
  const said = t.mock.method(process.stderr, 'write', () => true)
  const db = openDb(inMemory)
  t.after(() => db.close())
  createConversation(db, { projectDir: '/', id: 'c' })
  const isWorth = (quickly: number) => isWorthIt(db, quickly)
  assert.equal(isWorth(0), false, 'no page is free')
  db.run('CREATE TABLE ballast(text)')
  db.run('INSERT INTO ballast VALUES (zeroblob(1000000))')
  db.run('DROP TABLE ballast')
  assert.equal(isWorth(0), true)
  const begun = readFileSync(`/proc/${process.ppid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[19]
  setState(db, 'c', 'working:s', `${process.ppid} ${begun}`)
  assert.deepEqual([isWorth(0), isWorth(Infinity)], [false, true])
  setState(db, 'c', 'working:s', `${process.ppid} 1`)
  assert.equal(isWorth(0), true, 'that process is gone')
  assert.equal(said.mock.callCount(), 1)
})
