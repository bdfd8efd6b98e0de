/** How levels become one: what each may set, what an untrusted folder may, and what the record cannot take away. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../hooks/shape.ts'
import { onFloor } from './settings-floor.ts'
import { flatHooks, heldBackKeys, join, merge, onlyRestrictions } from './settings-merge.ts'
import type { Level } from './settings-shape.ts'

/** Rows of a table: what goes in, and what comes out. */
function table<In, Out>(rows: readonly (readonly [In, Out])[], work: (given: In) => Out): void {
  assert.deepEqual(
    rows.map(([given]) => [given, work(given)]),
    rows,
  )
}
const merged = (levels: Partial<Record<Level, JsonObject>>, builtin: readonly string[] = []) =>
  merge(
    Object.entries(levels).map(([level, settings]) => ({ level: level as Level, file: level, settings })),
    builtin,
  )

test('rules of managed settings alone count where it says so, at the top or in permissions; other keys stay', () => {
  const user = { permissions: { allow: ['A'], ask: ['B'], deny: ['C'], defaultMode: 'plan' }, model: 'm' }
  const managed = { permissions: { deny: ['D'] } }
  const only = { defaultMode: 'plan', deny: ['D'] }
  const all = { allow: ['X', 'A'], ask: ['B'], deny: ['C', 'D'], defaultMode: 'plan' }
  table<JsonObject, unknown>(
    [
      [managed, { permissions: all, model: 'm' }],
      [
        { ...managed, allowManagedPermissionRulesOnly: true },
        { permissions: only, model: 'm', allowManagedPermissionRulesOnly: true },
      ],
      [
        { ...managed, allowManagedPermissionRulesOnly: false },
        { permissions: all, model: 'm', allowManagedPermissionRulesOnly: false },
      ],
      [
        { permissions: { deny: ['D'], allowManagedPermissionRulesOnly: true } },
        { permissions: { ...only, allowManagedPermissionRulesOnly: true }, model: 'm' },
      ],
      [
        { permissions: { deny: ['D'], allowManagedPermissionRulesOnly: false } },
        { permissions: { ...all, allowManagedPermissionRulesOnly: false }, model: 'm' },
      ],
    ],
    (each) => merged({ user, managed: each }, ['X']),
  )
  const elsewhere = { ...user, allowManagedPermissionRulesOnly: true }
  assert.deepEqual(merged({ user: elsewhere, managed }, ['X']), { ...elsewhere, permissions: all })
  const plain = { model: 'm', allowManagedPermissionRulesOnly: true }
  assert.deepEqual(merged({ user: { theme: 'x' }, managed: plain }), { theme: 'x', ...plain })
  const odd = { permissions: 'all', allowManagedPermissionRulesOnly: true }
  assert.deepEqual(merged({ user: { permissions: 'x' }, managed: odd }), odd)
})

test('files of a repository set no variable that acts outside of it', () => {
  const env = { PATH: '/evil', PLAIN: 'x' }
  table<Partial<Record<Level, JsonObject>>, unknown>(
    [
      [{ project: { env, model: 'm' } }, { env: { PLAIN: 'x' }, model: 'm' }],
      [{ local: { env } }, { env: { PLAIN: 'x' } }],
      [{ user: { env } }, { env }],
      [{ flag: { env } }, { env }],
      [{ managed: { env } }, { env }],
      [{ user: { env: { PATH: '/mine' } }, project: { env }, local: { env } }, { env: { PATH: '/mine', PLAIN: 'x' } }],
      [{ project: { model: 'm' } }, { model: 'm' }],
    ],
    merged,
  )
})

