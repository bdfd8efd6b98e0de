import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { openDb } from '../../src/store/open.ts'

test('the queries shown in the documentation run on a database of ours', (t) => {
  const place = mkdtempSync(join(tmpdir(), 'ona-example-'))
  t.after(() => rmSync(place, { recursive: true }))
  const path = join(place, 'agent.db')
  openDb(path).close()
  const db = new DatabaseSync(path, { readOnly: true })
  db.exec(readFileSync(join(import.meta.dirname, 'what-happened.sql'), 'utf8'))
  db.close()
})
