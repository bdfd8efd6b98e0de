/** Protected paths and secrets, and what is shown of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../hooks/shape.ts'
import { mayBeProtected, protectionOf, sessionProtectedPaths } from './protected-paths.ts'
import { protectedFinding, protectionFor } from './protection.ts'
import type { PermissionQuestion, PermissionSettings } from './question.ts'
import { rulesOf } from './rules/rules.ts'
import { searchable } from './searchable.ts'
import { isSecretFile } from './secret-files.ts'

const asked = (tool: string, input: JsonObject, more: Partial<PermissionQuestion> = {}): PermissionQuestion => ({
  ...{ settings: {}, mode: 'default', tool, input, hook: 'none', cwd: '/w', projectDir: '/w', home: '/h' },
  ...more,
})

test('protected paths, by the strictest row, and which rules name them', () => {
  const protect = sessionProtectedPaths({ database: '/d/x.db', hookFiles: ['/w/hook.sh'], plugins: ['/w/plugin'] })
  const row = (path: string) => {
    const found = protectionOf(path, '/h', protect)
    return found && `${found.edit}${found.read ? ' unread' : ''}: ${found.what}`
  }
  const rows: [path: string, is: string | undefined][] = [
    ['/d/x.db', "deny: ona's database"],
    ['/d/x.db-wal', "deny: ona's database"],
    ['/d/x.db-shm', "deny: ona's database"],
    ['/d/x.db-journal', "deny: ona's database"],
    ['/d/x.db2', undefined],
    ['/w/hook.sh', 'ask: a file that a hook runs'],
    ['/w/plugin/a', 'ask: part of a plugin'],
    ['/h/.ona/credentials.json', "deny unread: ona's stored credential"],
    ['/h/.ona/x', "deny: part of ona's settings, trust, record or credentials"],
    ['/h/.ona/skills/x', 'ask: a definition that later sessions load'],
    ['/h/.ona/worktrees/x', undefined],
    ['/h/.ona/worktrees/.ona/x', 'ask: part of the settings, hooks and definitions of ona'],
    ['/w/.ONA/x', 'ask: part of the settings, hooks and definitions of ona'],
    ['/w/.onax', undefined],
    ['/w/.onax/.ona/y', 'ask: part of the settings, hooks and definitions of ona'],
    ['/w/x.ona', undefined],
    ['/w/.git/hooks/x', 'ask: git configuration that can run programs'],
    ['/w/.git/x', 'mode: a file that can run programs'],
    ['/x/h/.bashrc', 'mode: a file that can run programs'],
    ['/h/.bashrc', 'ask: a file that starts programs at login'],
    ['/etc/ona/x', 'deny: managed settings'],
    ['/x/etc/ona', undefined],
    ['/w/a', undefined],
  ]
  assert.deepEqual(
    rows.map(([path]) => [path, row(path)]),
    rows,
  )
  assert.deepEqual(sessionProtectedPaths({}), [])
  const named = ['/h/.ona/worktrees/x', '/w/.ONA', '/etc/ona', '/w/a', '/w/.onax', '/w/.ona.bak/x', '/etc/onax']
  assert.deepEqual(
    named.filter((path) => mayBeProtected(path, '/h')),
    ['/h/.ona/worktrees/x', '/w/.ONA', '/etc/ona'],
  )
  const lenient = [{ at: 'exact', path: '/w/.mcp.json', edit: 'mode', what: 'x' }] as const
  assert.equal(protectionOf('/w/.mcp.json', '/h', lenient)?.edit, 'ask')
  const database = sessionProtectedPaths({ database: '/h/.ona/x.db' })
  assert.equal(protectionOf('/h/.ona/x.db', '/h', database)?.what, "ona's database")
  assert.equal(protectionOf('/other/.ssh/x', '/h')?.what, undefined)
  assert.equal(protectionOf('/other/.ssh/x', '/other')?.edit, 'ask')
  const access = (kind: 'read' | 'edit', ...paths: string[]) => ({ kind, paths, tree: false })
  const question = asked('Edit', {}, { protect })
  assert.equal(protectionFor(access('edit', '/w/.git/x', '/w/hook.sh', '/d/x.db'), question)?.edit, 'deny')
  assert.equal(protectionFor(access('edit', '/w/.git/x', '/w/hook.sh'), question)?.edit, 'ask')
  assert.equal(protectionFor(access('edit', '/w/a', '/w/.git/x'), question)?.edit, 'mode')
  const finding = (kind: 'read' | 'edit', path: string, ...allow: string[]) => {
    const found = protectedFinding(access(kind, path), question, rulesOf({ allow }))
    return found && `${found.word}: ${found.why}`
  }
  assert.deepEqual(
    [
      finding('read', '/h/.ona/credentials.json'),
      finding('read', '/h/.ona/x'),
      finding('edit', '/h/.ona/x', 'Edit(~/.ona/**)'),
      finding('edit', '/w/.git/x'),
      finding('edit', '/w/.ona/x'),
      finding('edit', '/w/.ona/x', 'Edit(.ona/**)'),
      finding('edit', '/w/.ona/x', 'Edit'),
      finding('edit', '/w/.ona/x', 'Edit(**)'),
      finding('edit', '/w/.ona/x', 'Edit(.ona/y)'),
      finding('edit', '/w/hook.sh', 'Edit(hook.sh)'),
      finding('edit', '/w/hook.sh', 'Edit(/w/**)'),
      finding('edit', '/h/.ona/skills/x', 'Edit(~/.ona/**)'),
      finding('edit', '/h/.ona/skills/x', 'Edit(~/*/skills/**)'),
      finding('edit', '/w/.git/hooks/x', 'Edit(.git/**)'),
      finding('edit', '/w/.git/hooks/x', 'Edit(*/hooks/**)'),
      finding('edit', '/w/.ona/x', 'Read(.ona/**)'),
      finding('edit', '/w/.ona/.onax', 'Edit(.onax)'),
    ],
    [
      "deny: /h/.ona/credentials.json is ona's stored credential, which no tool may read",
      undefined,
      "deny: /h/.ona/x is part of ona's settings, trust, record or credentials, which no tool may change",
      undefined,
      'ask: /w/.ona/x is part of the settings, hooks and definitions of ona',
      undefined,
      'ask: /w/.ona/x is part of the settings, hooks and definitions of ona',
      'ask: /w/.ona/x is part of the settings, hooks and definitions of ona',
      'ask: /w/.ona/x is part of the settings, hooks and definitions of ona',
      undefined,
      'ask: /w/hook.sh is a file that a hook runs',
      undefined,
      'ask: /h/.ona/skills/x is a definition that later sessions load',
      undefined,
      'ask: /w/.git/hooks/x is git configuration that can run programs',
      'ask: /w/.ona/x is part of the settings, hooks and definitions of ona',
      'ask: /w/.ona/.onax is part of the settings, hooks and definitions of ona',
    ],
  )
  const link = access('edit', '/w/.ona/x', '/v/.ona/x')
  assert.equal(protectedFinding(link, question, rulesOf({ allow: ['Edit(.ona/**)'] }))?.word, 'ask')
  assert.equal(protectedFinding(link, question, rulesOf({ allow: ['Edit(//*/.ona/**)'] })), undefined)
})

test('names that usually hold secrets, and names like them that do not', () => {
  const secret =
    '/a/.env /a/.env.x /a/x.env /a/ID_RSA /a/x.pem /a/credentials.yaml /a/credentials.yml.enc /a/secrets.yaml /a/service-account-x.json /a/client_secret_x.json /h/.ssh/config /h/.SSH/x /h/.config/gh/x /proc/1/environ /proc/self/task/2/mem /proc/1/fd/3 /a/.ssh /h/.aws/.env.example /a/x.y.pem'
  const open =
    '/a/.env.example /a/x.pub /h/.ssh/x.pub /a/env /a/xid_rsa /a/id_rsax /a/pem /a/x.pemx /a/credentials.xml /a/.sshx/y /a/x.ssh/y /proc/1/status /proc/environ /x/proc/1/environ /proc/1/environx /a/secrets.txt /a/my-service-account.json /a/.env.sample /a/.env.template /a/.env.dist /a/.env.pub'
  assert.deepEqual(
    secret.split(' ').filter((path) => !isSecretFile(path)),
    [],
  )
  assert.deepEqual(open.split(' ').filter(isSecretFile), [])
})

test('a search shows what Read would show', () => {
  const may = (settings: PermissionSettings, path: string, more: object = {}) =>
    searchable({ settings, mode: 'default', cwd: '/w', projectDir: '/w', home: '/h', ...more })(path)
  const protect = [{ at: 'exact', path: '/w/.env', edit: 'deny', read: 'deny', what: 'x' }] as const
  assert.deepEqual(
    [
      may({}, '/w/a'),
      may({}, '/w/.env'),
      may({ allow: ['Read'] }, '/w/.env'),
      may({ allow: ['Edit'] }, '/w/.env'),
      may({ allow: ['Read(.env)'] }, '/w/.env'),
      may({ allow: ['Read'] }, '/w/.env', { protect }),
      may({ deny: ['Bash(ls)'] }, '/w/a'),
      may({ deny: ['Edit(a)'] }, '/w/a'),
      may({ deny: ['Read(a)'] }, '/w/a'),
      may({ ask: ['Read(a)'] }, '/w/b'),
      may({ ask: ['Read(b)'] }, '/w/b'),
    ],
    [true, false, true, false, true, false, true, true, false, true, false],
  )
})
