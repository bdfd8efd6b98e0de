import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PermissionSettings } from '../permissions/question.ts'
import { type NamedPattern, type Profile, profileOf } from './profile.ts'
import type { SandboxSettings } from './settings.ts'

const of = (sandbox: SandboxSettings, permissions: PermissionSettings = {}, more = {}): Profile =>
  profileOf({ sandbox, permissions, projectDir: '/w', cwd: '/w', home: '/home/ada', ...more })

/** The parts that settings and rules decide, in a form that can be read. */
const brief = (profile: Profile) => ({
  write: profile.write.map(({ path }) => path),
  read: profile.read.map(({ path }) => path),
  noWrite: profile.noWrite.map(place),
  noRead: profile.noRead.map(place),
  allowed: profile.network.allowed.map(({ host }) => host),
  denied: profile.network.denied.map(({ host }) => host),
  prompts: profile.prompts,
})
const place = ({ paths, from, pattern }: NamedPattern) =>
  paths?.join(' ') ?? `${from.join(' ')} ${pattern.base}~${pattern.rest.source.replaceAll('\\/', '/')}`

const nothing = { write: ['/w'], read: [], noWrite: [], noRead: [], allowed: [], denied: [], prompts: [] }

const rows: readonly (readonly [
  name: string,
  SandboxSettings,
  PermissionSettings,
  Partial<ReturnType<typeof brief>>,
])[] = [
  ['nothing set: the project is writable, no host is reachable', {}, {}, {}],
  [
    'allowWrite: absolute, home and project paths',
    { filesystem: { allowWrite: ['/data', '~/x', 'out', './o/'] } },
    {},
    { write: ['/w', '/data', '/home/ada/x', '/w/out', '/w/o'] },
  ],
  ['additional directories are writable', {}, { additionalDirectories: ['/other'] }, { write: ['/w', '/other'] }],
  [
    'denyRead and denyWrite',
    { filesystem: { denyRead: ['~/.config', '//etc/x'], denyWrite: ['dist'] } },
    {},
    { noRead: ['/home/ada/.config', '/etc/x'], noWrite: ['/w ~^(?:.*/)?dist(?:/.*)?$'] },
  ],
  ['allowRead', { filesystem: { allowRead: ['~/.config/app'] } }, {}, { read: ['/home/ada/.config/app'] }],
  [
    'a wildcard stays a pattern',
    { filesystem: { denyRead: ['./keys/*.pem'] } },
    {},
    { noRead: ['/ w/keys~^[^/]*\\.pem(?:/.*)?$'] },
  ],
  [
    'deny rules on files',
    {},
    { deny: ['Read(./private/**)', 'Read(~/.aws)', 'Read(//srv/x)', 'Read(/lib/a.ts)', 'Edit(/docs/**)'] },
    { noRead: ['/w/private', '/home/ada/.aws', '/srv/x', '/w/lib/a.ts'], noWrite: ['/w/docs'] },
  ],
  [
    'ask rules on files count like deny rules',
    {},
    { ask: ['Read(./private)', 'Edit(./a)'] },
    { noRead: ['/w/private'], noWrite: ['/w/a'] },
  ],
  [
    'a bare name is looked for at any depth',
    {},
    { deny: ['Read(.env)'] },
    { noRead: ['/w ~^(?:.*/)?\\.env(?:/.*)?$'] },
  ],
  [
    'Edit denied as a whole: nothing is writable',
    {},
    { deny: ['Edit'], additionalDirectories: ['/o'] },
    { write: ['/w', '/o'], noWrite: ['/w', '/o'] },
  ],
  [
    'Read asked for as a whole: the command is prompted for',
    {},
    { ask: ['Read'] },
    { prompts: ['the ask rule "Read" covers every file'] },
  ],
  [
    'domains from settings',
    { network: { allowedDomains: ['Example.com.', '*.npmjs.org'], deniedDomains: ['evil.example'] } },
    {},
    { allowed: ['example.com', '*.npmjs.org'], denied: ['evil.example'] },
  ],
  [
    'domains from WebFetch rules',
    {},
    {
      allow: ['WebFetch(domain:a.example)', 'WebFetch'],
      deny: ['WebFetch(domain:b.example)'],
      ask: ['WebFetch(domain:c.example)'],
    },
    { allowed: ['a.example'], denied: ['b.example', 'c.example'] },
  ],
  [
    'WebFetch denied as a whole: no host',
    { network: { allowedDomains: ['a.example'] } },
    { deny: ['WebFetch'] },
    { allowed: ['a.example'], denied: ['*'] },
  ],
  ['rules on commands are no part of a profile', {}, { deny: ['Bash(rm *)'], ask: ['Bash(git push *)'] }, {}],
]

for (const [name, sandbox, permissions, expected] of rows)
  test(`profile: ${name}`, () => assert.deepEqual(brief(of(sandbox, permissions)), { ...nothing, ...expected }))

test('a rule relative to the working directory holds there and up to the project', () => {
  const profile = of({}, { deny: ['Read(a/secret)'] }, { cwd: '/w/sub/deep' })
  assert.deepEqual(profile.noRead[0]?.paths, ['/w/sub/deep/a/secret', '/w/sub/a/secret', '/w/a/secret'])
})

test('once the user approved a command, ask rules on files and hidden secrets no longer apply', () => {
  const permissions = { deny: ['Read(./a)'], ask: ['Read(./b)', 'Edit(./c)', 'WebFetch(domain:x.example)'] }
  const profile = of({}, permissions, { approved: true })
  assert.deepEqual(brief(profile), { ...nothing, noRead: ['/w/a'], denied: ['x.example'] })
  assert.equal(profile.hideSecrets, false)
})

test('every entry names the setting or rule that it comes from', () => {
  const profile = of(
    { filesystem: { allowWrite: ['/data'], denyRead: ['~/x'] }, network: { allowedDomains: ['a.example'] } },
    { deny: ['Edit(./docs)'] },
  )
  assert.deepEqual(
    [profile.write[1]?.why, profile.noRead[0]?.why, profile.noWrite[0]?.why, profile.network.allowed[0]?.why],
    [
      'sandbox.filesystem.allowWrite "/data"',
      'sandbox.filesystem.denyRead "~/x"',
      'the deny rule "Edit(./docs)"',
      'sandbox.network.allowedDomains "a.example"',
    ],
  )
})

test('the record, the settings of agents and git hooks are protected whatever the settings say', () => {
  const { protect } = of({ filesystem: { allowWrite: ['/', '~'] } }, {}, { database: '/w/agent.db' })
  const has = (path: string) => protect.some((each) => each.path === path)
  const wanted = [
    '/w/agent.db',
    '/w/agent.db-wal',
    '.ona',
    '.claude',
    '.git/hooks',
    '.git/config',
    '.bashrc',
    '/etc/ona',
  ]
  assert.deepEqual(
    wanted.filter((path) => !has(path)),
    [],
  )
  assert.equal(has('.git'), false)
})
