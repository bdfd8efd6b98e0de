import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { hosts } from '../../hosts/index.ts'
import { judge } from '../../permissions/decide.ts'
import { applyPolicy, readApplied, removePolicy, statusOf } from './apply.ts'
import { compilePolicy } from './compile.ts'
import { guard } from './guard.ts'
import { packedFiles, tarOf } from './package.ts'
import { makePolicy, policyRule } from './policy.ts'

const rules = {
  permissions: {
    deny: [
      'Bash(rm -rf *)',
      'Bash(npm publish)',
      'Read(**/.env)',
      'Edit(/infra/**)',
      'mcp__demo__delete_repo',
      'mcp__prod',
      'WebFetch',
    ],
    ask: ['Bash(git push:*)'],
    allow: ['Bash(npm test)'],
  },
}

function place(t: TestContext) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'ona-enforce-')))
  t.after(() => rmSync(top, { recursive: true, force: true }))
  const root = join(top, 'root')
  const repo = join(top, 'repo')
  mkdirSync(root)
  mkdirSync(repo)
  const put = (path: string, text: string | Buffer, base = root) => {
    mkdirSync(dirname(join(base, path)), { recursive: true })
    writeFileSync(join(base, path), text)
  }
  const compile = (policy = makePolicy([rules], []), chosen = hosts) =>
    compilePolicy(policy, { hosts: chosen, repo, node: process.execPath, platform: 'linux' })
  const all = () =>
    globSync('**/*', { cwd: root })
      .filter((path) => statSync(join(root, path)).isFile())
      .sort()
      .map((path) => [path, readFileSync(join(root, path), 'utf8')])
  return { root, repo, put, compile, all, text: (path: string) => readFileSync(join(root, path), 'utf8') }
}
const calm = { force: false }

test('apply writes every agent’s file once, status sees what changes, remove leaves nothing', async (t) => {
  const { root, compile, put, all } = place(t)
  const first = await applyPolicy(compile(), { root, ...calm })
  assert.ok(first.changed.length > 15)
  assert.deepEqual((await applyPolicy(compile(), { root, ...calm })).changed, [])
  const state = readApplied(root)!
  assert.deepEqual(
    [...statusOf(root, state).values()].flat().filter((file) => file.state !== 'applied'),
    [],
  )
  put('/etc/claude-code/managed-settings.d/50-ona.json', '{}')
  rmSync(join(root, '/etc/codex/requirements.toml'))
  assert.deepEqual(
    [...statusOf(root, state).values()].flat().filter((file) => file.state !== 'applied'),
    [
      { path: '/etc/claude-code/managed-settings.d/50-ona.json', state: 'drifted', why: 'was edited' },
      { path: '/etc/codex/requirements.toml', state: 'missing' },
    ],
  )
  await applyPolicy(compile(), { root, ...calm })
  await removePolicy({ root, ...calm })
  assert.deepEqual(all(), [])
})

test('what was there before is kept, and restored byte for byte', async (t) => {
  const { root, compile, put, all, text } = place(t)
  const odd: Record<string, string> = {
    '/etc/gemini-cli/settings.json':
      '\t{ // mine\n\t"ui": {"theme":"x"}, "hooks": { "BeforeTool": [ {"hooks":[{"type":"command","command":"./a"}]} ] }\n}',
    '/etc/opencode/opencode.json': '{"permission":{"bash":"ask","edit":{"*.md":"allow"}},"plugin":["./mine.ts"]}',
    '/etc/cursor/hooks.json': '{\r\n  "version": 1,\r\n  "hooks": {}\r\n}\r\n',
    '/etc/codex/requirements.toml': 'allowed_sandbox_modes = ["read-only"]\n[mcp_servers.x]\ncommand = "y"',
    '/etc/claude-code/managed-settings.json': '{"permissions":{"deny":["Bash(curl *)"]}}',
    '/etc/claude-code/managed-settings.d/10-other.json': '{}',
    '/etc/github-copilot/policy.d/a.json': '{"version":1,"hooks":{}}',
    '/etc/ona/managed-settings.json': '{}',
    '/etc/passwd': 'root',
  }
  for (const [path, content] of Object.entries(odd)) put(path, content)
  const before = all()
  await applyPolicy(compile(), { root, ...calm })
  const { permission, plugin } = JSON.parse(text('/etc/opencode/opencode.json'))
  assert.deepEqual(permission.bash, {
    '*': 'ask',
    'npm test': 'allow',
    'git push *': 'ask',
    'rm -rf *': 'deny',
    'npm publish': 'deny',
  })
  assert.deepEqual(permission.edit['*.md'], 'allow')
  assert.deepEqual(plugin.slice(0, 1), ['./mine.ts'])
  assert.match(text('/etc/gemini-cli/settings.json'), /\/\/ mine/)
  assert.ok(text('/etc/codex/requirements.toml').startsWith(odd['/etc/codex/requirements.toml']!))
  for (const path of ['/etc/claude-code/managed-settings.json', '/etc/passwd']) assert.equal(text(path), odd[path])
  await removePolicy({ root, ...calm })
  assert.deepEqual(all(), before)
})

