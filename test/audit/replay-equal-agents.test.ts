/**
 * For every agent: a call that its hooks would have denied, prompted for or let pass is judged the same once it is imported and
 * replayed with the same rules. The live side is the program that `ona enforce` installs, given the event of that agent.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { compilePolicy } from '../../src/brains/enforce/compile.ts'
import { makePolicy } from '../../src/brains/enforce/policy.ts'
import { hosts } from '../../src/hosts/index.ts'
import { type NativeCall, recordedAgents } from '../support/agent-histories.ts'
import { sampled } from '../support/campaign-size.ts'
import { type Place, place } from '../support/program.ts'

const permissions = {
  deny: ['Bash(rm -rf *)', 'Edit(/infra/**)', 'Read(**/.env)', 'mcp__demo__delete_repo'],
  ask: ['Bash(git push:*)', 'Edit(/docs/**)'],
}

const lines = ['npm test', 'rm -rf build', 'cd x && git push -f', "echo '*** Begin Patch'; rm -rf build"]
const patch = (...headers: string[]) =>
  `*** Begin Patch\n${headers.map((header) => `*** ${header}\n@@\n-a\n+b`).join('\n')}\n*** End Patch`
const patches = [
  patch('Update File: src/a.ts', 'Update File: infra/x.tf'),
  patch('Add File: src/a.ts', 'Delete File: infra/x.tf'),
  patch('Update File: src/a.ts\n*** Move to: infra/a.ts'),
  patch('Update File: src/a.ts', 'Add File: src/b.ts', 'Update File: docs/a.md'),
  patch('Update File: src/a.ts', 'Add File: src/b.ts'),
  '*** Begin Patch\n*** Add File: src/a.ts\n+x\n  *** Add File: infra/y.tf\n+y\n*** End Patch',
  // longer than what is stored of a text
  patch(
    'Update File: src/a.ts',
    `Update File: src/b.ts\n${'+x\n'.repeat(9000)}`,
    'Update File: infra/x.tf',
    `Add File: src/c\n${'+x\n'.repeat(9000)}`,
  ),
]

const words = (name: string, key: string, values: readonly unknown[]): NativeCall[] =>
  values.map((value) => [name, { [key]: value }] as const)
const paths = (cwd: string) => [`${cwd}/src/a.ts`, `${cwd}/infra/x.tf`, `${cwd}/docs/a.md`]

/** The calls of each agent, in its own words. */
const calls: Readonly<Record<string, (cwd: string) => NativeCall[]>> = {
  claude: (cwd) => [
    ...words('Bash', 'command', lines),
    ...words('Write', 'file_path', paths(cwd)),
    ...paths(cwd).map(
      (file_path): NativeCall => ['MultiEdit', { file_path, edits: [{ old_string: 'a', new_string: 'b' }] }],
    ),
    ...words('Read', 'file_path', [`${cwd}/.env`, `${cwd}/a.ts`]),
    ['mcp__demo__delete_repo', {}],
    ['mcp__demo__delete_repo', { input: '*** Begin Patch' }],
  ],
  codex: () => [
    ...words('apply_patch', 'input', patches),
    ...words('exec_command', 'cmd', lines),
    ...words('exec_command', 'cmd', [`apply_patch <<'EOF'\n${patches[0]}\nEOF`]),
    ...words('shell', 'command', [
      ['apply_patch', patches[0]],
      ['bash', '-lc', 'rm -rf build'],
    ]),
    ['mcp__demo__delete_repo', {}],
  ],
  gemini: (cwd) => [
    ...words('run_shell_command', 'command', lines),
    ...words('write_file', 'file_path', paths(cwd)),
    ...words('replace', 'file_path', paths(cwd)),
    ...words('read_file', 'absolute_path', [`${cwd}/.env`, `${cwd}/a.ts`]),
    ['read_many_files', { include: ['src/a.ts', '.env'] }],
    ['mcp_demo_delete_repo', {}],
  ],
  qwen: (cwd) => [
    ...words('run_shell_command', 'command', lines),
    ...words('write_file', 'file_path', paths(cwd)),
    ...words('read_many_files', 'paths', [['a.ts', '.env'], ['a.ts']]),
  ],
  opencode: (cwd) => [
    ...words('bash', 'command', lines),
    ...words('apply_patch', 'patchText', patches),
    ...words('write', 'filePath', paths(cwd)),
    ...words('read', 'filePath', [`${cwd}/.env`, `${cwd}/a.ts`]),
    ['demo_delete_repo', {}],
  ],
  copilot: (cwd) => [
    ...words('bash', 'command', lines),
    ...words('apply_patch', 'input', patches),
    ...words('create', 'path', paths(cwd)),
    ...words('view', 'path', [`${cwd}/.env`, `${cwd}/a.ts`]),
    ['demo-delete_repo', {}],
  ],
  cursor: (cwd) => [
    ...words(
      'Shell',
      'command',
      lines.map((line) => line.replace('cd x && ', '')),
    ),
    ...words('Write', 'path', paths(cwd)),
    ...words('Read', 'path', [`${cwd}/.env`, `${cwd}/a.ts`]),
  ],
  vscode: (cwd) => [
    ...words('run_in_terminal', 'command', lines),
    ...words('apply_patch', 'input', patches),
    ...words('create_file', 'filePath', paths(cwd)),
    [
      'multi_replace_string_in_file',
      { replacements: paths(cwd).map((filePath) => ({ filePath, oldString: 'a', newString: 'b' })) },
    ],
    [
      'multi_replace_string_in_file',
      { replacements: [{ filePath: `${cwd}/src/a.ts` }, { filePath: `${cwd}/docs/x` }] },
    ],
  ],
}

