import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
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

test('only the user can read it, and secrets are redacted', (t) => {
  const { home, db, sessionId, mirror, file, of, lines } = prepared(t)
  const key = `sk-ant-${'x'.repeat(24)}`
  appendEntry(db, sessionId, { _t: 'user', uuid: 'u', content: [{ type: 'text', text: `the key is ${key} "quoted"` }] })
  mirror.sync(file, of)
  assert.deepEqual([statSync(file).mode & 0o777, statSync(join(home, '.ona/transcripts')).mode & 0o777], [0o600, 0o700])
  assert.equal(lines()[0].message.content, 'the key is [redacted] "quoted"')
})

test('another process adds to the file, and rewrites one that does not end as the record says', (t) => {
  const { home, db, sessionId, file, of, lines } = prepared(t)
  const other = () => new TranscriptMirror(db, home)
  const say = (text: string) =>
    appendEntry(db, sessionId, { _t: 'user', uuid: text, content: [{ type: 'text', text }] })
  const said = () => lines().map(({ message }) => message.content)
  say('one')
  const [first, second] = [other(), other()]
  first.sync(file, of)
  const { ino } = statSync(file)
  say('two')
  second.sync(file, of)
  first.sync(file, of)
  second.sync(file, of)
  assert.deepEqual([said(), statSync(file).ino], [['one', 'two'], ino])
  const whole = readFileSync(file, 'utf8')
  for (const found of [
    '',
    'null\n',
    'words\n',
    whole.slice(0, -1),
    whole.slice(0, -5),
    whole.replace('"two"', '"2"'),
    whole.replaceAll('0000000002"', '0000000009"'),
  ]) {
    writeFileSync(file, found)
    other().sync(file, of)
    assert.equal(readFileSync(file, 'utf8'), whole)
  }
  db.run(`UPDATE transcript_entries SET payload_json = json_set(payload_json, '$.content[0].text', '[erased]')`)
  other().sync(file, of)
  assert.deepEqual(said(), ['[erased]', '[erased]'])
})

test('a reply of several lines is gone on after, and a very long line is written again with all others', (t) => {
  const { home, db, sessionId, file, of, lines } = prepared(t)
  const reply = (...texts: string[]) =>
    appendEntry(db, sessionId, {
      ...{ _t: 'assistant', uuid: 'a', content: texts.map((text) => ({ type: 'text', text })) },
    })
  const sync = () => new TranscriptMirror(db, home).sync(file, of)
  const inode = () => statSync(file).ino
  reply('one', 'two')
  sync()
  const before = inode()
  reply('three')
  sync()
  assert.equal(inode(), before)
  reply('x'.repeat(5 * 1_048_576))
  sync()
  assert.equal(inode(), before)
  reply('four')
  sync()
  assert.deepEqual(
    lines().map(({ message }) => message.content[0].text.slice(0, 5)),
    ['one', 'two', 'three', 'xxxxx', 'four'],
  )
  assert.notEqual(inode(), before)
})
