import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createConversation, createSession } from '../../store/conversations.ts'
import { openDb } from '../../store/open.ts'
import { appendEntry } from '../../store/session/transcript.ts'
import { TranscriptMirror } from './transcript-mirror.ts'

function prepared(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), 'ona-mirror-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const db = openDb(join(home, 'agent.db'))
  t.after(() => db.close())
  const { sessionId } = createSession(db, createConversation(db, { projectDir: '/a/b.c' }).id)
  const mirror = new TranscriptMirror(db, home)
  const file = mirror.fileOf('/a/b.c', sessionId)
  const of = { sessionId, sessionName: sessionId, cwd: '/a/b.c', model: 'm', version: '1' }
  const lines = () =>
    readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  return { home, db, sessionId, mirror, file, of, lines }
}

test('the file has Claude Code’s lines, in order and chained, and grows by what is new', (t) => {
  const { home, db, sessionId, mirror, file, of, lines } = prepared(t)
  assert.equal(file, join(home, '.ona/transcripts/-a-b-c', `${sessionId}.jsonl`))
  appendEntry(db, sessionId, { _t: 'user', uuid: 'u', content: [{ type: 'text', text: 'go' }] })
  mirror.sync(file, of)
  const before = statSync(file).ino
  const use = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } } as const
  appendEntry(db, sessionId, { _t: 'assistant', uuid: 'a', content: [{ type: 'text', text: 'I will.' }, use] })
  appendEntry(db, sessionId, { _t: 'tool_result', tool_use_id: 't1', content: 'a.txt', is_error: false })
  mirror.sync(file, of)
  mirror.sync(file, of)
  assert.equal(statSync(file).ino, before)
  const all = lines()
  assert.deepEqual(
    all.map(({ type, message }) => [type, message.role, message.content]),
    [
      ['user', 'user', 'go'],
      ['assistant', 'assistant', [{ type: 'text', text: 'I will.' }]],
      ['assistant', 'assistant', [use]],
      ['user', 'user', [{ tool_use_id: 't1', type: 'tool_result', content: 'a.txt', is_error: false }]],
    ],
  )
  assert.deepEqual(
    all.map(({ parentUuid }) => parentUuid),
    [null, ...all.slice(0, -1).map(({ uuid }) => uuid)],
  )
  assert.equal(new Set(all.map(({ uuid }) => uuid)).size, 4)
})

test('only the user can read it, secrets are redacted, and another process rewrites it', (t) => {
  const { home, db, sessionId, mirror, file, of, lines } = prepared(t)
  const key = `sk-ant-${'x'.repeat(24)}`
  appendEntry(db, sessionId, { _t: 'user', uuid: 'u', content: [{ type: 'text', text: `the key is ${key} "quoted"` }] })
  mirror.sync(file, of)
  assert.deepEqual([statSync(file).mode & 0o777, statSync(join(home, '.ona/transcripts')).mode & 0o777], [0o600, 0o700])
  assert.equal(lines()[0].message.content, 'the key is [redacted] "quoted"')
  new TranscriptMirror(db, home).sync(file, of)
  assert.equal(lines().length, 1)
})