test('a project cannot loosen the sandbox of its user, and its own files decide where the user says nothing', () => {
  const strict = {
    ...{ enabled: true, failIfUnavailable: true, autoAllowBashIfSandboxed: false, allowUnsandboxedCommands: false },
  }
  const loose = Object.fromEntries(Object.entries(strict).map(([key, value]) => [key, !value]))
  const more = { excludedCommands: ['docker'] }
  table<Partial<Record<Level, JsonObject>>, unknown>(
    [
      [
        { user: { sandbox: strict }, project: { sandbox: { ...loose, ...more }, model: 'm' } },
        { sandbox: { ...strict, ...more }, model: 'm' },
      ],
      [{ user: { sandbox: loose }, project: { sandbox: strict } }, { sandbox: strict }],
      ...Object.keys(strict).map(
        (key) =>
          [
            { user: { sandbox: { [key]: strict[key as 'enabled'] } }, project: { sandbox: loose } },
            { sandbox: { ...loose, [key]: strict[key as 'enabled'] } },
          ] as const,
      ),
      [
        { user: { model: 'm' }, project: { sandbox: loose } },
        { model: 'm', sandbox: loose },
      ],
      [
        { user: { sandbox: strict }, project: { model: 'm' } },
        { sandbox: strict, model: 'm' },
      ],
      [{ user: { sandbox: strict }, local: { sandbox: loose } }, { sandbox: loose }],
      [
        { user: { sandbox: { ...strict, ...more } }, project: { sandbox: { excludedCommands: ['x'] } } },
        { sandbox: { ...strict, excludedCommands: ['docker', 'x'] } },
      ],
    ],
    merged,
  )
})

test('built-in rules are below every level, until the strongest that has a word switches them off', () => {
  const rules = ['Read']
  const allow = { permissions: { allow: ['Read'] } }
  table<Partial<Record<Level, JsonObject>>, unknown>(
    [
      [{}, allow],
      [{ user: { builtinRules: false } }, { builtinRules: false }],
      [
        { user: { builtinRules: false }, managed: { builtinRules: true } },
        { ...allow, builtinRules: true },
      ],
      [{ user: { builtinRules: true }, managed: { builtinRules: false } }, { builtinRules: false }],
      [
        { user: { builtinRules: false }, managed: { model: 'm' } },
        { builtinRules: false, model: 'm' },
      ],
    ],
    (levels) => merged(levels, rules),
  )
  assert.deepEqual(merged({ user: { model: 'm' } }), { model: 'm' })
})

test('hooks are one list, those of managed settings first, each with its level', () => {
  const hook = (command: string) => ({ hook_event_name: 'Stop', command })
  const levels = {
    user: { hooks: [hook('u')] },
    project: { hooks: { Stop: [{ hooks: [{ command: 'p' }] }] } },
    managed: { hooks: [hook('m')], model: 'm' },
  }
  const entry = (command: string, source: string) => ({ hook_event_name: 'Stop', matcher: '', command, source })
  assert.deepEqual(merged(levels), {
    model: 'm',
    hooks: [entry('m', 'managed'), entry('u', 'user'), entry('p', 'project')],
  })
  assert.deepEqual(merged({ user: { hooks: [] } }), {})
  assert.deepEqual(merged({ user: { hooks: [hook('u')] } }), { hooks: [entry('u', 'user')] })
})

test('a hook as an entry of the list: `if` by its other name, and a source that only the record can tell', () => {
  table<[unknown, Level | 'operator'], unknown>(
    [
      [
        [[{ hook_event_name: 'Stop', matcher: 'x', command: 'c', if: 'Bash', source: 'managed' }], 'user'],
        [{ if_condition: 'Bash', hook_event_name: 'Stop', matcher: 'x', command: 'c', source: 'user' }],
      ],
      [[[{ command: 'c' }], 'local'], [{ command: 'c', hook_event_name: '', matcher: '', source: 'local' }]],
      [[[{ hook_event_name: 7, matcher: 8 }], 'flag'], [{ hook_event_name: '7', matcher: '8', source: 'flag' }]],
      [
        [[{ source: 'project' }, { source: 'me' }, {}], 'operator'],
        ['project', 'operator', 'operator'].map((source) => ({ hook_event_name: '', matcher: '', source })),
      ],
      [[undefined, 'user'], []],
      [
        [{ Stop: [{ matcher: 'x', hooks: [{ command: 'c', if: '' }] }] }, 'user'],
        [{ if_condition: '', hook_event_name: 'Stop', matcher: 'x', command: 'c', source: 'user' }],
      ],
    ],
    ([hooks, level]) => flatHooks(hooks, level),
  )
})

