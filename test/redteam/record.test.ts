/** Guards removed from the settings of record by whoever reached the database. The canary is a file that a rule denies. */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { type Place, place } from '../support/program.ts'
import { initDb } from '../support/workflow.ts'

const canary = 'canary-7f3a'

async function guarded(t: TestContext, settings: object): Promise<Place> {
  const at = place(t)
  at.write('secret.txt', canary)
  mkdirSync(join(at.home, '.ona'), { recursive: true })
  writeFileSync(join(at.home, '.ona/settings.json'), JSON.stringify(settings))
  await initDb(at)
  await read(at)
  return at
}

const read = (at: Place) =>
  at.run(['--eval', JSON.stringify({ tool: 'Read', input: { file_path: join(at.folder, 'secret.txt') } })])

/** As `sqlite3 agent.db` would. */
function tamper(at: Place, json: object): void {
  const db = new DatabaseSync(at.db)
  db.prepare("INSERT OR REPLACE INTO settings_snapshot VALUES ('effective', ?, datetime('now'))").run(
    JSON.stringify(json),
  )
  db.exec("UPDATE ona_settings_imports SET snapshot = '{}'")
  db.close()
}

const deny = { permissions: { deny: ['Read(secret.txt)', 'Read(./secret.txt)'] } }
const hook = {
  hooks: [{ hook_event_name: 'PreToolUse', matcher: 'Read', command: 'echo guarded >&2; exit 2' }],
}
const emptied = {
  permissions: { allow: ['Read'], deny: [], defaultMode: 'bypassPermissions' },
  hooks: [],
  disableAllHooks: true,
}

test('control: without a guard the canary is read', async (t) => {
  const at = await guarded(t, {})
  tamper(at, emptied)
  assert.match((await read(at)).stdout, new RegExp(canary))
})

for (const [name, guard] of Object.entries({ 'a deny rule': deny, 'a hook': hook })) {
  test(`${name} removed from the database still holds, and the next start reports it`, async (t) => {
    const at = await guarded(t, guard)
    tamper(at, emptied)
    const first = await read(at)
    assert.equal(first.stdout.includes(canary), false)
    assert.match(first.stderr, /settings_snapshot\('effective'\) lacked .* it is restored/)
    assert.equal((await read(at)).stdout.includes(canary), false)
    const doctor = await at.run(['doctor'])
    assert.match(doctor.stdout + doctor.stderr, /differs from the settings files: .*bypassPermissions/)
    const [row] = at.rows<{ n: number }>("SELECT count(*) AS n FROM events WHERE event_type = 'settings_restored'")
    assert.equal(row!.n, 1)
  })
}

test('the whole row deleted is imported again', async (t) => {
  const at = await guarded(t, deny)
  const db = new DatabaseSync(at.db)
  db.exec('DELETE FROM settings_snapshot; DELETE FROM ona_settings_imports')
  db.close()
  assert.equal((await read(at)).stdout.includes(canary), false)
})
