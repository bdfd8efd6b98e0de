/** The modes, and the settings after updates. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { PermissionMode } from '../hooks/plane.ts'
import type { JsonObject } from '../hooks/shape.ts'
import { decide } from './decide.ts'
import { isWider, modeInForce, modeSays, modes } from './modes.ts'
import { fileOf } from './paths/access.ts'
import type { PermissionQuestion, PermissionSettings } from './question.ts'
import { applyUpdates, withGranted } from './rules/update.ts'

const asked = (tool: string, input: JsonObject, more: Partial<PermissionQuestion> = {}): PermissionQuestion => ({
  ...{ settings: {}, mode: 'default', tool, input, hook: 'none', cwd: '/w', projectDir: '/w', home: '/h' },
  ...more,
})

test('modes, from the narrowest to the widest, and what each says', () => {
  const all: PermissionMode[] = ['dontAsk', 'plan', 'default', 'acceptEdits', 'bypassPermissions']
  assert.deepEqual([...modes].sort(), [...all].sort())
  for (const [at, mode] of all.entries())
    assert.deepEqual(
      all.filter((than) => isWider(mode, than)),
      all.slice(0, at),
      mode,
    )
  const off = { disableBypassPermissionsMode: 'disable' } as const
  assert.deepEqual(
    [modeInForce('bypassPermissions', off), modeInForce('bypassPermissions', {}), modeInForce('plan', off)],
    ['default', 'bypassPermissions', 'plan'],
  )
  const says = (mode: PermissionMode, tool: string, input: JsonObject = {}, settings: PermissionSettings = {}) => {
    const question = asked(tool, input, { mode, settings })
    const { word, why } = modeSays(question, fileOf(question))
    return `${word}: ${why}`
  }
  assert.deepEqual(
    [
      says('bypassPermissions', 'Bash'),
      says('dontAsk', 'Bash'),
      ...['Write', 'Edit', 'Bash', 'NotebookEdit', 'Read'].map((tool) => says('plan', tool)),
      says('default', 'WebFetch'),
      says('bypassPermissions', 'Bash', {}, off),
      says('acceptEdits', 'Bash'),
      says('acceptEdits', 'Edit', { file_path: '/w/a' }),
      says('acceptEdits', 'Write', { file_path: '/x/a' }),
      says('acceptEdits', 'Edit', { file_path: '/w/.vscode/a' }),
      says('acceptEdits', 'Read', { file_path: '/w/.vscode/a' }),
      says('acceptEdits', 'Read', { file_path: '/w/.env' }),
      says('acceptEdits', 'Edit', { file_path: '/w/.env' }),
      says('acceptEdits', 'NotebookEdit', { notebook_path: '/w/a' }),
    ],
    [
      'allow: bypassPermissions mode allows what no rule forbids',
      "deny: don't ask mode denies what no rule allows",
      ...['Write', 'Edit', 'Bash', 'NotebookEdit'].map((tool) => `deny: plan mode does not allow ${tool}`),
      'ask: plan mode prompts for Read',
      'ask: default mode prompts for WebFetch',
      'ask: default mode prompts for Bash (bypassPermissions mode is disabled by the settings)',
      'ask: acceptEdits mode prompts for Bash',
      'allow: acceptEdits mode allows it in the working directories',
      'ask: /x/a is outside the working directories',
      'ask: /w/.vscode/a is a file that can run programs',
      'allow: acceptEdits mode allows it in the working directories',
      'ask: /w/.env usually holds secrets',
      'allow: acceptEdits mode allows it in the working directories',
      'ask: acceptEdits mode prompts for NotebookEdit',
    ],
  )
})

test('behind a link a protected file is named as written, one outside or with secrets by where it leads', async (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-modes-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const work = join(root, 'work')
  for (const folder of ['work/.vscode', 'work/.ona/skills', 'other']) mkdirSync(join(root, folder), { recursive: true })
  for (const [name, to] of Object.entries({ code: '.vscode', skills: '.ona/skills', out: '../other', plain: '.env' }))
    symlinkSync(to, join(work, name))
  const reasonOf = async (mode: PermissionMode, tool: string, file_path: string) => {
    const place = { mode, cwd: work, projectDir: work, home: '/h' }
    const { decision, reason, paths } = await decide(asked(tool, { file_path }, place))
    return [`${decision}: ${reason}`, ...(paths ?? [])]
  }
  assert.deepEqual(await reasonOf('acceptEdits', 'Edit', 'code/a'), [
    `ask: ${work}/code/a is a file that can run programs; no rule covers Edit`,
    ...[`${work}/code/a`, `${work}/.vscode/a`],
  ])
  const secret = [`${work}/plain`, `${work}/.env`]
  assert.deepEqual(await reasonOf('acceptEdits', 'Read', 'plain'), [
    `ask: ${work}/.env usually holds secrets`,
    ...secret,
  ])
  assert.deepEqual(await reasonOf('bypassPermissions', 'Write', 'skills/a'), [
    `ask: ${work}/skills/a is part of the settings, hooks and definitions of ona`,
    ...[`${work}/skills/a`, `${work}/.ona/skills/a`],
  ])
  const outside = `${root}/other/a is outside the working directories`
  const paths = [`${work}/out/a`, `${root}/other/a`]
  assert.deepEqual(await reasonOf('acceptEdits', 'Edit', 'out/a'), [`ask: ${outside}; no rule covers Edit`, ...paths])
  assert.deepEqual(await reasonOf('acceptEdits', 'Read', 'out/a'), [`ask: ${outside}`, ...paths])
  assert.deepEqual(await reasonOf('default', 'Read', 'out/a'), [
    `ask: default mode prompts for Read; ${outside}`,
    ...paths,
  ])
})

test('settings after updates, and with what a skill brings', () => {
  const rules = (toolName: string) => [{ toolName }]
  const at = { behavior: 'allow', destination: 'session' } as const
  const settings = { allow: ['A_a', 'B_b'], additionalDirectories: ['/a', '/b'] }
  const after = (...updates: Parameters<typeof applyUpdates>[1]) => applyUpdates(settings, updates)
  assert.deepEqual(after({ type: 'addRules', rules: rules('A_a'), ...at }).settings.allow, ['B_b', 'A_a'])
  assert.deepEqual(after({ type: 'replaceRules', rules: rules('C_c'), ...at }).settings.allow, ['C_c'])
  assert.deepEqual(after({ type: 'removeRules', rules: rules('A_a'), ...at }).settings.allow, ['B_b'])
  assert.deepEqual(
    after({ type: 'addDirectories', directories: ['/a', '/c'], destination: 'session' }).settings.additionalDirectories,
    ['/b', '/a', '/c'],
  )
  assert.deepEqual(
    after({ type: 'removeDirectories', directories: ['/a'], destination: 'session' }).settings.additionalDirectories,
    ['/b'],
  )
  assert.deepEqual(after({ type: 'setMode', mode: 'plan', destination: 'session' }), {
    settings,
    mode: 'plan',
    warnings: [],
  })
  assert.deepEqual(applyUpdates({}, [{ type: 'addRules', rules: rules('A_a'), ...at }]).settings, { allow: ['A_a'] })
  assert.deepEqual(withGranted({ allow: ['A_a'] }, ['B_b']), { allow: ['A_a', 'B_b'] })
  assert.deepEqual(withGranted({}, ['B_b']), { allow: ['B_b'] })
  const managed = { allowManagedPermissionRulesOnly: true }
  assert.equal(withGranted(managed, ['B_b']), managed)
  assert.equal(withGranted(settings, []), settings)
})
