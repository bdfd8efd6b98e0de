import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fullRole, mechanic } from '../../test/support/host-suite.ts'
import { adapterFor } from '../hosts/adapter.ts'
import { hostOf } from '../hosts/index.ts'
import { applySync, planSync } from './plan.ts'
import type { Role, RoleHooksOnBrain } from './role.ts'

function place(t: TestContext, files: Record<string, string> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'ona-plan-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const request = (roles: readonly Role[], slugs: readonly string[]) => ({
    root,
    roles,
    targets: slugs.map((slug) => ({ slug, adapter: adapterFor(hostOf(slug)!, root) })),
  })
  const text = (path: string) => readFileSync(join(root, path), 'utf8')
  return {
    root,
    text,
    has: (path: string) => existsSync(join(root, path)),
    json: (path: string) => JSON.parse(text(path)),
    sync: (roles: readonly Role[], ...slugs: string[]) => applySync(request(roles, slugs)),
    plan: (roles: readonly Role[], ...slugs: string[]) => planSync(request(roles, slugs)),
    prune: (keep: readonly string[], ...slugs: string[]) =>
      applySync({ ...request([], slugs), known: keep, drops: () => true }),
    held: async (slug: string) => (await adapterFor(hostOf(slug)!, root).dao.get.all()).length,
  }
}
const guard = mechanic({ onTool: [{ command: 'guard', timeout: 'PT5S', filter: { what: 'Write' } }] })

test('the plan says what would be created, updated, deleted and kept, and does none of it', async (t) => {
  const { sync, plan, json } = place(t)
  const before: RoleHooksOnBrain = {
    onTool: [
      { command: 'stays', timeout: 'PT5S' },
      { command: 'changes', timeout: 'PT5S' },
      { command: 'goes', timeout: 'PT5S' },
    ],
  }
  await sync([mechanic(before)], 'codex')
  const after = mechanic({
    onTool: [
      { command: 'comes', timeout: 'PT5S' },
      { command: 'stays', timeout: 'PT5S' },
      { command: 'changes', timeout: 'PT9S' },
    ],
  })
  const [codex] = await plan([after], 'codex')
  assert.deepEqual(
    codex!.changes.map(({ kind, hook }) => [kind, hook.command]),
    [
      ['create', 'comes'],
      ['keep', 'stays'],
      ['update', 'changes'],
      ['delete', 'goes'],
    ],
  )
  assert.equal(json('.codex/hooks.json').hooks.PreToolUse.length, 3)
  await sync([after], 'codex')
  assert.deepEqual(
    (await plan([after], 'codex'))[0]!.changes.map(({ kind }) => kind),
    ['keep', 'keep', 'keep'],
  )
})

test('one write a file, however many roles; none when nothing changes', async (t) => {
  const { sync, root, held } = place(t)
  const roles = ['a', 'b', 'c'].map((slug): Role => ({ ...fullRole, slug }))
  const slugs = ['claudecode', 'opencode', 'gemini', 'codex', 'cursor', 'ona']
  const plans = await sync(roles, ...slugs)
  assert.deepEqual(
    plans.map(({ files }) => files.filter(({ path }) => !path.endsWith('.cjs')).length),
    [1, 1, 1, 1, 1, 1],
  )
  for (const slug of slugs) {
    assert.equal(await held(slug), 15)
    utimesSync(join(root, hostOf(slug)!.config), 1000, 1000)
  }
  assert.deepEqual(
    (await sync(roles, ...slugs)).flatMap(({ files }) => files),
    [],
  )
  for (const slug of slugs) assert.equal(statSync(join(root, hostOf(slug)!.config)).mtimeMs, 1_000_000)
})

test('VS Code and Copilot share one file, and a hook stands in it once', async (t) => {
  const { sync, held, json } = place(t)
  const [vscode, copilot] = await sync([guard], 'vscode', 'copilot')
  assert.deepEqual(
    [vscode!.files.length, copilot!.files.length, await held('vscode'), await held('copilot')],
    [2, 0, 1, 1],
  )
  assert.match(copilot!.notes.join(), /reads the same file as VS Code Copilot/)
  assert.equal(json('.github/hooks/rhachet-hooks.json').hooks.PreToolUse.length, 1)
})

test('where Claude Code has the hooks, VS Code and Copilot are served from its file, and the report says so', async (t) => {
  const { sync, has, json } = place(t)
  const plans = await sync([guard], 'claudecode', 'vscode', 'copilot')
  assert.deepEqual([has('.github'), has('.claude/hooks/rhachet-hook.cjs')], [false, true])
  assert.match(
    json('.claude/settings.json').hooks.PreToolUse[0].hooks[0].command,
    /rhachet-hook\.cjs" 'Write' 'guard' '5000'$/,
  )
  assert.match(
    plans[1]!.notes.join(),
    /VS Code reads \.claude\/settings\.json as well.* Its hooks fire from there, once/,
  )
  assert.match(
    plans[2]!.notes.join(),
    /Copilot CLI reads \.claude\/settings\.json as well.* Its hooks fire from there, once/,
  )
})

