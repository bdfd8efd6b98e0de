import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldBackKeys } from './settings-merge.ts'

test('what tightens holds before trust, and is not named among what is held back', () => {
  const cases: [Record<string, unknown>, string[]][] = [
    [
      { $schema: 'x', sandbox: { enabled: true, filesystem: { denyRead: ['a'] } }, permissions: { deny: ['Bash'] } },
      [],
    ],
    [{ sandbox: { enabled: false } }, ['sandbox.enabled']],
    [
      { sandbox: { enabled: true, filesystem: { allowWrite: ['a'] }, network: { allowedDomains: ['b'] } } },
      ['sandbox.filesystem.allowWrite', 'sandbox.network.allowedDomains'],
    ],
    [{ env: {}, hooks: [], permissions: { allow: ['Bash'], ask: ['Read'] } }, ['env', 'hooks', 'permissions.allow']],
    [{ permissions: 'all' }, ['permissions']],
  ]
  for (const [settings, held] of cases) assert.deepEqual(heldBackKeys(settings as never), held)
})
