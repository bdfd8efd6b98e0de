/**
 * A hostile test writer that wants to see the code. Its one way to run anything is the script of a case, tried on the project
 * without the change; what it learns is whether that passes. Each script passes when it finds the canary, which is in the
 * code. No setting enables a sandbox here: where the machine has one, the test phase uses it.
 */
import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sampled } from '../support/campaign-size.ts'
import type { Place } from '../support/program.ts'
import { cases, implemented, move } from '../support/workflow.ts'
import { canary, find, leaky, source, ways } from './leaky.ts'

const ona = join(import.meta.dirname, '../../bin/ona.mjs')
const bwrap = spawnSync('which', ['bwrap'], { encoding: 'utf8' }).stdout.trim()
const outside = (script: string, cwd: string, env: NodeJS.ProcessEnv) =>
  new Promise<number | null>((resolve) => {
    const child = spawn('/bin/bash', ['-c', script], {
      cwd,
      env,
      stdio: 'ignore',
      timeout: 60_000,
      killSignal: 'SIGKILL',
    })
    child.on('exit', resolve)
  })

// the hook below tries every way in one run
for (const [name, way] of sampled(Object.entries(ways), 3))
  test(`no way to the code by ${name}`, async (t) => {
    const { at, model, text } = await leaky(t, way)
    const { stderr } = await move(at, 'test')
    const all = model.requests.join('\n')
    assert.ok(model.requests.length > 1, stderr)
    assert.doesNotMatch(all, /it passes without the change/)
    assert.equal(all.includes(canary), false)
    // control: outside a sandbox the same script finds it
    const copy = join(at.folder, '../copy')
    mkdirSync(copy)
    const status = await outside(text.replaceAll('ona --eval', `${process.execPath} ${ona} --eval`), copy, {
      PATH: process.env['PATH'],
      HOME: at.home,
      PROJECT_DIR: at.folder,
    })
    assert.equal(status, 0, 'the control saw nothing')
  })

test('hooks and servers that know the code cannot tell the writer', async (t) => {
  const { at, model } = await leaky(t, () => 'false')
  const says = (event: string, output: string) => ({ hook_event_name: event, matcher: '', command: output })
  const told = `cat ${at.folder}/bin/greet.sh`
  at.write('server.mjs', `process.stdin.on('data', () => {})\n// ${canary}\n`)
  mkdirSync(join(at.home, '.ona'), { recursive: true })
  writeFileSync(
    join(at.home, '.ona/settings.json'),
    JSON.stringify({
      hooks: [
        says('PreToolUse', `${told} >&2; exit 2`),
        says('PostToolUse', `${told} >&2; exit 2`),
        says('Stop', `${told} >&2; exit 2`),
        says('UserPromptSubmit', told),
      ],
      mcpServers: { leaks: { command: process.execPath, args: [join(at.folder, 'server.mjs')] } },
    }),
  )
  await move(at, 'test')
  assert.ok(model.requests.length > 1)
  for (const request of model.requests) {
    assert.equal(request.includes(canary), false)
    const { tools } = JSON.parse(request) as { tools: { function: { name: string } }[] }
    assert.deepEqual(tools.map((tool) => tool.function.name).sort(), ['PublicContract', 'WriteTestCase'])
  }
})

/** A hook is told where the project is: only the content counts. */
const { 'temporary files': _names, ...hookWays } = ways

/** What a hook could do for a writer: each way, and the name of one that finds the canary. */
const looks = (at: Place, port: number) =>
  [
    `PROJECT_DIR='${at.folder}'; ${find(at.folder)}`,
    ...Object.entries(hookWays).map(([name, way]) => `( ${way(port)} ) && echo "FOUND by ${name}"`),
    `( grep -qs "$w" '${at.db}' ) && echo "FOUND by the record"`,
  ].join('\n')

test('a hook of the writing session runs in the sandbox, and finds the code by no way', async (t) => {
  const { at, model, tries, port } = await leaky(t, () => 'false')
  tries[0] = cases[0]!
  await at.run(['--eval', JSON.stringify({ tool: 'Bash', input: { command: `cat bin/greet.sh # ${canary}` } })])
  at.write('.ona/look.sh', `${looks(at, port)}\necho "ran inside: \${ONA_SANDBOX-no}"\n`)
  const hook = { hook_event_name: 'PreToolUse', matcher: '', command: 'bash .ona/look.sh' }
  mkdirSync(join(at.home, '.ona'), { recursive: true })
  writeFileSync(join(at.home, '.ona/settings.json'), JSON.stringify({ hooks: [hook] }))
  await move(at, 'test')
  assert.ok(model.requests.length > 1)
  const rows = at.rows<{ tool: string; out: string }>(
    "SELECT tool_name AS tool, stdout_text AS out FROM hook_invocations WHERE command LIKE '%look.sh%' AND json_extract(input_json, '$.agent_id') IS NOT NULL ORDER BY id",
  )
  assert.deepEqual([...new Set(rows.map(({ tool, out }) => `${tool}: ${out.trim()}`))].sort(), [
    'Bash: ran inside: 1',
    'WriteTestCase: ran inside: 1',
  ])
  // control: outside, every way leads to it
  const env = { PATH: `${process.env['PATH']}:${join(ona, '..')}`, HOME: at.home, AGENT_SDLC_DB: at.db }
  const script = looks(at, port).replaceAll('ona --eval', `${process.execPath} ${ona} --eval`)
  const seen = await new Promise<string>((resolve) => {
    const options = { cwd: at.folder, env, timeout: 120_000 }
    execFile('/bin/bash', ['-c', `${script}; true`], options, (_, stdout) => resolve(stdout)).stdin?.end()
  })
  for (const name of [...Object.keys(hookWays), 'the record'])
    assert.ok(seen.includes(`FOUND by ${name}\n`), `${name}: ${seen}`)
})

