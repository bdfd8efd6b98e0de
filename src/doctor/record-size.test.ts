import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createConversation } from '../store/conversations.ts'
import { openDb } from '../store/open.ts'
import { recordSizeNow, sizeText, walWarning } from './record-size.ts'

const size = { bytes: 8_800_000, walBytes: 0, rows: 60_218, rowsPerDay: 1, bytesPerDay: 332_000, days: 30 }

test('growth is averaged over 30 days, or over the age of a younger record', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-record-size-'))
  const db = openDb(join(folder, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(folder, { recursive: true })
  })
  const days = (now: string) => recordSizeNow(db, new Date(now)).days
  assert.equal(days('2026-03-01T12:00:00Z'), 30, 'of an empty record')
  createConversation(db, { projectDir: '/', id: 'c' })
  db.run("UPDATE conversations SET created_at = '2026-03-01 12:00:00'")
  assert.deepEqual(
    ['2026-03-01T12:00:00Z', '2026-03-01T13:00:00Z', '2026-03-04T12:00:01Z', '2026-05-01T12:00:00Z'].map(days),
    [1, 1, 4, 30],
  )
  const growth = '60,218 rows; 332 KB a day over the last 30 days'
  assert.equal(sizeText(db, size), `8.8 MB, ${growth}`)
  const advice = '; ona audit archive --older-than 90d compresses what is old'
  assert.equal(sizeText(db, { ...size, bytes: 1.1e9 }), `1.1 GB, ${growth}${advice}`)
  for (const file of ['a', 'a', 'b', 'gone']) {
    const { id } = createConversation(db, { projectDir: '/' })
    if (file !== 'gone') writeFileSync(join(folder, file), Buffer.alloc(1500))
    db.run(
      "INSERT INTO ona_archives(conversation_id, file, offset, length, digest, rows) VALUES (?, ?, 0, 1, x'00', 1)",
      ...[id, file],
    )
  }
  assert.equal(sizeText(db, size), `8.8 MB and 3.0 KB in 3 archives, ${growth}`)
})

test('a -wal file is reported where it is long for its database', () => {
  const of = (walBytes: number, bytes: number) => walWarning({ ...size, walBytes, bytes })
  const mib = 1024 * 1024
  assert.deepEqual([of(256 * mib, 1), of(257 * mib, 1028 * mib)], [undefined, undefined])
  assert.match(of(257 * mib, 1027 * mib)!, /^its -wal file holds 269 MB: a program has been reading for long; /)
})
