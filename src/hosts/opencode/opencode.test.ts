/** The plugin that we write for opencode: compiled against its types, and called as opencode calls it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { packageRoot } from '../../package-root.ts'
import type { BrainHook } from '../hook.ts'
import { opencode } from './index.ts'

const author = 'repo=acme/role=mechanic'
const hook = (over: Partial<BrainHook>): BrainHook => ({
  author,
  event: 'onTool',
  command: 'true',
  timeout: 'PT10S',
  ...over,
})
const log = (name: string) =>
  `node -e "require('fs').appendFileSync('log', '${name} ' + require('fs').readFileSync(0))"`

type Handler = (input: object, output?: object) => Promise<void>

/** Loads the plugin as opencode's loader does: every export must be a function, and each is called once. */
async function host(t: TestContext, hooks: readonly BrainHook[]) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-opencode-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, '.opencode/plugin'), { recursive: true })
  const path = join(root, opencode.config)
  writeFileSync(path, opencode.write(null, hooks, opencode.config)!)
  const module = (await import(pathToFileURL(path).href)) as Record<string, unknown>
  const warnings: string[] = []
  const client = { app: { log: async ({ body }: { body: { message: string } }) => void warnings.push(body.message) } }
  const handlers: Record<string, Handler> = {}
  for (const plugin of Object.values(module)) {
    assert.equal(typeof plugin, 'function')
    Object.assign(
      handlers,
      await (plugin as (input: object) => Promise<object>)({ client, directory: root, worktree: root }),
    )
  }
  const read = () => (existsSync(join(root, 'log')) ? readFileSync(join(root, 'log'), 'utf8').trim().split('\n') : [])
  return {
    root,
    warnings,
    event: (type: string, properties: object) => handlers['event']!({ event: { type, properties } }),
    before: (tool: string, args: object) =>
      handlers['tool.execute.before']!({ tool, sessionID: 's', callID: 'c' }, { args }),
    after: (tool: string, args: object, output: object) =>
      handlers['tool.execute.after']!({ tool, sessionID: 's', callID: 'c', args }, output),
    async system(sessionID: string) {
      const output = { system: ['base'] }
      await handlers['experimental.chat.system.transform']!({ sessionID, model: {} }, output)
      return output.system
    },
    seen: () =>
      read().map(
        (line) => [line.split(' ')[0], JSON.parse(line.slice(line.indexOf(' ')))] as [string, Record<string, unknown>],
      ),
  }
}

test('tools and arguments may have any name', async (t) => {
  const { before, seen } = await host(t, [hook({ command: log('any') })])
  await before('constructor', { toString: 1, filePath: 2 })
  const [[, { tool_name, tool_input }]] = seen() as [[string, Record<string, unknown>]]
  assert.deepEqual([tool_name, tool_input], ['constructor', { toString: 1, file_path: 2 }])
})

test('a refusal counts wherever the answer has it, and after a byte order mark', async (t) => {
  const answers = [
    { permissionDecision: 'deny', permissionDecisionReason: 'no' },
    { permissionDecision: 'deny', reason: 'no', hookSpecificOutput: { permissionDecision: 'allow' } },
    { decision: 'block', reason: 'no' },
  ].map((answer) => JSON.stringify(answer))
  for (const onFailure of ['refuse', 'pass'] as const)
    for (const text of [...answers, `\\357\\273\\277${answers[0]}`]) {
      const { before } = await host(t, [hook({ command: `printf '${text}'`, onFailure })])
      await assert.rejects(before('bash', { command: 'ls' }), { message: 'no' }, text)
    }
  const odd = { decision: 'denny', hookSpecificOutput: { permissionDecision: 'allow' } }
  const { before } = await host(t, [hook({ command: `printf '${JSON.stringify(odd)}'`, onFailure: 'refuse' })])
  await assert.rejects(before('bash', { command: 'ls' }), /unknown decision "denny"/)
})

test('a call that gives an argument under both of its names is refused, unless both say the same', async (t) => {
  const { before, seen } = await host(t, [hook({ command: log('judged') })])
  const differs = { message: /gives both filePath and file_path, and they differ/ }
  await assert.rejects(before('write', { filePath: '/etc/passwd', file_path: '/tmp/a' }), differs)
  await assert.rejects(before('write', { file_path: '/tmp/a', filePath: '/etc/passwd' }), differs)
  assert.deepEqual(seen(), [])
  await before('write', { filePath: '/tmp/a', file_path: '/tmp/a' })
  assert.equal(seen().length, 1)
})