test('that holds in whatever order they are named, also on different days', async (t) => {
  const first = place(t)
  await first.sync([guard], 'vscode')
  assert.equal(await first.held('vscode'), 1)
  await first.sync([guard], 'claudecode')
  assert.deepEqual(
    [await first.held('vscode'), await first.held('claudecode'), first.has('.github/hooks')],
    [0, 1, false],
  )

  const second = place(t)
  await second.sync([guard], 'claudecode')
  assert.equal(second.has('.claude/hooks/rhachet-hook.cjs'), false)
  await second.sync([guard], 'vscode')
  assert.deepEqual(
    [await second.held('vscode'), await second.held('claudecode'), second.has('.claude/hooks/rhachet-hook.cjs')],
    [0, 1, true],
  )
  // and Claude Code alone, later, does not take the shim away from VS Code
  const [claude] = await second.sync([guard], 'claudecode')
  assert.deepEqual(claude!.files, [])
  await second.sync([mechanic({})], 'claudecode')
  assert.equal(second.has('.claude/hooks'), false)
})

test('where Cursor has the hooks as well, those in the file of Claude Code keep still in it', async (t) => {
  const { sync, text } = place(t)
  await sync([guard], 'claudecode', 'cursor')
  assert.match(text('.claude/hooks/rhachet-hook.cjs'), /cursor_version\) process\.exit\(0\)/)
})

test('all brains are written or none', async (t) => {
  const { sync, root, has, text } = place(t, { '.gemini/settings.json': '{}\n' })
  // folders stand where the new text of Gemini's settings would be staged, so that the third of four fails
  for (let n = 0; n < 500; n++) mkdirSync(join(root, `.gemini/.settings.json.${process.pid}-${n}.tmp`))
  await assert.rejects(sync([guard], 'claudecode', 'opencode', 'gemini', 'codex'), {
    name: 'Problem',
    message: /cannot write .*settings\.json/,
  })
  assert.deepEqual(
    [has('.claude'), has('.opencode'), has('.codex'), text('.gemini/settings.json')],
    [false, false, false, '{}\n'],
  )
})

test('a config that was not asked for does not stop the others when it is broken', async (t) => {
  const { sync, held } = place(t, { '.claude/settings.json': '{ broken', '.cursor/hooks.json': '[' })
  await sync([guard], 'codex', 'vscode')
  assert.deepEqual([await held('codex'), await held('vscode')], [1, 1])
  await assert.rejects(sync([guard], 'claudecode'), { name: 'Problem' })
})

test('a folder where a file should go stops the sync before anything is written', async (t) => {
  const { sync, root, has } = place(t)
  mkdirSync(join(root, '.codex/hooks.json'), { recursive: true })
  await assert.rejects(sync([guard], 'claudecode', 'codex'), {
    name: 'Problem',
    message: /cannot read .*hooks\.json: it is a folder/,
  })
  assert.equal(has('.claude'), false)
})

test('Codex: what stands in the file never moves, and a hook that goes leaves its place empty', async (t) => {
  const mine = { matcher: 'Bash', hooks: [{ type: 'command', command: './mine.sh' }] }
  const { sync, json, root } = place(t)
  const hook = (command: string) => ({ command, timeout: 'PT5S' })
  await sync([mechanic({ onTool: [hook('a'), hook('b')] })], 'codex')
  const file = json('.codex/hooks.json')
  file.hooks.PreToolUse.push(mine)
  writeFileSync(join(root, '.codex/hooks.json'), JSON.stringify(file, null, 2))
  await sync([mechanic({ onTool: [hook('b'), hook('c')] })], 'codex')
  const commands = () =>
    json('.codex/hooks.json').hooks.PreToolUse.map(({ hooks }: { hooks: { command: string }[] }) =>
      hooks[0]?.command.replace(/^cd .* exit 1; /, ''),
    )
  assert.deepEqual(commands(), [undefined, 'b', './mine.sh', 'c'])
  await sync([mechanic({})], 'codex')
  assert.deepEqual(commands(), [undefined, undefined, './mine.sh'])
  assert.deepEqual(json('.codex/hooks.json').hooks.PreToolUse[2], mine)
})

test('hooks of a role that is not linked any more are reported, and go when that is asked for', async (t) => {
  const { sync, plan, prune, held } = place(t)
  await sync([guard, { ...guard, slug: 'old' }], 'claudecode')
  const [claude] = await plan([guard], 'claudecode')
  assert.deepEqual(claude!.strangers, ['repo=acme/role=old'])
  await prune(['repo=acme/role=mechanic'], 'claudecode')
  assert.equal(await held('claudecode'), 1)
})