test('a shared file that was changed since is not overwritten without --force', async (t) => {
  const { root, compile, put, text } = place(t)
  put('/etc/gemini-cli/settings.json', '{"a":1}')
  await applyPolicy(compile(), { root, ...calm })
  put('/etc/gemini-cli/settings.json', '{"theirs":1}')
  await assert.rejects(removePolicy({ root, ...calm }), /was changed since the policy was applied/)
  await assert.rejects(applyPolicy(compile(), { root, ...calm }), /was changed since the policy was applied/)
  await removePolicy({ root, force: true })
  assert.equal(text('/etc/gemini-cli/settings.json'), '{"a":1}')
})

test('the hooks of a role are copied to where their user cannot change them, and refuse when they fail', async (t) => {
  const { root, repo, compile, put, text } = place(t)
  put('guards/no.mjs', "import './part.mjs'\n", repo)
  put('guards/part.mjs', 'process.exit(1)\n', repo)
  const role = {
    slug: 'g',
    repo: 'acme',
    hooks: { onBrain: { onTool: [{ command: 'node guards/no.mjs', timeout: 'PT5S', filter: { what: 'Bash' } }] } },
  }
  await applyPolicy(compile(makePolicy([], [role])), { root, ...calm })
  assert.equal(text('/etc/ona/policy/tree/guards/part.mjs'), 'process.exit(1)\n')
  const { hooks } = JSON.parse(text('/etc/claude-code/managed-settings.d/50-ona.json'))
  assert.equal(hooks.PreToolUse[1].hooks[0].onFailure, 'block')
  const [, written] = /command = (".*guards\/no\.mjs.*")/.exec(text('/etc/codex/requirements.toml')) ?? []
  // as the agent would run it, with the folder in its place
  const here = (JSON.parse(written!) as string).replaceAll('/etc/ona/policy', join(root, 'etc/ona/policy'))
  const run = (env: NodeJS.ProcessEnv = {}) =>
    spawnSync('sh', ['-c', here.replace('PATH=/usr/local/sbin', `PATH=${dirname(process.execPath)}:/usr/local/sbin`)], {
      input: JSON.stringify({ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } }),
      env: { PATH: process.env['PATH'], HOME: '/', ...env },
      encoding: 'utf8',
    })
  assert.deepEqual([run().status, /a hook failed \(exit 1\)/.test(run().stderr)], [2, true])
  // the user's environment does not reach it
  put('evil.cjs', 'process.exit(0)', repo)
  assert.equal(run({ NODE_OPTIONS: `--require ${join(repo, 'evil.cjs')}` }).status, 2)
  rmSync(join(root, 'etc/ona/policy/hook-codex.cjs'))
  assert.deepEqual([run().status, /did not run to its end/.test(run().stderr)], [2, true])
})