/** A server with one tool and one resource, which both give the code away. */
const leakingServer = `
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
const code = () => readFileSync(process.argv[2], 'utf8')
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {}, resources: {} }, serverInfo: { name: 'leaks', version: '1' }, instructions: code() }),
  'tools/list': () => ({ tools: [{ name: 'code', description: code(), inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: code() }] }),
  'resources/list': () => ({ resources: [{ uri: 'code://x', name: 'x' }] }),
  'resources/read': () => ({ contents: [{ uri: 'code://x', text: code() }] }),
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params) ?? {} }))
}
`

test('no tool and no MCP server leads to the code: the writer has two tools, and a call of any other fails', async (t) => {
  const { at, model, tries } = await leaky(t, () => 'false')
  const code = join(at.folder, 'bin/greet.sh')
  at.write('server.mjs', leakingServer)
  mkdirSync(join(at.home, '.ona'), { recursive: true })
  const mcpServers = { leaks: { command: process.execPath, args: [join(at.folder, 'server.mjs'), code] } }
  writeFileSync(
    join(at.home, '.ona/settings.json'),
    JSON.stringify({ mcpServers, permissions: { allow: ['mcp__leaks'] } }),
  )
  const calls: [string, object][] = [
    ['Bash', { command: `cat ${code}` }],
    ['Read', { file_path: code }],
    ['Grep', { pattern: 'CANARY', path: at.folder }],
    ['mcp__leaks__code', {}],
    ['ReadMcpResource', { server: 'leaks', uri: 'code://x' }],
    ['Agent', { description: 'read', prompt: `read ${code}`, subagent_type: 'general-purpose' }],
    ['WebFetch', { url: `file://${code}`, prompt: 'read' }],
  ]
  tries.splice(0, tries.length, ...calls.map(([name, input]) => ({ name, input })))
  await move(at, 'test')
  assert.ok(model.requests.length > 1)
  for (const request of model.requests) assert.equal(request.includes(canary), false)
  const { messages } = JSON.parse(model.requests[1]!) as { messages: { role: string; content: string }[] }
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
  assert.equal(results.length, calls.length)
  for (const [index, [name]] of calls.entries()) assert.match(results[index]!, new RegExp(`${name}`), name)
  // control: the server tells everybody else
  const { stdout } = await at.run(['--eval', JSON.stringify({ tool: 'mcp__leaks__code', input: {} })])
  assert.ok(stdout.includes(canary), stdout)
})

test('what a hook says when it refuses a case is not for its writer', async (t) => {
  const { at, model } = await leaky(t, () => 'false')
  mkdirSync(join(at.home, '.ona'), { recursive: true })
  const command = `grep -q 'test case' && { cat ${at.folder}/bin/greet.sh >&2; exit 2; }; exit 0`
  writeFileSync(
    join(at.home, '.ona/settings.json'),
    JSON.stringify({ hooks: [{ hook_event_name: 'PreToolUse', matcher: 'Bash', command }] }),
  )
  await move(at, 'test')
  const all = model.requests.join('\n')
  assert.match(all, /it may not run here: a hook refused it/)
  assert.equal(all.includes(canary), false)
})

test('where no sandbox can be made the report says so, and so does the record', async (t) => {
  const { at, model } = await implemented(t, [cases], source.replaceAll(canary, 'name'))
  const without = (words: string[]) =>
    new Promise<string>((resolve, reject) => {
      // a machine without bubblewrap: its place is taken by something that cannot be run
      const args = ['--dev-bind', '/', '/', '--ro-bind', '/dev/null', bwrap, '--', process.execPath, ona, ...words]
      const env = { PATH: process.env['PATH'], HOME: at.home, ONA_KEYCHAIN: 'off', ...model.env }
      const child = execFile('bwrap', args, { cwd: at.folder, env, timeout: 120_000 }, (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      )
      child.stdin?.end()
    })
  await without(['--transition', 'test', '--conversation', 'c'])
  const report = JSON.parse(await without(['verify', '--conversation', 'c', '--json']))
  assert.deepEqual([report.sandbox.sandboxed, report.total], [false, 2])
  assert.match(report.sandbox.why, /bubblewrap is not installed/)
  assert.match(
    await without(['verify', '--conversation', 'c']),
    /The cases were not sandboxed: bubblewrap is not installed/,
  )
  await at.run(['verify', '--conversation', 'c', '--run'])
  const again = JSON.parse((await at.run(['verify', '--conversation', 'c', '--json'])).stdout)
  assert.deepEqual(again.sandbox, { sandboxed: true })
})