test('a comment in a file that its agent reads strictly is an error; elsewhere it is kept', async (t) => {
  const { plan } = place(t, {
    '.claude/settings.json': '{\n  // mine\n}\n',
    '.gemini/settings.json': '{\n  // mine\n}\n',
  })
  await assert.rejects(
    plan([guard], 'claudecode'),
    /^Problem: \.claude\/settings\.json:2:3: Claude Code reads strict JSON/,
  )
  const [gemini] = await plan([guard], 'gemini')
  assert.equal(gemini!.changes.length, 1)
})

test('what an agent cannot express is said in words, for each hook', async (t) => {
  const { plan } = place(t)
  const role = mechanic({
    onBoot: [{ command: 'boot', timeout: 'PT5S' }],
    onTool: [
      { command: 'edit', timeout: 'PT5S', filter: { what: 'Edit' } },
      { command: 'read', timeout: 'PT5S', filter: { what: 'Read|Glob' } },
      { command: 'regex', timeout: 'PT5S', filter: { what: '^(?!Read)' } },
      { command: 'mcp', timeout: 'PT5S', filter: { what: 'mcp__git__push' } },
    ],
    onStop: [{ command: 'stop', timeout: 'PT5S' }],
  })
  const said: Record<string, [string, boolean][]> = {}
  for (const slug of ['claudecode', 'opencode', 'vscode', 'copilot', 'gemini', 'codex', 'cursor', 'ona']) {
    const [one] = await plan([role], slug)
    said[slug] = one!.limits.map(({ hook, dropped }) => [hook.command, dropped])
    for (const { why } of one!.limits) assert.match(why, /\w+ .*\w+/)
    const dropped = one!.limits.filter((limit) => limit.dropped).length
    assert.equal(one!.changes.length, 6 - dropped)
  }
  assert.deepEqual(said, {
    claudecode: [],
    ona: [],
    opencode: [['stop', false]],
    vscode: [
      ['boot', false],
      ['mcp', true],
    ],
    copilot: [
      ['boot', false],
      ['mcp', true],
    ],
    gemini: [
      ['boot', false],
      ['regex', true],
    ],
    codex: [
      ['edit', false],
      ['read', true],
      ['regex', true],
    ],
    cursor: [
      ['boot', false],
      ['edit', false],
      ['read', false],
      ['regex', true],
      ['stop', false],
    ],
  })
})

test('a filter that can match nothing is left out with the reason, never written as a dead guard', async (t) => {
  const { plan } = place(t)
  const filters: Record<string, [dropped: boolean, why: RegExp] | null> = {
    bash: [true, /no tool for bash; did you mean Bash\?/],
    Bahs: [true, /no tool for Bahs; did you mean Bash\?/],
    'Bash(git *)': [true, /write "Bash" and let the command look at the input/],
    '|': [true, /the filter "\|" names no tool/],
    mcp__github: [true, /write "mcp__github__\.\*" for every tool of the server/],
    mcp_github_push: [true, /a tool of an MCP server is called mcp__SERVER__TOOL/],
    'mcp_github_.*': [false, /matches for certain; a tool of an MCP server is called mcp__SERVER__TOOL/],
    '^mcp$': [true, /no tool that the expression/],
    'mcp__github__.*': null,
    'mcp.*': null,
    'Bash|Bogus': [false, /no tool for Bogus/],
    '(\\w+)+!': [true, /exponential time/],
  }
  for (const [what, expected] of Object.entries(filters)) {
    const role = mechanic({ onTool: [{ command: 'x', timeout: 'PT5S', filter: { what } }] })
    const [one] = await plan([role], 'claudecode')
    assert.deepEqual(
      one!.limits.map(({ dropped }) => dropped),
      expected ? [expected[0]] : [],
      what,
    )
    if (expected) assert.match(one!.limits[0]!.why, expected[1])
    assert.equal(one!.changes.length, expected?.[0] ? 0 : 1, what)
  }
})

test('two thousand hooks that another program wrote, all in one group, are taken over', async (t) => {
  const hooks = Array.from({ length: 2000 }, (_, at) => ({
    command: `check ${at}`,
    timeout: 'PT5S',
    filter: { what: 'Bash' },
  }))
  const author = 'repo=acme/role=mechanic'
  const written = hooks.map(({ command }) => ({ type: 'command', command, timeout: 5, author }))
  const own = { type: 'command', command: 'mine', timeout: 5 }
  const settings = { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [own, ...written] }] } }
  const { sync, json } = place(t, { '.claude/settings.json': JSON.stringify(settings, null, 2) })
  await sync([mechanic({ onTool: hooks })], 'claudecode')
  const after = json('.claude/settings.json').hooks.PreToolUse
  assert.equal(after.length, 2001)
  assert.deepEqual(after[0], { matcher: 'Bash', hooks: [own] })
  const [again] = await sync([mechanic({ onTool: hooks })], 'claudecode')
  assert.deepEqual([again!.files, again!.changes.every(({ kind }) => kind === 'keep')], [[], true])
})
