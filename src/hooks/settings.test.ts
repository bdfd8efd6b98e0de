import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { defineHook } from './define.ts'
import { readHooks, sayHookProblem } from './settings.ts'

const source = { kind: 'settings', layer: 'user' } as const
const read = (hooks: unknown) => readHooks({ hooks }, { source })
const faults = (hooks: unknown) => read(hooks).problems.map((each) => `${each.level}: ${sayHookProblem(each)}`)

test('the flat list and the object of events say the same', () => {
  const flat = [
    { hook_event_name: 'PreToolUse', matcher: 'Bash', command: 'a', if: 'Bash(git *)', timeout: 2, shell: 'sh' },
    { hook_event_name: 'PreToolUse', matcher: 'Bash', command: 'b' },
    { hook_event_name: 'before_turn_end', command: 'c' },
  ]
  const nested = {
    PreToolUse: [
      {
        matcher: 'Bash',
        hooks: [
          { type: 'command', command: 'a', if_condition: 'Bash(git *)', timeout: 2, shell: 'sh' },
          { type: 'command', command: 'b' },
        ],
      },
    ],
    before_turn_end: [{ hooks: [{ type: 'command', command: 'c' }] }],
  }
  const common = { matcher: 'Bash', ifCondition: '', kind: 'command', shell: 'bash', source }
  const expected = [
    { ...common, event: 'PreToolUse', command: 'a', ifCondition: 'Bash(git *)', timeoutMs: 2000, shell: 'sh' },
    { ...common, event: 'PreToolUse', command: 'b' },
    { ...common, event: 'before_turn_end', matcher: '', command: 'c' },
  ]
  assert.deepEqual(read(flat), { handlers: expected, problems: [] })
  assert.deepEqual(read(nested), { handlers: expected, problems: [] })
})

test('of two names for one thing that are both set, the first counts', () => {
  const hook = { hook_event_name: 'PreToolUse', command: 'x' }
  const { handlers, problems } = read([
    { ...hook, timeout: 2, timeout_ms: 5 },
    { ...hook, if: 'Bash', if_condition: 'Read' },
    { ...hook, onFailure: 'refuse', onError: 'proceed' },
    { ...hook, onFailure: 'proceed', onError: 'block' },
  ])
  assert.deepEqual(problems, [])
  assert.deepEqual(
    handlers.map(({ timeoutMs, ifCondition, onFailure }) => [timeoutMs, ifCondition, onFailure]),
    [
      [5, '', undefined],
      [undefined, 'Bash', undefined],
      [undefined, '', 'refuse'],
      [undefined, '', 'proceed'],
    ],
  )
})

test('every kind of handler can be declared', () => {
  const { handlers, problems } = read([
    { hook_event_name: 'before_tool_apply', type: 'builtin', name: 'redact-secrets', match: { safety: ['network'] } },
    { hook_event_name: 'Stop', type: 'prompt', prompt: 'Done? $ARGUMENTS', model: 'small' },
    { hook_event_name: 'after_generate', type: 'prompt', system: 'Judge', render: { template: '{{model}}' } },
    { hook_event_name: 'Stop', type: 'http', url: 'http://127.0.0.1:9/x', headers: { A: '$B' }, allowedEnvVars: ['B'] },
    { hook_event_name: 'Stop', command: 'x', onError: 'block', once: true, statusMessage: 'checking' },
    { hook_event_name: 'Stop', type: 'function', file: 'guard.ts' },
  ])
  assert.deepEqual(problems, [])
  assert.deepEqual(
    handlers.map(({ kind }) => kind),
    ['builtin', 'prompt', 'prompt', 'http', 'command', 'function'],
  )
})