test('the plugin compiles against the published types, and a mistake in it would not', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'ona-opencode-tsc-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const types = join(root, 'node_modules/@opencode-ai/plugin')
  mkdirSync(types, { recursive: true })
  mkdirSync(join(root, '.opencode/plugin'), { recursive: true })
  symlinkSync(join(packageRoot, 'node_modules/@types'), join(root, 'node_modules/@types'))
  symlinkSync(join(packageRoot, 'node_modules/undici-types'), join(root, 'node_modules/undici-types'))
  writeFileSync(
    join(types, 'package.json'),
    '{ "name": "@opencode-ai/plugin", "type": "module", "types": "index.d.ts" }',
  )
  writeFileSync(join(types, 'index.d.ts'), readFileSync(join(packageRoot, 'src/hosts/opencode/plugin-types.txt')))
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }')
  const compile = (text: string) => {
    writeFileSync(join(root, opencode.config), text)
    const flags = [
      '--noEmit',
      '--strict',
      '--noUncheckedIndexedAccess',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--types',
      'node',
    ]
    const { status, stdout } = spawnSync(join(packageRoot, 'node_modules/.bin/tsc'), [...flags, opencode.config], {
      cwd: root,
      encoding: 'utf8',
    })
    return { status, stdout }
  }
  const plugin = opencode.write(null, [hook({ filter: { what: 'Bash|Write' } })], '')!
  assert.deepEqual(compile(plugin), { status: 0, stdout: '' })
  assert.notEqual(
    compile(plugin.replace("'tool.execute.before':", "tool: { execute: { before: async () => {} } },\n'x':")).status,
    0,
  )
})

test('a hook gets the event on stdin in the names that a role is written in', async (t) => {
  const { before, after, seen, root } = await host(t, [
    hook({ command: log('before'), filter: { what: 'Write|Edit' } }),
    hook({ command: log('after'), filter: { what: 'Bash', when: 'after' } }),
  ])
  await before('edit', { filePath: '/a', oldString: 'x', newString: 'y' })
  await before('bash', { command: 'ls' })
  await before('apply_patch', { patchText: 'p' })
  await after('bash', { command: 'ls' }, { title: '', output: 'files', metadata: {} })
  const call = { session_id: 's', cwd: root, tool_use_id: 'c' }
  const edit = { ...call, hook_event_name: 'PreToolUse', tool_name: 'Edit', native_tool_name: 'edit' }
  assert.deepEqual(seen(), [
    ['before', { ...edit, tool_input: { file_path: '/a', old_string: 'x', new_string: 'y' } }],
    ['before', { ...edit, tool_name: 'Write', native_tool_name: 'apply_patch', tool_input: { patchText: 'p' } }],
    [
      'after',
      {
        ...call,
        hook_event_name: 'PostToolUse',
        tool_name: 'Bash',
        native_tool_name: 'bash',
        tool_input: { command: 'ls' },
        tool_response: 'files',
      },
    ],
  ])
})

test('exit 2 refuses the call with its reason; so does a deny in JSON; any other failure does not, and is logged', async (t) => {
  const refuse = await host(t, [hook({ command: 'echo no >&2; exit 2' })])
  await assert.rejects(refuse.before('bash', {}), { message: 'no' })
  const deny = JSON.stringify({ hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'never' } })
  const denied = await host(t, [hook({ command: `echo '${deny}'` })])
  await assert.rejects(denied.before('bash', {}), { message: 'never' })
  const fails = await host(t, [hook({ command: 'echo oops >&2; exit 1' }), hook({ command: 'no-such-program-here' })])
  await fails.before('bash', {})
  assert.match(fails.warnings.join('\n'), /exit 1 failed \(exit 1\): oops.*no-such-program-here failed \(exit 127\)/s)
})

test('a refusal counts in whatever form and at whatever exit code, and a decision that is none is reported', async (t) => {
  for (const [answer, message] of [
    ['{"continue":false,"stopReason":"halt"}', 'halt'],
    ['{"hookSpecificOutput":{"permissionDecision":"defer"}}', /needs your approval/],
    ['{"permission":"deny","reason":"no"}', 'no'],
    ['{"decision":"denny","permissionDecision":"deny","permissionDecisionReason":"no"}', 'no'],
  ] as const)
    for (const end of ['', '; exit 1']) {
      const { before } = await host(t, [hook({ command: `echo '${answer}'${end}` })])
      await assert.rejects(before('bash', {}), { message })
    }
  for (const answer of ['{"permissionDecision":["deny"]}', '{"hookSpecificOutput":"deny"}']) {
    const passes = await host(t, [hook({ command: `echo '${answer}'` })])
    await passes.before('bash', {})
    assert.match(passes.warnings.join(), /failed: (unknown decision \["deny"\]|hookSpecificOutput is not an object)/)
    const guarded = await host(t, [hook({ command: `echo '${answer}'`, onFailure: 'refuse' })])
    await assert.rejects(guarded.before('bash', {}), /its failure refuses the call/)
  }
  for (const answer of ['{"deny":true}', '{"hookSpecificOutput":{"hookEventName":"PreToolUse","denied":"yes"}}']) {
    const { before } = await host(t, [hook({ command: `echo '${answer}'`, onFailure: 'refuse' })])
    await assert.rejects(before('bash', {}), /its answer says nothing that is known: den/)
  }
})

