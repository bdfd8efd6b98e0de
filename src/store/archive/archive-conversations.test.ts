import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Db, StoreError } from '../open.ts'
import { archiveConversations } from './archive-conversations.ts'

type Result = { rows: number; bytes: number } | Error

/** A record whose transactions end like this, one after another. */
function recordWith(...results: Result[]) {
  const asked: string[] = []
  const db = {
    path: '/agent.db',
    get: (sql: string) => void asked.push(sql),
    all: (sql: string) => (sql.includes('FROM conversations') ? [{ id: 'old enough' }] : []),
    run() {},
    snapshot() {},
    transaction() {
      const result = results.shift()
      if (result instanceof Error) throw result
      return result
    },
  } as unknown as Db
  return { db, checkpoints: () => asked.filter((sql) => sql.includes('checkpoint')), left: () => results.length }
}
const full = new StoreError('disk-full', 'the disk is full')
const archive = (db: Db, ids: string[]) => {
  const warnings: string[] = []
  const heard: number[] = []
  const reports = { warn: (text: string) => warnings.push(text), onDone: (done: number) => heard.push(done) }
  return { ...archiveConversations(db, ids, 'old.zst', 'before', reports), warnings, heard }
}

test('conversations are counted that had rows; one that is damaged stays, and the others are moved', () => {
  const { db, checkpoints } = recordWith(
    { rows: 3, bytes: 10 },
    { rows: 0, bytes: 0 },
    new StoreError('damaged', 'events row 2 is not as it was written'),
    { rows: 1, bytes: 20 },
  )
  assert.deepEqual(archive(db, ['a', 'b', 'c', 'd']), {
    ...{ conversations: 2, rows: 4, bytes: 30, skipped: 1 },
    warnings: ['conversation c stays in the database: events row 2 is not as it was written'],
    heard: [1, 2, 4],
  })
  assert.deepEqual(checkpoints(), [])
})

test('on a full disk the log is emptied and the work tried once more; if that does not help, all that are left stay', () => {
  const again = recordWith(full, { rows: 3, bytes: 10 }, full, full, { rows: 1, bytes: 1 })
  assert.deepEqual(archive(again.db, ['a', 'b', 'c', 'd']), {
    ...{ conversations: 1, rows: 3, bytes: 10, skipped: 3 },
    warnings: ['3 conversations stay in the database: the disk is full'],
    heard: [1],
  })
  assert.deepEqual([again.checkpoints().length, again.left()], [2, 1])
  const last = recordWith(full, full)
  assert.deepEqual(archive(last.db, ['a']).warnings, ['conversation a stays in the database: the disk is full'])
})

test('any other failure ends it', () => {
  for (const error of [new StoreError('locked', 'locked'), new TypeError('a mistake of ours')])
    assert.throws(() => archive(recordWith(error).db, ['a']), error)
})