test('an untrusted folder restricts: rules that deny and ask, and what closes the sandbox', () => {
  const strict = {
    enabled: true,
    failIfUnavailable: true,
    autoAllowBashIfSandboxed: false,
    allowUnsandboxedCommands: false,
  }
  const rows: [JsonObject, JsonObject, string[]][] = [
    [{}, {}, []],
    [{ model: 'm', $schema: 's' }, {}, ['model']],
    [{ permissions: { allow: ['A'], defaultMode: 'plan' } }, {}, ['permissions.allow', 'permissions.defaultMode']],
    [
      { permissions: { allow: ['A'], deny: ['D'], ask: ['B'], disableBypassPermissionsMode: 'disable' } },
      { permissions: { deny: ['D'], ask: ['B'], disableBypassPermissionsMode: 'disable' } },
      ['permissions.allow'],
    ],
    [{ permissions: { deny: ['D'] }, sandbox: strict }, { sandbox: strict, permissions: { deny: ['D'] } }, []],
    [{ sandbox: strict }, { sandbox: strict }, []],
    [{ sandbox: strict, permissions: { allow: [] } }, { sandbox: strict }, ['permissions.allow']],
    ...Object.entries(strict).map(([key, value]): (typeof rows)[number] => [
      { sandbox: { [key]: !value } },
      {},
      [`sandbox.${key}`],
    ]),
    [
      {
        sandbox: {
          excludedCommands: ['x'],
          filesystem: { denyRead: ['a'], denyWrite: ['b'], allowRead: ['c'], allowWrite: ['d'] },
        },
      },
      { sandbox: { filesystem: { denyRead: ['a'], denyWrite: ['b'] } } },
      ['sandbox.excludedCommands', 'sandbox.filesystem.allowRead', 'sandbox.filesystem.allowWrite'],
    ],
    [
      { sandbox: { network: { deniedDomains: ['a'], allowedDomains: ['b'] } } },
      { sandbox: { network: { deniedDomains: ['a'] } } },
      ['sandbox.network.allowedDomains'],
    ],
    [
      { sandbox: { network: { allowedDomains: [] }, filesystem: 7 } },
      {},
      ['sandbox.network.allowedDomains', 'sandbox.filesystem'],
    ],
    [{ sandbox: { filesystem: { denyRead: ['a'] } } }, { sandbox: { filesystem: { denyRead: ['a'] } } }, []],
    [{ sandbox: true, permissions: 'x' }, {}, ['sandbox', 'permissions']],
    [{ sandbox: { toString: true } }, {}, ['sandbox.toString']],
  ]
  assert.deepEqual(
    rows.map(([settings]) => [settings, onlyRestrictions(settings), heldBackKeys(settings)]),
    rows,
  )
})

test('two levels: objects join, lists add up once each, and what belongs together is replaced', () => {
  table<[JsonObject, JsonObject], JsonObject>(
    [
      [
        [
          { a: 1, b: 1 },
          { b: 2, c: 3 },
        ],
        { a: 1, b: 2, c: 3 },
      ],
      [[{ a: { b: { c: 1, d: 1 } } }, { a: { b: { c: 2 } } }], { a: { b: { c: 2, d: 1 } } }],
      [[{ a: [1, { x: 1 }] }, { a: [{ x: 1 }, 2] }], { a: [1, { x: 1 }, 2] }],
      [[{ a: [1] }, { a: 1 }], { a: 1 }],
      [[{ a: { b: 1 } }, { a: [2] }], { a: [2] }],
      [[{ a: 1 }, { a: { b: 1 } }], { a: { b: 1 } }],
      ...['model_config', 'statusLine'].map(
        (key) =>
          [[{ [key]: { a: 1, b: 1 } }, { [key]: { a: 2 } }], { [key]: { a: 2 } }] as [
            [JsonObject, JsonObject],
            JsonObject,
          ],
      ),
      ...['availableModels', 'fallbackModel'].map(
        (key) => [[{ [key]: ['a'] }, { [key]: ['b'] }], { [key]: ['b'] }] as [[JsonObject, JsonObject], JsonObject],
      ),
      [[{ status: { Line: { a: 1 } } }, { status: { Line: { b: 2 } } }], { status: { Line: { a: 1, b: 2 } } }],
      [[{ x: { statusLine: { a: 1 } } }, { x: { statusLine: { b: 2 } } }], { x: { statusLine: { a: 1, b: 2 } } }],
      [
        [{ mcpServers: { a: { url: '1', x: 1 }, b: {} } }, { mcpServers: { a: { url: '2' } } }],
        { mcpServers: { a: { url: '2' }, b: {} } },
      ],
    ],
    ([weak, strong]) => join(weak, strong),
  )
  assert.deepEqual(
    join({}, { constructor: { a: 1 } }),
    { constructor: { a: 1 } },
    'an own key, not the one of every object',
  )
})