test('output that is too long, and a limit longer than a timer, lose no guard', async (t) => {
  const { before, warnings } = await host(t, [hook({ command: 'yes' })])
  await before('bash', {})
  assert.match(warnings.join(), /longer than 4 MiB/)
  const month = await host(t, [hook({ command: 'echo never >&2; exit 2', timeout: 'P30D' })])
  await assert.rejects(month.before('bash', {}), { message: 'never' })
})

test('a hook changes the arguments before the tool, and what the model hears after it', async (t) => {
  const changed = JSON.stringify({ hookSpecificOutput: { updatedInput: { file_path: '/safe' } } })
  const { before, after } = await host(t, [
    hook({ command: `echo '${changed}'`, filter: { what: 'Write' } }),
    hook({ command: 'echo tidy up >&2; exit 2', filter: { what: 'Write', when: 'after' } }),
  ])
  const args = { filePath: '/etc/passwd', content: 'x' }
  await before('write', args)
  assert.deepEqual(args, { filePath: '/safe', content: 'x' })
  const output = { title: '', output: 'written', metadata: {} }
  await after('write', args, output)
  assert.equal(output.output, 'written\n\ntidy up')
})

test('past its time a hook is ended with all that it started, and the call goes on', async (t) => {
  const { before, warnings, root } = await host(t, [
    hook({ command: 'sh -c "sleep 30; touch late" & sleep 30; touch late', timeout: 'PT0.3S' }),
  ])
  const startedAt = performance.now()
  await before('bash', {})
  assert.ok(performance.now() - startedAt < 5000)
  assert.match(warnings[0]!, /it took longer than 300 ms/)
  assert.equal(existsSync(join(root, 'late')), false)
})

test('boot runs for a new, a resumed and a compacted session, not for a subagent, and what it prints is in front of the model', async (t) => {
  const { event, system, seen } = await host(t, [
    hook({ event: 'onBoot', command: `${log('boot')}; echo brief` }),
    hook({ event: 'onStop', command: log('stop') }),
  ])
  await event('session.created', { info: { id: 'main' } })
  await event('session.created', { info: { id: 'child', parentID: 'main' } })
  assert.deepEqual(
    [await system('main'), await system('child'), await system('old')],
    [['base', 'brief'], ['base'], ['base', 'brief']],
  )
  await event('session.compacted', { sessionID: 'main' })
  assert.deepEqual(await system('main'), ['base', 'brief'])
  await event('session.idle', { sessionID: 'main' })
  await event('session.idle', { sessionID: 'child' })
  assert.deepEqual(
    seen().map(([name, payload]) => [name, payload['session_id'], payload['source']]),
    [
      ['boot', 'main', 'startup'],
      ['boot', 'old', 'resume'],
      ['boot', 'main', 'compact'],
      ['stop', 'main', undefined],
    ],
  )
})

test('MCP tools and regular expressions are matched too', async (t) => {
  const { before, seen } = await host(t, [
    hook({ command: log('mcp'), filter: { what: 'mcp__git-hub__create_issue' } }),
    hook({ command: log('regex'), filter: { what: '^(Bash|Edit)$' } }),
  ])
  for (const tool of ['git-hub_create_issue', 'bash', 'edit', 'read']) await before(tool, {})
  assert.deepEqual(
    seen().map(([name, { native_tool_name }]) => [name, native_tool_name]),
    [
      ['mcp', 'git-hub_create_issue'],
      ['regex', 'bash'],
      ['regex', 'edit'],
    ],
  )
})

test('a file that we did not write is not overwritten', () => {
  assert.throws(
    () => opencode.write('export const Mine = 1\n', [hook({})], '.opencode/plugin/rhachet-hooks.ts'),
    /rhachet-hooks\.ts:1:1: this file is not one that ona wrote/,
  )
  const broken = opencode.write(null, [hook({})], 'x')!.replace('"moment":"before"', '"moment":"sometimes"')
  assert.throws(() => opencode.write(broken, [], 'x'), /x:17:1: this line is no longer a hook/)
})
