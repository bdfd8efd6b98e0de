import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConversation, createSession } from '../../store/conversations.ts'
import { inMemory, openDb, type ReadDb } from '../../store/open.ts'
import { TurnEnds } from './turn-ends.ts'

test('rows belong to the turn that had not ended before them, and the end of a turn is read once', (t) => {
  const db = openDb(inMemory)
  t.after(() => db.close())
  createConversation(db, { projectDir: '/', id: 'c' })
  for (const session of ['s', 'other']) createSession(db, 'c', session)
  const add = (session: string, type: string, second: number) =>
    db.run(
      'INSERT INTO events(conversation_id, session_id, event_type, timestamp) VALUES (?, ?, ?, ?)',
      ...['c', session, type, `2026-01-01 00:00:0${second}`],
    ).lastId
  const read: number[] = []
  const watched = {
    arrays(sql: string, ...values: never[]) {
      const rows = db.arrays<[number, string]>(sql, ...values)
      read.push(...rows.map(([id]) => id))
      return rows
    },
  } as Partial<ReadDb> as ReadDb
  const first = add('s', 'turn_end', 1)
  const start = add('s', 'tool_start', 2)
  const elsewhere = add('other', 'turn_end', 2)
  const second = add('s', 'turn_end', 3)
  const ends = new TurnEnds()
  ends.begin()
  const turns = (ids: number[]) => ids.map((id) => ends.beforeEvent(watched, 's', id))
  assert.deepEqual(turns([first, start, second, second + 1]), [0, 1, 1, 2])
  assert.deepEqual(
    [1, 2, 4].map((at) => ends.beforeTime(watched, 's', `2026-01-01 00:00:0${at}`)),
    [0, 1, 2],
  )
  assert.deepEqual(
    [0, 1, 2].map((turn) => ends.lastEnd(watched, 's', turn)),
    [undefined, '2026-01-01 00:00:01', '2026-01-01 00:00:03'],
  )
  ends.begin()
  const third = add('s', 'turn_end', 5)
  assert.deepEqual([...turns([third + 1]), ends.beforeEvent(watched, 'other', third)], [3, 1])
  assert.deepEqual(read, [first, second, third, elsewhere])
})
