/** MCP as a user uses it: `ona mcp`, tools of servers through `ona --eval`, and our own tools served. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { packageRoot } from '../src/package-root.ts'
import { guardedServer } from './support/guarded-mcp-server.ts'
import { live } from './support/live.ts'
import { startScripted } from './support/model/tui-model.ts'
import { type Place, place } from './support/program.ts'

const everything = [
  process.execPath,
  join(packageRoot, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'),
]
const json = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

test('servers are added, listed, shown and removed in the file of their scope', async (t) => {
  const at = place(t)
  const { code, stdout } = await at.run([
    'mcp',
    'add',
    '--scope',
    'user',
    '--env',
    'TOKEN=hush',
    'every',
    '--',
    ...everything,
  ])
  assert.deepEqual([code, stdout], [0, `added every to ${join(at.home, '.ona/settings.json')}\n`])
  await at.run(['mcp', 'add', '--scope', 'project', '-H', 'X-Key: ${KEY:-none}', 'docs', 'http://127.0.0.1:9/mcp'])
  await at.run(['mcp', 'add-json', 'mine', '{"command":"true"}'])
  assert.deepEqual(json(join(at.folder, '.mcp.json')), {
    mcpServers: { docs: { type: 'http', url: 'http://127.0.0.1:9/mcp', headers: { 'X-Key': '${KEY:-none}' } } },
  })
  assert.deepEqual(json(join(at.folder, '.ona/settings.local.json')), { mcpServers: { mine: { command: 'true' } } })

  const listed = JSON.parse((await at.run(['mcp', 'list', '--json'])).stdout)
  assert.deepEqual(
    listed.map(({ name, scope, status, tools }: Record<string, unknown>) => [name, scope, status, Number(tools) > 0]),
    [
      ['every', 'user', 'connected', true],
      ['docs', 'project', 'untrusted', false],
      ['mine', 'local', 'untrusted', false],
    ],
  )
  const got = await at.run(['mcp', 'get', 'every'])
  assert.match(got.stdout, /env +TOKEN/)
  assert.equal(got.stdout.includes('hush'), false)

  assert.equal((await at.run(['mcp', 'remove', 'docs'])).code, 0)
  assert.deepEqual(json(join(at.folder, '.mcp.json')), { mcpServers: {} })
  assert.equal((await at.run(['mcp', 'remove', 'docs'])).code, 1)
})

test('wrong usage of ona mcp is reported, and exits 2; a shared file takes no secret', async (t) => {
  const at = place(t)
  const wrong = [
    ...[
      ['dance'],
      ['add'],
      ['add', 'x'],
      ['add', '--scope', 'moon', 'x', 'y'],
      ['add', '--env', 'x', 'y', 'z'],
      ['add-json', 'x', '{'],
    ],
    ...[
      ['add-json', 'x', '{"type":"smoke"}'],
      ['add', '--transport', 'http', 'x', 'not-a-url'],
      ['serve', '--permission-mode', 'auto'],
    ],
    ...[['get'], ['login'], ['logout'], ['serve', '--tools', 'Read,Nope'], ['serve', '--cwd', 'nowhere']],
    ...[
      ['add', '--header', 'X: y', 'x', '--', 'run'],
      ['add', '--env', 'A=1', 'x', 'https://example.com/mcp'],
      ['add', 'there', '--', 'another'],
    ],
    ['add', '--scope', 'project', '--env', `KEY=sk-ant-${'x'.repeat(30)}`, 'x', 'y'],
  ]
  await at.run(['mcp', 'add', 'there', '--', 'one'])
  for (const words of wrong) {
    const { code, stderr } = await at.run(['mcp', ...words])
    assert.equal(code, 2, `${words.join(' ')}: ${stderr}`)
    assert.match(stderr, /^(ona mcp.*): .* \1 --help shows how\n$/)
  }
  assert.equal(existsSync(join(at.folder, '.mcp.json')), false)
  assert.deepEqual(json(join(at.folder, '.ona/settings.local.json')), {
    mcpServers: { there: { type: 'stdio', command: 'one', args: [] } },
  })
})

async function evaluate(at: Place, tool: string, input: object) {
  const { stdout } = await at.run(['--eval', JSON.stringify({ tool, input })])
  return JSON.parse(stdout) as { content: string; is_error: boolean }
}

function withServer(t: TestContext, permissions: object): Place {
  const at = place(t)
  const [command, ...args] = everything
  const hooks = [
    { hook_event_name: 'PreToolUse', matcher: 'mcp__.*env', shell: 'sh', command: 'echo not that one >&2; exit 2' },
  ]
  at.write('../home/.ona/settings.json', { mcpServers: { Every: { command, args } }, permissions, hooks })
  return at
}

test("a server's tool passes hooks and rules, and leaves its rows", async (t) => {
  const at = withServer(t, { deny: ['mcp__every__get-sum'] })
  assert.deepEqual(await evaluate(at, 'mcp__every__echo', { message: 'hi' }), { content: 'Echo: hi', is_error: false })
  assert.match(
    (await evaluate(at, 'mcp__every__get-sum', { a: 1, b: 2 })).content,
    /the deny rule "mcp__every__get-sum"/,
  )
  assert.match((await evaluate(at, 'mcp__every__get-env', {})).content, /not that one/)
  const bad = await evaluate(at, 'mcp__every__echo', {})
  assert.equal(bad.is_error, true)
  const rows = at.rows<{ payload_json: string }>(
    "SELECT payload_json FROM transcript_entries WHERE entry_type = 'tool_result'",
  )
  assert.deepEqual(
    rows.map((row) => JSON.parse(row.payload_json).is_error),
    [false, true, true, true],
  )
})

test('resources of servers are listed and read', async (t) => {
  const at = withServer(t, {})
  const listed = await evaluate(at, 'ListMcpResources', { server: 'Every' })
  const [{ uri }] = JSON.parse(listed.content)
  const read = await evaluate(at, 'ReadMcpResource', { server: 'Every', uri })
  assert.equal(read.is_error, false)
  assert.match(read.content, /"contents"/)
})

test('servers of a folder that nobody trusts are not started', async (t) => {
  const at = place(t)
  const [command, ...args] = everything
  at.write('.mcp.json', { mcpServers: { every: { command, args } } })
  const words = ['--eval', JSON.stringify({ tool: 'mcp__every__echo', input: { message: 'hi' } })]
  const refused = await at.run(words)
  assert.match(refused.stdout, /there is no tool named mcp__every__echo/)
  assert.match(refused.stderr, /\.mcp\.json: this folder is not trusted, so its MCP servers are not started/)
  // trusted, and still nobody has approved the server
  const unapproved = (await at.run([...words, '--trust'])).stdout
  assert.match(unapproved, /mcp__every__echo is not available: the MCP server every is unapproved/)
  at.write('../home/.ona/settings.json', { enabledMcpjsonServers: ['every'] })
  assert.equal((await at.run(words)).stdout, '{"content":"Echo: hi","is_error":false}\n')
})

test('our tools are served to another agent under the same hooks and rules', async (t) => {
  const at = place(t)
  const hooks = [{ hook_event_name: 'PreToolUse', matcher: 'Glob', shell: 'sh', command: 'echo no globs >&2; exit 2' }]
  at.write('../home/.ona/settings.json', {
    permissions: { allow: ['Read', 'Glob', 'Bash(echo *)'], deny: ['Read(.env)'] },
    hooks,
  })
  at.write('a.txt', 'hello')
  at.write('.env', 'KEY=1')
  const client = new Client({ name: 'another agent', version: '1' })
  const env = { PATH: process.env['PATH']!, HOME: at.home, ONA_KEYCHAIN: 'off' }
  const args = [join(packageRoot, 'bin/ona.mjs'), 'mcp', 'serve']
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env, cwd: at.folder, stderr: 'ignore' }),
  )
  t.after(() => client.close())
  const call = async (name: string, input: Record<string, unknown>) => {
    const { content, isError } = await client.callTool({ name, arguments: input })
    return [(content as { text: string }[])[0]!.text, isError === true] as const
  }
  const { tools } = await client.listTools()
  assert.ok(tools.some((tool) => tool.name === 'Read' && tool.annotations?.readOnlyHint))
  assert.equal(
    tools.some((tool) => tool.name === 'Agent'),
    false,
  )

  const [text, failed] = await call('Read', { file_path: 'a.txt' })
  assert.deepEqual([text.includes('hello'), failed], [true, false])
  assert.match((await call('Read', { file_path: '.env' }))[0], /the deny rule "Read\(\.env\)"/)
  assert.match((await call('Glob', { pattern: '*' }))[0], /no globs/)
  assert.match((await call('Write', { file_path: 'b.txt', content: 'x' }))[0], /there is no user to ask/)
  const both = await Promise.all([call('Bash', { command: 'echo one' }), call('Bash', { command: 'echo two' })])
  assert.deepEqual(
    both.map(([output]) => output.trim()),
    ['one', 'two'],
  )
  assert.equal((await call('Read', {}))[1], true)
  await client.close()
  const rows = at.rows<{ n: number }>("SELECT count(*) AS n FROM transcript_entries WHERE entry_type = 'tool_result'")
  assert.equal(rows[0]!.n, 7)
})

test('the same over HTTP: a token is needed, and another site cannot use it', async (t) => {
  const at = place(t)
  at.write('a.txt', 'hello')
  at.write('../home/.ona/settings.json', { permissions: { allow: ['Read'], deny: ['Bash'] } })
  const serving = live(t, at, ['mcp', 'serve', '--port', '0'], { ONA_MCP_TOKEN: 'let-me-in' })
  const url = await serving.until(({ stderr }) => /serving MCP at (\S+?);/.exec(stderr())?.[1])
  const post = (headers: Record<string, string>) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    })
  const authorization = 'Bearer let-me-in'
  assert.equal((await post({})).status, 401)
  assert.equal((await post({ authorization: 'Bearer let-me-on' })).status, 401)
  assert.equal((await post({ authorization, origin: 'https://evil.example' })).status, 403)
  const client = new Client({ name: 'another agent', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization } } }))
  const { tools } = await client.listTools()
  assert.ok(tools.some(({ name }) => name === 'Read'))
  const text = async (name: string, input: Record<string, unknown>) =>
    ((await client.callTool({ name, arguments: input })).content as { text: string }[])[0]!.text
  assert.match(await text('Read', { file_path: 'a.txt' }), /hello/)
  assert.match(await text('Bash', { command: 'true' }), /the deny rule "Bash"/)
  await client.close()
  serving.kill('SIGTERM')
  assert.equal((await serving.end()).code, 0)
  for (const words of [['--port', 'x'], ['--no-token']])
    assert.equal((await at.run(['mcp', 'serve', ...words])).code, 2)
})

test('a user signs in to a server and out again', async (t) => {
  const at = place(t)
  const server = await guardedServer()
  t.after(() => server.close())
  at.write('../home/.ona/settings.json', {
    mcpServers: { guarded: { type: 'http', url: server.url }, here: { command: 'true' } },
  })
  const state = async () =>
    JSON.parse((await at.run(['mcp', 'list', '--json'])).stdout).find(
      ({ name }: { name: string }) => name === 'guarded',
    ).status
  assert.equal(await state(), 'needs-auth')

  let opened = false
  const ran = await at.run(['mcp', 'login', 'guarded'], {
    onStderr(text) {
      const page = /^ {2}(http\S+)\n/m.exec(text)?.[1]
      if (page && !opened) void fetch(page) // as the user's browser would
      opened ||= page !== undefined
    },
  })
  assert.deepEqual([ran.code, ran.stdout], [0, 'signed in to guarded\n'], ran.stderr)
  assert.equal(await state(), 'connected')
  assert.deepEqual(await evaluate(at, 'mcp__guarded__secret', {}), { content: 'the secret', is_error: false })

  assert.equal((await at.run(['mcp', 'logout', 'guarded'])).stdout, 'signed out of guarded\n')
  assert.equal(await state(), 'needs-auth')
  for (const [name, why] of [
    ['nobody', /there is no MCP server nobody/],
    ['here', /nothing to sign in to/],
  ] as const) {
    const { code, stderr } = await at.run(['mcp', 'login', name])
    assert.equal(code, 1)
    assert.match(stderr, why)
  }
})

test('a server gets a reply of the model where a rule or the user allows it, and the record shows it', async (t) => {
  const at = place(t)
  const model = await startScripted('from the model')
  t.after(() => model.close())
  const env = { LM_STUDIO_BASE_URL: model.baseUrl, LM_STUDIO_MODEL: 'scripted' }
  const [command, ...args] = everything
  const call = JSON.stringify({
    tool: 'mcp__every__trigger-sampling-request',
    input: { prompt: 'a rhyme', maxTokens: 50 },
  })
  const ask = async (permissions: object) => {
    writeFileSync(
      join(at.home, '.ona/settings.json'),
      JSON.stringify({ mcpServers: { every: { command, args } }, permissions }),
    )
    return JSON.parse((await at.run(['--eval', call], { env })).stdout)
  }
  mkdirSync(join(at.home, '.ona'), { recursive: true })
  const rule = 'mcp__every__sampling_createMessage'
  const allowed = await ask({ allow: [rule] })
  assert.deepEqual([allowed.is_error, /from the model/.test(allowed.content)], [false, true], allowed.content)
  assert.match(model.requests[0]!, /a rhyme/)
  const refused = await ask({ deny: [rule] })
  assert.deepEqual([/from the model/.test(refused.content), model.requests.length], [false, 1], refused.content)
  const detail = at.rows("SELECT detail FROM events WHERE event_type = 'mcp_sampling' ORDER BY id")
  assert.deepEqual(
    detail.map((row) => JSON.parse(String(row['detail']))).map(({ server, decision }) => [server, decision]),
    [
      ['every', 'allow'],
      ['every', 'deny'],
    ],
  )
})
