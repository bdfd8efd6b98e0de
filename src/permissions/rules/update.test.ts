import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyUpdates, withGranted } from './update.ts'

const rules = (...texts: string[]) => texts.map((toolName) => ({ toolName }))

test('all six kinds of update', () => {
  const settings = { allow: ['Bash', 'Read'], additionalDirectories: ['/a'] }
  const destination = 'session'
  const updated = applyUpdates(settings, [
    { type: 'addRules', rules: [{ toolName: 'Bash', ruleContent: 'echo (1)' }], behavior: 'deny', destination },
    { type: 'addRules', rules: rules('Write', 'Bash'), behavior: 'allow', destination },
    { type: 'removeRules', rules: rules('Read'), behavior: 'allow', destination },
    { type: 'replaceRules', rules: rules('WebFetch'), behavior: 'ask', destination },
    { type: 'setMode', mode: 'plan', destination },
    { type: 'addDirectories', directories: ['/b', '/c'], destination },
    { type: 'removeDirectories', directories: ['/a', '/c'], destination },
  ])
  assert.deepEqual(updated, {
    settings: {
      allow: ['Write', 'Bash'],
      deny: ['Bash(echo \\(1\\))'],
      ask: ['WebFetch'],
      additionalDirectories: ['/b'],
    },
    mode: 'plan',
    warnings: [],
  })
  assert.deepEqual(settings, { allow: ['Bash', 'Read'], additionalDirectories: ['/a'] })
})

test('a rule that cannot be used can be removed', () => {
  const update = { type: 'removeRules', rules: rules('bash'), behavior: 'allow', destination: 'session' } as const
  assert.deepEqual(applyUpdates({ allow: ['bash', 'Read'] }, [update]), { settings: { allow: ['Read'] }, warnings: [] })
})

test('what the settings forbid is not done, and a bad rule is not added', () => {
  const managed = { allowManagedPermissionRulesOnly: true, disableBypassPermissionsMode: 'disable' } as const
  assert.deepEqual(
    applyUpdates(managed, [
      { type: 'addRules', rules: rules('Bash'), behavior: 'allow', destination: 'session' },
      { type: 'setMode', mode: 'bypassPermissions', destination: 'session' },
    ]),
    {
      settings: managed,
      warnings: [
        'the managed settings allow no other permission rules',
        'bypassPermissions mode is disabled by the settings',
      ],
    },
  )
  const other = applyUpdates(managed, [
    { type: 'addDirectories', directories: ['/a'], destination: 'session' },
    { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
  ])
  assert.deepEqual(other, {
    settings: { ...managed, additionalDirectories: ['/a'] },
    mode: 'acceptEdits',
    warnings: [],
  })
  assert.deepEqual(
    applyUpdates({}, [{ type: 'addRules', rules: rules('bash'), behavior: 'allow', destination: 'session' }]),
    {
      settings: { allow: [] },
      warnings: [
        'Invalid permission rule "bash" in allow was skipped: Tool names must start with uppercase. Use "Bash"',
      ],
    },
  )
})

test('the rules of a skill stand behind those of the settings, unless only managed rules count', () => {
  const settings = { allow: ['Read'], deny: ['Write'], additionalDirectories: ['/a'] }
  assert.deepEqual(withGranted(settings, ['Bash']), { ...settings, allow: ['Read', 'Bash'] })
  assert.deepEqual(withGranted({ ask: ['Write'] }, ['Bash']), { ask: ['Write'], allow: ['Bash'] })
  assert.equal(withGranted(settings, []), settings)
  const managed = { ...settings, allowManagedPermissionRulesOnly: true }
  assert.equal(withGranted(managed, ['Bash']), managed)
})