test('a file gives all that it exports for the event, and what the entry says goes before what it says itself', () => {
  const own = defineHook('PreToolUse', function first() {}, { matcher: 'Bash', if: 'Bash(rm *)', timeoutMs: 5 })
  const other = defineHook('PreToolUse', function second() {})
  const elsewhere = defineHook('Stop', function third() {})
  const load = () => ({ handlers: [own, other, elsewhere] })
  const hook = { hook_event_name: 'PreToolUse', type: 'function', file: 'guard.ts' }
  const read = (more: object) => readHooks({ hooks: [{ ...hook, ...more }] }, { source, load }).handlers
  assert.deepEqual(read({}), [
    { ...own, name: 'first in guard.ts', file: 'guard.ts', source },
    { ...other, name: 'second in guard.ts', file: 'guard.ts', source },
  ])
  const asked = {
    matcher: 'Write',
    ifCondition: 'Write',
    timeoutMs: 1000,
    onFailure: 'refuse',
    file: 'guard.ts',
    source,
  }
  assert.deepEqual(read({ matcher: 'Write', if: 'Write', timeout: 1, onError: 'block' }), [
    { ...own, name: 'first in guard.ts', ...asked },
    { ...other, name: 'second in guard.ts', ...asked },
  ])
})

test('a file is not loaded for hooks that must not run, and one without a hook for the event is an error', () => {
  const hooks = [{ hook_event_name: 'Stop', type: 'function', file: 'guard.ts' }]
  const load = () => ({
    handlers: (['PreToolUse', 'Notification', 'PreToolUse'] as const).map((event) =>
      defineHook(event, () => undefined),
    ),
  })
  assert.deepEqual(readHooks({ hooks }, { source, load }).problems.map(sayHookProblem), [
    'hooks[0].file guard.ts exports no hook for Stop, only for PreToolUse, Notification',
  ])
  const never = () => assert.fail('it was loaded')
  const { handlers } = readHooks({ hooks }, { source, load: never, withheld: 'untrusted_workspace' })
  assert.deepEqual(
    handlers.map(({ event, withheld }) => [event, withheld]),
    [['Stop', 'untrusted_workspace']],
  )
  const { run: _, ...listed } = readHooks({ hooks }, { source }).handlers[0] as { run?: unknown }
  const common = { kind: 'function', name: 'guard.ts', file: 'guard.ts', matcher: '', ifCondition: '', source }
  assert.deepEqual(listed, { ...common, event: 'Stop', of: 'event' })
  const atStep = readHooks({ hooks: [{ ...hooks[0], hook_event_name: 'before_ingest' }] }, { source }).handlers[0]
  assert.deepEqual({ ...atStep, run: _ }, { ...common, event: 'before_ingest', of: 'step', run: _ })
})

test('a command goes on alone only with Claude Code’s profile, at an event, and without asyncRewake', () => {
  const isAlone = (more: object) => {
    const { handlers } = read([{ hook_event_name: 'Stop', command: 'x', ...more }])
    return handlers.map((handler) => handler.kind === 'command' && handler.async === true)[0]
  }
  const rows: [object, boolean][] = [
    [{ profile: 'claude', async: true }, true],
    [{ profile: 'claude', async: false }, false],
    [{ profile: 'claude' }, false],
    [{ profile: 'claude', async: true, asyncRewake: true }, false],
    [{ profile: 'claude', async: true, asyncRewake: false }, true],
    [{ profile: 'claude', asyncRewake: false }, false],
    [{ async: true }, false],
    [{ profile: 'claude', async: true, hook_event_name: 'before_turn_end' }, false],
  ]
  for (const [more, alone] of rows) assert.equal(isAlone(more), alone, JSON.stringify(more))
})

test('a misspelt name is an error that says which was meant', () => {
  assert.deepEqual(faults([{ hook_event_name: 'PreToolUs', command: 'x' }]), [
    'error: hooks[0].hook_event_name is "PreToolUs"; did you mean "PreToolUse"?',
  ])
  assert.deepEqual(faults({ before_tool_aply: [] }), [
    'error: hooks has a key that is "before_tool_aply"; did you mean "before_tool_apply"?',
  ])
  assert.match(faults([{ hook_event_name: 'Lunch', command: 'x' }])[0]!, /it must be one of PreToolUse, /)
  assert.deepEqual(faults([{ hook_event_name: 'Stop', type: 'comand', command: 'x' }]), [
    'error: hooks[0].type is "comand"; did you mean "command"?',
  ])
})

