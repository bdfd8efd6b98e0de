import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { protectedBy } from './permission-question.ts'

test('no tool may change the archives beside the database, also those that are made while the session runs', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-question-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const archive = (second: number) => join(folder, `agent.db-archive-20261119T15584${second}.zst`)
  for (const path of [join(folder, 'agent.db'), archive(1), join(folder, 'notes.zst')]) writeFileSync(path, '')
  mkdirSync(join(folder, 'links'))
  symlinkSync(join(folder, 'agent.db'), join(folder, 'links/agent.db'))
  for (const path of [join(folder, 'agent.db'), join(folder, 'links/agent.db')]) {
    rmSync(archive(2), { force: true })
    const settings = {}
    const read = () => protectedBy({ settings, home: '/home/x', db: { path } }, folder)
    const records = [path, `${path}-wal`, `${path}-shm`, `${path}-journal`]
    const wanted = (archives: string[]) => [
      ...records.map((each) => ({ at: 'exact', path: each, edit: 'deny', what: "ona's database" })),
      ...archives.map((each) => ({ at: 'exact', path: each, edit: 'deny', what: "an archive of ona's database" })),
    ]
    assert.deepEqual(read(), wanted([archive(1)]))
    assert.equal(read(), read())
    writeFileSync(archive(2), '')
    assert.deepEqual(read(), wanted([archive(1), archive(2)]))
    rmSync(archive(2))
    const without = read()
    assert.deepEqual(without, wanted([archive(1)]))
    writeFileSync(join(folder, 'other'), '') // a folder that changed, and no archive in it
    assert.equal(read(), without)
    rmSync(join(folder, 'other'))
  }
})

test('a database that is in no file has no archives', () => {
  const found = protectedBy({ settings: {}, home: '/home/x', db: { path: ':memory:' } }, '/')
  assert.equal(found.length, 4)
})