/** The policy's programs, as `ona enforce` would install them. */
function installed(here: Place): string {
  const compiled = compilePolicy(makePolicy([{ permissions }], []), {
    ...{ hosts, repo: here.folder, node: process.execPath, platform: 'linux' },
  })
  const folder = join(here.home, 'policy')
  mkdirSync(join(folder, 'tree'), { recursive: true })
  for (const file of compiled.files.get('')!) writeFileSync(join(folder, basename(file.path)), file.merge(null))
  return folder
}

function live(folder: string, host: string, event: object): string {
  const program = host === 'opencode' ? ['guard.cjs', 'opencode'] : [`hook-${host}.cjs`, '--policy']
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, program[0]!), program[1]!], {
    ...{ input: JSON.stringify(event), encoding: 'utf8', env: {}, timeout: 60_000 },
  })
  if (/needs your approval/.test(stderr)) return 'ask' // an agent that cannot prompt refuses
  if (status === 2) return 'deny'
  assert.equal(status, 0, stderr)
  const { hookSpecificOutput: said } = stdout === '' ? { hookSpecificOutput: undefined } : JSON.parse(stdout)
  return said?.permissionDecision ?? 'allow'
}

for (const [turn, [agent, { host, write, event }]] of Object.entries(recordedAgents).entries())
  test(`a call of ${agent} is judged in replay as live`, async (t) => {
    const here = place(t)
    const cwd = join(here.home, 'repo')
    mkdirSync(cwd)
    const folder = installed(here)
    const made = sampled(calls[agent]!(cwd), 4, turn)
    write(here.home, cwd, made)
    const imported = await here.run(['audit', 'import', agent, '--all'])
    assert.equal(imported.code, 0, imported.stderr)
    here.write('.ona/settings.json', { permissions })
    const ran = await here.run(['hooks', 'replay', '--json', '--mode', 'bypassPermissions', '--trust'])
    assert.equal(ran.code, 0, ran.stderr)
    const { changes, calls: judged } = JSON.parse(ran.stdout)
    assert.equal(judged, made.length)
    const would = new Map(changes.map((each: Record<string, string>) => [each['tool_use_id'], each['would_be']]))
    const found = made.map(([name, input], n) => [name, input, would.get(`c${n}`) ?? 'allow'])
    assert.deepEqual(
      found,
      made.map((call) => [...call, live(folder, host, event(call, cwd))]),
    )
  })