test('what is wrong is named with its place; what is right beside it is in force', () => {
  const stop = (more: object) => ({ hook_event_name: 'Stop', ...more })
  const { handlers, problems } = read([
    stop({}),
    stop({ command: ' ' }),
    stop({ command: 'x', timeout: 0 }),
    stop({ command: 'x', shell: 'fish' }),
    stop({ type: 'builtin', name: 'redact-secret' }),
    stop({ type: 'builtin', name: 'redact-secrets' }),
    stop({ type: 'http', url: 'http://example.com' }),
    stop({ type: 'http', url: 'https://u:p@example.com' }),
    stop({ type: 'prompt' }),
    stop({ command: 'x', match: { tool: 'Bash' } }),
    { hook_event_name: 'before_tool_apply', command: 'x', match: { tol: 'Bash' } },
    { command: 'x' },
    'x',
    stop({ command: 'good' }),
    stop({ command: 'a\0b' }),
    stop({ command: 'a', args: ['b\0'] }),
  ])
  assert.equal(handlers.length, 1)
  assert.deepEqual(problems.map(sayHookProblem), [
    'hooks[0].command is missing',
    'hooks[1].command is empty',
    'hooks[2].timeout must be at least 0.001, not 0',
    'hooks[3].shell must be one of bash, sh, powershell; did you mean "bash"?',
    'hooks[4].name is "redact-secret"; did you mean "redact-secrets"?',
    'hooks[5].name is a built-in, and those stand at steps',
    'hooks[6].url sends the event unencrypted to another machine; use https',
    'hooks[7].url has a password in it; give it in a header, from an environment variable',
    'hooks[8].prompt is missing',
    'hooks[9].match belongs to steps; at Stop use "matcher"',
    'hooks[10].match.tol is not known here; known: tool,tool_glob,safety',
    'hooks[11].hook_event_name is missing; it names the event or step',
    'hooks[12] must be an object with hook_event_name and command',
    'hooks[14].command has a NUL in it, which no program can take; remove it',
    'hooks[15].args has a NUL in it, which no program can take; remove it',
  ])
})

test('what cannot be what was meant is a warning', () => {
  assert.deepEqual(
    faults([
      { hook_event_name: 'PreToolUse', command: 'x', matcher: '[' },
      { hook_event_name: 'Stop', command: 'x', matcher: 'Bash' },
      { hook_event_name: 'TaskCreated', command: 'x', matcher: 'Bash' },
      { hook_event_name: 'before_ingest', command: 'x', matcher: 'Bash' },
      { hook_event_name: 'Stop', command: 'x', if: 'Bash' },
      { hook_event_name: 'PreToolUse', command: 'x', async: true },
      { hook_event_name: 'after_tool_apply', command: 'x', match: { safety: ['network'] } },
      { hook_event_name: 'PreToolUse', command: 'x', timout: 3 },
    ]),
    [
      'warning: hooks[0].matcher "[" is no regular expression: the hook never runs',
      'warning: hooks[1].matcher is ignored: Stop has nothing to match',
      'warning: hooks[2].matcher has nothing to match at TaskCreated: the hook never runs',
      'warning: hooks[3].matcher has nothing to match at before_ingest: the hook never runs',
      'warning: hooks[4].if is a rule for tool calls, and Stop has none: the hook never runs',
      'warning: hooks[5].async has no effect; the hook is waited for like any other',
      'warning: hooks[6].match asks for a safety class, which only before_tool_apply shows: the hook never runs',
      'warning: hooks[7].timout is an unknown key; ignored',
    ],
  )
})

test('a matcher that could run for ever is an error, at an event and at a step', () => {
  const why =
    'matcher "^(\\\\w+)+$" can take exponential time: a repeated part can match the same text in two ways, as in (a+)+; repeat it once'
  assert.deepEqual(
    faults([
      { hook_event_name: 'PreToolUse', command: 'x', matcher: '^(\\w+)+$' },
      { hook_event_name: 'before_tool_apply', command: 'x', matcher: '^(\\w+)+$' },
    ]),
    [`error: hooks[0].${why}`, `error: hooks[1].${why}`],
  )
})

