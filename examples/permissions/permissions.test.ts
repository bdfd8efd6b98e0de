import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { decide } from '../../src/permissions/decide.ts'
import type { PermissionSettings } from '../../src/permissions/question.ts'
import { rulesOf } from '../../src/permissions/rules/rules.ts'

const read = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8'))

test('the rules shown in the documentation decide as it says', async () => {
  const settings: PermissionSettings = read('settings.json').permissions
  assert.deepEqual(rulesOf(settings).warnings, [])
  for (const { tool, input, is } of read('cases.json')) {
    const where = { cwd: '/project', projectDir: '/project', home: '/home/ada' }
    const { decision, reason } = await decide({ settings, mode: 'default', hook: 'none', tool, input, ...where })
    assert.equal(decision, is, `${tool} ${JSON.stringify(input)}: ${reason}`)
  }
})
