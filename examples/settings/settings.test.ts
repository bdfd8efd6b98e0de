import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readRule } from '../../src/permissions/rules/rule.ts'
import { openDb } from '../../src/store/open.ts'
import { loadSettings } from '../../src/store/settings/settings.ts'

test('the settings shown in the documentation have no problem', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'ona-example-'))
  const db = openDb(join(home, 'agent.db'))
  t.after(() => {
    db.close()
    rmSync(home, { recursive: true })
  })
  const { settings, problems, warnings } = loadSettings({
    db,
    cwd: home,
    home,
    env: {},
    managedDirs: [],
    flags: { settings: join(import.meta.dirname, 'settings.jsonc') },
    checkRule: (rule, list) => {
      const read = readRule(rule, list)
      return read.ok ? read.warning : read.why
    },
  })
  assert.deepEqual([problems, warnings, settings.hooks.length], [[], [], 1])
})
