import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { testContext } from '../../lib/testing.mjs'
import hook from './hook.mjs'

const repo = mkdtempSync(join(tmpdir(), 'migration-guard-'))
after(() => rmSync(repo, { recursive: true }))

/** @param {string} filePath */
const edit = (filePath) =>
  testContext(repo, {
    module: 'migration-guard',
    event: 'PreToolUse',
    input: { tool_name: 'replace_string_in_file', tool_input: { filePath: join(repo, filePath) } },
  })

test('asks before a migration is edited', async () => {
  const action = await hook.handle('PreToolUse', edit('migrations/001.sql'))
  assert.equal(action?.decision, 'ask')
})

test('says nothing about other files', async () => {
  assert.equal(await hook.handle('PreToolUse', edit('src/a.ts')), undefined)
})