test('the record stands on the floor of the files: guards that it lacks come back and are named', () => {
  const hook = (command: string, more: JsonObject = {}) => ({
    hook_event_name: 'Stop',
    matcher: '',
    command,
    source: 'user',
    ...more,
  })
  const rows: {
    files: JsonObject
    stored: JsonObject
    settings: JsonObject
    restored?: string[]
    changed?: string[]
  }[] = [
    { files: {}, stored: {}, settings: {} },
    {
      files: { permissions: { deny: ['D', 'E'], ask: ['A'] } },
      stored: { permissions: { deny: ['E'] } },
      settings: { permissions: { deny: ['E', 'D'], ask: ['A'] } },
      restored: ['permissions.deny "D"', 'permissions.ask "A"'],
    },
    {
      files: { permissions: { allow: ['A'], deny: ['D'] } },
      stored: { permissions: { allow: ['A', 'B'], deny: ['D'], ask: ['Q'], defaultMode: 'plan' } },
      settings: { permissions: { allow: ['A', 'B'], deny: ['D'], ask: ['Q'], defaultMode: 'plan' } },
      changed: ['permissions.allow "B"', 'permissions.ask "Q"', 'permissions.defaultMode "plan"'],
    },
    { files: { permissions: { allow: ['A'] }, model: 'm' }, stored: {}, settings: {}, changed: ['model'] },
    ...['disableBypassPermissionsMode', 'allowManagedPermissionRulesOnly'].flatMap((key) => [
      {
        files: { permissions: { [key]: 'x' } },
        stored: {},
        settings: { permissions: { [key]: 'x' } },
        restored: [`permissions.${key}`],
      },
      {
        files: { permissions: { [key]: 'x' } },
        stored: { permissions: { [key]: 'x' } },
        settings: { permissions: { [key]: 'x' } },
      },
      {
        files: {},
        stored: { permissions: { [key]: 'x' } },
        settings: { permissions: { [key]: 'x' } },
        changed: [`permissions.${key} "x"`],
      },
      {
        files: { permissions: { [key]: false } },
        stored: { permissions: { [key]: true } },
        settings: { permissions: { [key]: false } },
        restored: [`permissions.${key}`],
        changed: [`permissions.${key} true`],
      },
    ]),
    ...[
      ...['allowManagedHooksOnly', 'allowManagedPermissionRulesOnly', 'allowManagedMcpServersOnly', 'deniedMcpServers'],
      ...['disabledMcpjsonServers', 'hookFailure', 'sandbox'],
    ].flatMap((key) => [
      { files: { [key]: 'x' }, stored: { [key]: 'y' }, settings: { [key]: 'x' }, restored: [key] },
      {
        files: { [key]: { a: 1, b: { c: 2, d: 3 } } },
        stored: { [key]: { b: { d: 3, c: 2 }, a: 1 } },
        settings: { [key]: { a: 1, b: { c: 2, d: 3 } } },
      },
      { files: {}, stored: { [key]: 'y' }, settings: { [key]: 'y' } },
      { files: { [key]: false }, stored: { [key]: true }, settings: { [key]: false }, restored: [key] },
    ]),
    {
      files: { hooks: [hook('one'), hook('two')] },
      stored: { hooks: [hook('mine', { source: 'managed', matcher: 'Bash' }), hook('two')], disableAllHooks: true },
      settings: { hooks: [hook('one'), hook('mine', { source: 'operator', matcher: 'Bash' }), hook('two')] },
      restored: ['the hooks that "disableAllHooks" switched off', 'hook Stop: one'],
      changed: ['hook Stop Bash: mine'],
    },
    {
      files: { hooks: [{ ...hook('x'), type: 'http', command: undefined, url: 'u' }] },
      stored: {},
      settings: { hooks: [{ ...hook('x'), type: 'http', command: undefined, url: 'u' }] },
      restored: ['hook Stop'],
    },
    { files: { disableAllHooks: true }, stored: { disableAllHooks: true }, settings: { disableAllHooks: true } },
    { files: { disableAllHooks: true }, stored: {}, settings: {} },
    { files: {}, stored: { disableAllHooks: false }, settings: { disableAllHooks: false } },
    {
      files: {},
      stored: { permissions: 'x', theme: 'dark' },
      settings: { permissions: 'x', theme: 'dark' },
      changed: ['theme'],
    },
  ]
  assert.deepEqual(
    rows.map(({ files, stored }) => onFloor(stored, files)),
    rows.map(({ settings, restored = [], changed = [] }) => ({ settings, restored, changed })),
  )
})