test('the guard says of a call, in every agent’s form, what our own rules say', async (t) => {
  const { root, compile } = place(t)
  await applyPolicy(compile(), { root, ...calm })
  const folder = join(root, 'etc/ona/policy')
  const cwd = '/work'
  const corpus: [string, Record<string, unknown>][] = [
    ['Bash', { command: 'rm -rf build' }],
    ['Bash', { command: 'cd . && /bin/rm -rf build' }],
    ['Bash', { command: 'X=1 rm -rf build' }],
    ['Bash', { command: 'npm publish' }],
    ['Bash', { command: 'npm publish --tag x' }],
    ['Bash', { command: 'git push origin main' }],
    ['Bash', { command: 'git status' }],
    ['Bash', { command: 'cat .env' }],
    ['Read', { file_path: '/work/a/.env' }],
    ['Read', { file_path: '/work/a.ts' }],
    ['Write', { file_path: '/work/infra/x.tf', content: '' }],
    ['Edit', { file_path: '/work/src/x.ts', old_string: 'a', new_string: 'b' }],
    ['WebFetch', { url: 'https://example.com', prompt: 'x' }],
    ['mcp__demo__delete_repo', {}],
    ['mcp__demo__list', {}],
    ['mcp__prod__anything', {}],
  ]
  const settings = { deny: rules.permissions.deny, ask: rules.permissions.ask }
  for (const [tool, input] of corpus) {
    const { finding } = await judge({
      settings,
      mode: 'bypassPermissions',
      tool,
      input: input as never,
      hook: 'none',
      cwd,
      projectDir: cwd,
      home: '/home/x',
    })
    for (const { slug, dialect } of hosts) {
      const [, server, name] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? []
      if (server && (!dialect.mcp || (slug === 'cursor' && server === 'prod'))) continue
      const native = server ? dialect.mcp!(server, name!) : tool
      const event = JSON.stringify({ tool_name: native, tool_input: input, cwd })
      const said = await guard(folder, slug, event)
      const word = finding.word === 'allow' ? 'open' : finding.word
      assert.equal(said.word, word, `${slug} ${native} ${JSON.stringify(input)}`)
    }
  }
  const word = async (tool_name: string, tool_input: unknown) =>
    (await guard(folder, 'codex', JSON.stringify({ tool_name, tool_input, cwd }))).word
  const patch = (files: string) => `*** Begin Patch\n${files}\n*** End Patch`
  for (const files of [
    '*** Update File: infra/x.tf\n@@\n-a\n+b',
    '*** Add File: a\n+x\n*** Delete File: infra/x.tf',
    '*** Update File: a\n*** Move to: infra/x.tf',
    '*** Add File: a\n+x\n  *** Add File: infra/x.tf',
  ]) {
    assert.equal(await word('apply_patch', { command: patch(files) }), 'deny', files)
    assert.equal(await word('apply_patch', patch(files)), 'deny', files)
  }
  assert.equal(await word('apply_patch', { command: patch('*** Update File: src/a.ts') }), 'open')
  // words of a patch do not hide the call that they stand in
  assert.equal(await word('Bash', { command: 'rm -rf x # *** Begin Patch' }), 'deny')
  assert.equal(await word('mcp__demo__delete_repo', { input: '*** Begin Patch' }), 'deny')
  const replacements = ['src/a.ts', 'infra/x.tf'].map((filePath) => ({ filePath }))
  assert.equal(await word('Edit', { replacements }), 'deny')
  const long = Array.from({ length: 1500 }, (_, index) => `src/${index}.ts`)
  assert.equal(await word('Read', { paths: [...long, 'src/a.ts'] }), 'open')
  assert.equal(await word('Edit', { files: [...long, 'infra/x.tf'] }), 'deny')
  assert.equal(await word('MultiEdit', { file_path: 'infra/x.tf' }), 'deny')
  for (const key of ['notebook_path', 'filePath', 'notebookPath', 'file_path'])
    assert.equal(await word('NotebookEdit', { notebook_path: 'src/a.ipynb', [key]: 'infra/x.ipynb' }), 'deny', key)
  assert.equal(await word('Edit', { file_path: 'src/a.ts', filePath: 'file://infra/x.tf' }), 'deny')
  for (const event of ['', '{}', '[]', '{"tool_name":"Bash"}', '{"tool_name":"Bash","tool_input":{}}'])
    await assert.rejects(guard(folder, 'codex', event))
})

test('the bundled guard is a program of its own: exit 2, an answer that asks, silence', async (t) => {
  const { root, compile } = place(t)
  await applyPolicy(compile(), { root, ...calm })
  const run = (command: string) => {
    const input = JSON.stringify({
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command },
      cwd: '/',
    })
    const { status, stdout } = spawnSync(process.execPath, [join(root, 'etc/ona/policy/guard.cjs'), 'codex'], {
      input,
      encoding: 'utf8',
    })
    return [status, stdout && JSON.parse(stdout).hookSpecificOutput.permissionDecision]
  }
  assert.deepEqual(
    [run('rm -rf /x'), run('git push'), run('ls')],
    [
      [2, ''],
      [0, 'ask'],
      [0, ''],
    ],
  )
})

test('a rule or a key that is not understood is an error: a policy is enforced whole or not at all', () => {
  for (const [file, message] of [
    [{ permissions: { deny: ['bash'] } }, /must start with uppercase/],
    [{ permissions: { deny: ['Write(docs/**)'] } }, /never matches/],
    [{ permissions: { forbid: ['Bash'] } }, /unknown key/],
    [{}, /the policy is empty/],
  ] as [object, RegExp][])
    assert.throws(() => makePolicy([file as never], []), message)
  assert.deepEqual(policyRule('Bash(git push:*)', 'ask').prefix, ['git', 'push'])
  assert.equal(policyRule('Bash(git * main)', 'ask').prefix, undefined)
})

test('the archive holds every file, owned by root, and is the same each time', (t) => {
  const { compile } = place(t)
  const files = packedFiles(compile())
  const tar = tarOf(files)
  assert.deepEqual(tar, tarOf(packedFiles(compile())))
  const folder = mkdtempSync(join(tmpdir(), 'ona-tar-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'policy.tar'), tar)
  chmodSync(folder, 0o755)
  assert.equal(spawnSync('tar', ['-xf', 'policy.tar', '--no-same-owner'], { cwd: folder }).status, 0)
  for (const { path, text } of files) assert.equal(readFileSync(join(folder, path), 'utf8'), text)
  assert.equal(existsSync(join(folder, 'etc/claude-code/managed-settings.d/50-ona.json')), true)
})
