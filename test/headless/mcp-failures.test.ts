/** MCP servers that cannot start, die, or are known to the snapshot only; and what a hook may replace of their output. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { call, testModel } from '../support/model/model.ts'
import { place } from '../support/program.ts'
import { initDb } from '../support/workflow.ts'

const echo = join(import.meta.dirname, '../interop/echo-server.mjs')
const config = (servers: object) => ['--mcp-config', JSON.stringify({ mcpServers: servers })]
const failures = "SELECT detail FROM events WHERE event_type = 'mcp_server_failure'"

test('a server that cannot start is named on stderr, in an event and in the error of a call', async (t) => {
  const at = place(t)
  const model = await testModel(t, [call('mcp__dead__say', { text: 'hi' })])
  const words = ['-p', 'go', '--allowed-tools', 'mcp__dead', ...config({ dead: { command: '/nonexistent/server' } })]
  const { code, stdout, stderr } = await at.run(words, { env: model.env })
  assert.deepEqual([code, stdout], [0, 'Done.\n'])
  assert.match(stderr, /MCP server dead \(failed\): .*\/nonexistent\/server.*ENOENT/)
  const [event, ...more] = at.rows<{ detail: string }>(failures).map(({ detail }) => JSON.parse(detail))
  assert.deepEqual([event.server, event.status, more], ['dead', 'failed', []])
  assert.match(JSON.stringify(model.chats[1]), /mcp__dead__say is not available: the MCP server dead is failed: /)
})

test('the stream of JSON tells it too', async (t) => {
  const at = place(t)
  const model = await testModel(t)
  const words = ['-p', 'go', '--output-format', 'stream-json', ...config({ dead: { command: '/nonexistent/server' } })]
  const { stdout } = await at.run(words, { env: model.env })
  const messages = stdout.split('\n').map((line) => JSON.parse(line || '{}'))
  const told = messages.find(({ subtype }) => subtype === 'informational')
  assert.match(told.content, /^MCP server dead \(failed\): /)
})

test('a server that dies during a call is named in its result, on stderr and in an event', async (t) => {
  const at = place(t)
  // It answers as the echo server does until it is asked to say "die".
  const dying = at.write(
    'dying.mjs',
    `import { createInterface } from 'node:readline'
const write = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') write({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'd', version: '1' } } })
  else if (method === 'tools/list') write({ id, result: { tools: [{ name: 'say', inputSchema: { type: 'object' } }] } })
  else if (method === 'tools/call') process.exit(3)
}
`,
  )
  const model = await testModel(t, [call('mcp__dying__say', {})])
  const words = ['-p', 'go', '--allowed-tools', 'mcp__dying']
  const servers = config({ dying: { command: process.execPath, args: [dying] } })
  const { code, stderr } = await at.run([...words, ...servers], { env: model.env })
  assert.equal(code, 0)
  assert.match(stderr, /MCP server dying \(pending\): it ended/)
  assert.match(JSON.stringify(model.chats[1]), /the connection to the MCP server dying broke/)
  const events = at.rows<{ detail: string }>(failures).map(({ detail }) => JSON.parse(detail).server)
  assert.deepEqual(events, ['dying'])
})

test('mcp list shows a server that only the snapshot holds; it is not removed from a file', async (t) => {
  const at = place(t)
  await initDb(at)
  const db = new DatabaseSync(at.db)
  const settings = { mcpServers: { stored: { command: process.execPath, args: [echo] } } }
  db.prepare(
    "INSERT OR REPLACE INTO settings_snapshot(scope, json, updated_at) VALUES ('effective', ?, datetime('now'))",
  ).run(JSON.stringify(settings))
  db.close()
  const [server] = JSON.parse((await at.run(['mcp', 'list', '--json'])).stdout)
  assert.deepEqual([server.name, server.scope, server.status, server.tools], ['stored', 'user', 'connected', 2])
  const removed = await at.run(['mcp', 'remove', 'stored'])
  assert.equal(removed.code, 1)
  assert.match(removed.stderr, /stored is only in the settings snapshot in the database/)
})

test('updatedMCPToolOutput replaces what an MCP tool gave, and of no other tool', async (t) => {
  const at = place(t)
  const answer = {
    hookSpecificOutput: { hookEventName: 'PostToolUse', updatedMCPToolOutput: 'REPLACED' },
  }
  const hooks = [
    { hook_event_name: 'PostToolUse', matcher: '', shell: 'sh', command: `echo '${JSON.stringify(answer)}'` },
  ]
  const model = await testModel(t, [call('mcp__echo__say', { text: 'hi' }), call('Bash', { command: 'echo plain' })])
  const words = ['-p', 'go', '--allowed-tools', 'mcp__echo,Bash', '--settings', JSON.stringify({ hooks })]
  const servers = config({ echo: { command: process.execPath, args: [echo] } })
  const { code, stderr } = await at.run([...words, ...servers], { env: model.env })
  assert.equal(code, 0, stderr)
  const [mcp, bash] = [1, 2].map((at) => JSON.stringify(model.chats[at]!.messages.at(-1)))
  assert.match(mcp!, /REPLACED/)
  assert.doesNotMatch(mcp!, /said hi/)
  assert.match(bash!, /plain/)
  assert.doesNotMatch(bash!, /REPLACED/)
})

test('a server that offers more tools than are used is reported, once', async (t) => {
  const at = place(t)
  const many = at.write(
    'many.mjs',
    `import { createInterface } from 'node:readline'
const write = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
const tools = Array.from({ length: 1001 }, (_, n) => ({ name: 't' + n, inputSchema: { type: 'object' } }))
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') write({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'm', version: '1' } } })
  else if (method === 'tools/list') write({ id, result: { tools } })
}
`,
  )
  const model = await testModel(t)
  const { code, stderr } = await at.run(
    ['-p', 'go', ...config({ many: { command: process.execPath, args: [many] } })],
    {
      env: model.env,
    },
  )
  const problem = 'it offers 1001 tools; the first 1000 are used'
  assert.equal(code, 0)
  assert.deepEqual(stderr.match(/MCP server .*/g), [`MCP server many (connected): ${problem}`])
  const events = at.rows<{ detail: string }>(failures).map(({ detail }) => JSON.parse(detail))
  assert.deepEqual(events, [{ server: 'many', status: 'connected', problem }])
})