test('hooks that must not run carry the reason', () => {
  const settings = { hooks: [{ hook_event_name: 'Stop', command: 'x' }] }
  assert.equal(
    readHooks(settings, { source, withheld: 'untrusted_workspace' }).handlers[0]?.withheld,
    'untrusted_workspace',
  )
})

test('settings that are no object have no hooks', () => {
  for (const settings of [undefined, null, 7, 'text', [], [{ hooks: [{ hook_event_name: 'Stop', command: 'x' }] }]])
    assert.deepEqual(readHooks(settings, { source }), { handlers: [], problems: [] })
})

test('no JSON value makes the reading throw', () => {
  const entry = fc.record(
    {
      hook_event_name: fc.constantFrom('PreToolUse', 'before_tool_apply', '__proto__', 3),
      matcher: fc.jsonValue(),
      match: fc.jsonValue(),
      type: fc.constantFrom('command', 'builtin', 'prompt', 'http', 'toString', 1),
      command: fc.jsonValue(),
      name: fc.jsonValue(),
      url: fc.jsonValue(),
      prompt: fc.jsonValue(),
      timeout: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  const hooks = fc.oneof(fc.array(entry), fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue())
  fc.assert(
    fc.property(hooks, (value) => {
      assert.ok(Array.isArray(read(value).handlers))
    }),
    { numRuns: 1_000 },
  )
})

test('each fault of a hook, word for word, with its level', () => {
  const pre = (more: object) => ({ hook_event_name: 'PreToolUse', command: 'x', ...more })
  const step = (more: object) => ({ hook_event_name: 'before_tool_apply', command: 'x', ...more })
  const said = (hooks: unknown, profile?: 'claude') =>
    readHooks({ hooks }, { source, ...(profile && { profile }) }).problems.map(
      (each) => `${each.level}: ${sayHookProblem(each)}`,
    )
  const cases: [unknown, string[]][] = [
    [7, ['error: hooks must be a list of hooks, or an object of events']],
    [null, []],
    [{ Stop: 7 }, ['error: hooks.Stop must be a list of {"matcher": …, "hooks": […]}']],
    [{ Stop: [7] }, ['error: hooks.Stop[0] must be {"matcher": …, "hooks": […]}']],
    [{ Stop: [{ matcher: '' }] }, ['error: hooks.Stop[0] must be {"matcher": …, "hooks": […]}']],
    [{ Stop: [{ hooks: [7] }] }, ['error: hooks.Stop[0].hooks[0] must be an object with type and command']],
    [{ Stop: [{ hooks: [], macher: 'x' }] }, ['warning: hooks.Stop[0].macher is an unknown key; ignored']],
    [{ Stop: [{ matcher: 7, hooks: [{ command: 'x' }] }] }, ['error: hooks.Stop[0].hooks[0].matcher must be a string']],
    [[pre({ type: 7 })], ['error: hooks[0].type must be a string']],
    [[pre({ command: undefined })], ['error: hooks[0].command must be a string, not nothing']],
    [[{ hook_event_name: 'Stop' }], ['error: hooks[0].command is missing']],
    [[step({ type: 'builtin' })], ['error: hooks[0].name is missing']],
    [[pre({ type: 'http' })], ['error: hooks[0].url is missing']],
    [[pre({ type: 'function' })], ['error: hooks[0].file is missing']],
    [
      [pre({ type: 'prompt' })],
      ['warning: hooks[0].command is an unknown key; ignored', 'error: hooks[0].prompt is missing'],
    ],
    [
      [pre({ type: 'mcp_tool' })],
      ['error: hooks[0].type is "mcp_tool", a kind of hook that ona does not run; use "command", "prompt" or "http"'],
    ],
    [
      [step({ match: { tool: 'Bash' }, matcher: 'Bash' })],
      ['error: hooks[0].match stands beside a matcher; keep one of the two'],
    ],
    [
      [pre({ type: 'agent' })],
      ['error: hooks[0].type is "agent", a kind of hook that ona does not run; use "command", "prompt" or "http"'],
    ],
    [[{ hook_event_name: 'TaskCreated', command: 'x', matcher: '*' }], []],
    [[{ hook_event_name: 'before_ingest', command: 'x', matcher: '*' }], []],
    ...['before_permission', 'after_permission', 'before_tool_apply', 'after_tool_apply'].map(
      (name): [unknown, string[]] => [[{ hook_event_name: name, command: 'x', matcher: 'Bash', if: 'Bash(ls)' }], []],
    ),
    [[step({ match: 7 })], ['error: hooks[0].match must be an object, not a number']],
    [[step({ match: null })], []],
    [[{ hook_event_name: 'before_permission', command: 'x', match: { safety: [] } }], []],
    [[pre({ timeout_ms: 0 })], ['error: hooks[0].timeout_ms must be at least 1, not 0']],
    [[pre({ timeout_ms: 86_400_001 })], ['error: hooks[0].timeout_ms must be at most 86400000, not 86400001']],
    [[pre({ timeout_ms: 1 }), pre({ timeout_ms: 86_400_000 }), pre({ timeout: 0.001 }), pre({ timeout: 86_400 })], []],
    [[pre({ timeout: 86_401 })], ['error: hooks[0].timeout must be at most 86400, not 86401']],
    [
      [pre({ sandbox: true, persistent: true })],
      ['error: hooks[0].persistent does not go with "sandbox"; leave one of them out'],
    ],
    [
      [step({ parallel: true })],
      ['error: hooks[0].parallel belongs to events; at a step each hook sees what the one before it changed'],
    ],
    [[step({ parallel: false })], []],
    [
      [pre({ asyncRewake: true })],
      ['warning: hooks[0].asyncRewake has no effect; the hook is waited for like any other'],
    ],
    ...[{ onFailure: 'refuse' }, { onError: 'block' }, { onFailure: 'refuse', onError: 'proceed' }].map(
      (guard): [unknown, string[]] => [
        [{ hook_event_name: 'Stop', command: 'x', if: 'Bash', ...guard }],
        ['error: hooks[0].if is a rule for tool calls, and Stop has none: the hook never runs'],
      ],
    ),
    [
      [{ hook_event_name: 'Stop', command: 'x', if: 'Bash', onFailure: 'proceed', onError: 'block' }],
      ['warning: hooks[0].if is a rule for tool calls, and Stop has none: the hook never runs'],
    ],
    [
      [pre({ matcher: '[', onFailure: 'refuse' })],
      ['error: hooks[0].matcher "[" is no regular expression: the hook never runs'],
    ],
    [
      [{ hook_event_name: 'Stop', type: 'prompt', prompt: 'x', render: 'json' }],
      ['error: hooks[0].render goes with "system", not "prompt"'],
    ],
    [[{ hook_event_name: 'Stop', type: 'http', url: 'x' }], ['error: hooks[0].url is not a URL']],
    [
      [{ hook_event_name: 'Stop', type: 'http', url: 'ftp://x' }],
      ['error: hooks[0].url is ftp:; only http and https can be posted to'],
    ],
  ]
  for (const [hooks, expected] of cases) assert.deepEqual(said(hooks), expected)
  assert.deepEqual(said([pre({ async: true })], 'claude'), [])
  assert.deepEqual(said([pre({ async: true, onFailure: 'refuse' })], 'claude'), [
    'error: hooks[0].async does not go with "onFailure": "refuse": nobody waits for its answer; leave one of them out',
  ])
  assert.deepEqual(said([pre({ async: true, persistent: true })], 'claude'), [
    'error: hooks[0].async does not go with "persistent"; leave one of them out',
  ])
  assert.deepEqual(said([pre({ async: true, parallel: true })], 'claude'), [
    'error: hooks[0].async does not go with "parallel": nobody waits for it; leave one of them out',
  ])
  const load = () => ({ why: 'guard.ts cannot be loaded' })
  const file = [{ hook_event_name: 'Stop', type: 'function', file: 'guard.ts' }]
  assert.deepEqual(readHooks({ hooks: file }, { source, load }).problems, [
    { path: 'hooks[0].file', why: 'guard.ts cannot be loaded', level: 'error' },
  ])
})

test('each kind of hook is read whole', () => {
  const all = { source, matcher: '', ifCondition: '' }
  const { handlers } = read([
    { hook_event_name: 'Stop', command: 'x', timeout: 2, onError: 'block', once: true, statusMessage: 's', name: 'n' },
    { hook_event_name: 'Stop', command: 'x', timeout_ms: 5, onFailure: 'proceed', profile: 'claude', async: true },
    { hook_event_name: 'Stop', command: 'x', args: ['a'], shell: 'sh', sandbox: true },
    { hook_event_name: 'Stop', command: 'x', persistent: true, parallel: true },
    {
      ...{ hook_event_name: 'Stop', command: 'x', once: false, statusMessage: '', sandbox: false, persistent: false },
      ...{ async: false, asyncRewake: false, parallel: false, matcher: '', if: '' },
    },
    { hook_event_name: 'before_tool_apply', type: 'builtin', name: 'tracing-audit', match: { tool: 'Bash' } },
    { hook_event_name: 'Stop', type: 'prompt', system: 's', render: { template: 't' }, model: 'm' },
    { hook_event_name: 'Stop', type: 'prompt', prompt: 'p' },
    { hook_event_name: 'Stop', type: 'http', url: 'https://x/', headers: { a: 'b' }, allowedEnvVars: ['C'] },
    { hook_event_name: 'Stop', type: 'http', url: 'https://x/' },
  ])
  assert.deepEqual(JSON.parse(JSON.stringify(handlers)), [
    {
      ...{ ...all, event: 'Stop', kind: 'command', command: 'x', shell: 'bash', timeoutMs: 2000 },
      ...{ onFailure: 'refuse', once: true, statusMessage: 's' },
    },
    {
      ...{ ...all, event: 'Stop', kind: 'command', command: 'x', shell: 'bash', timeoutMs: 5, onFailure: 'proceed' },
      ...{ profile: 'claude', async: true },
    },
    { ...all, event: 'Stop', kind: 'command', command: 'x', shell: 'sh', args: ['a'], sandbox: true },
    { ...all, event: 'Stop', kind: 'command', command: 'x', shell: 'bash', parallel: true, persistent: true },
    { ...all, event: 'Stop', kind: 'command', command: 'x', shell: 'bash' },
    {
      ...{ ...all, event: 'before_tool_apply', kind: 'builtin', name: 'tracing-audit' },
      ...{ matcher: '{"tool":"Bash"}', match: { tool: 'Bash' } },
    },
    { ...all, event: 'Stop', kind: 'prompt', system: 's', render: { template: 't' }, model: 'm' },
    { ...all, event: 'Stop', kind: 'prompt', prompt: 'p' },
    { ...all, event: 'Stop', kind: 'http', url: 'https://x/', headers: { a: 'b' }, allowedEnvVars: ['C'] },
    { ...all, event: 'Stop', kind: 'http', url: 'https://x/', headers: {}, allowedEnvVars: [] },
  ])
})

test('on Windows a command line is PowerShell’s, and a program with its arguments needs no shell', () => {
  const { platform } = process
  Object.defineProperty(process, 'platform', { value: 'win32' })
  try {
    const hook = (more: object) => [{ hook_event_name: 'Stop', command: 'x', ...more }]
    assert.deepEqual(
      [
        faults(hook({})),
        faults(hook({ shell: 'sh' })),
        faults(hook({ shell: 'powershell' })),
        faults(hook({ args: [] })),
      ],
      [
        ['error: hooks[0].shell is bash, which does not run on Windows; use "shell": "powershell"'],
        ['error: hooks[0].shell is sh, which does not run on Windows; use "shell": "powershell"'],
        [],
        [],
      ],
    )
  } finally {
    Object.defineProperty(process, 'platform', { value: platform })
  }
})

test('a match of a step is no matcher, and is not read as one', () => {
  const hooks = ['before_ingest', 'before_tool_apply'].flatMap((hook_event_name) =>
    [{}, { tool: '(+' }].map((match) => ({ hook_event_name, command: 'x', match })),
  )
  const { handlers, problems } = readHooks({ hooks }, { source: { kind: 'settings' } })
  assert.deepEqual([handlers.length, problems], [4, []])
})
