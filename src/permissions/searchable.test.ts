import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { PermissionMode } from '../hooks/plane.ts'
import { modes } from './modes.ts'
import { searchable } from './searchable.ts'

test('what a rule keeps from being read is not shown by a search either', () => {
  const settings = {
    deny: ['Read(.env)', 'Read(//etc/secret/**)', 'Bash(cat *)'],
    ask: ['Read(private/**)'],
    allow: ['Read(**)'],
  }
  const may = searchable({ settings, mode: 'default', cwd: '/p/sub', projectDir: '/p', home: '/home/x' })
  const cases: [string, boolean][] = [
    ['/p/a.ts', true],
    ['/p/.env', false],
    ['/p/sub/.env', false],
    ['/etc/secret/key', false],
    ['/p/private/notes', false],
    ['/p/public/notes', true],
  ]
  for (const [path, allowed] of cases) assert.equal(may(path), allowed, path)
})

test('a search shows secrets only where reading is allowed outright', () => {
  const places = { cwd: '/p', projectDir: '/p', home: '/home/x' }
  const builtin = { allow: ['Read(builtin:working-directories)'] }
  const shown = (settings: object, mode: PermissionMode, path: string) =>
    searchable({ settings, mode, ...places })(path)
  assert.deepEqual(
    modes.filter((mode) => shown(builtin, mode, '/p/.env')),
    ['bypassPermissions'],
  )
  assert.deepEqual(
    [
      shown(builtin, 'default', '/p/.env'),
      shown(builtin, 'default', '/p/.env.example'),
      shown(builtin, 'default', '/p/.aws/config'),
      shown(builtin, 'bypassPermissions', '/p/.env'),
      shown({ ...builtin, disableBypassPermissionsMode: 'disable' }, 'bypassPermissions', '/p/.env'),
      shown({ allow: ['Read'] }, 'default', '/p/.env'),
      shown({ allow: ['Read(/.env)'] }, 'default', '/p/.env'),
      shown({ allow: ['Read'] }, 'bypassPermissions', '/home/x/.ona/credentials.json'),
    ],
    [false, true, false, true, false, true, true, false],
  )
})

test('a link with the name of a secret shows no credential of ona', (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-searchable-')))
  t.after(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, '.ona'))
  for (const file of ['.ona/credentials.json', 'key']) writeFileSync(join(root, file), '')
  symlinkSync('.ona/credentials.json', join(root, '.env'))
  symlinkSync('key', join(root, 'x.pem'))
  const may = searchable({ settings: { allow: ['Read'] }, mode: 'default', cwd: root, projectDir: root, home: root })
  assert.deepEqual([may(join(root, '.env')), may(join(root, 'x.pem'))], [false, true])
})
