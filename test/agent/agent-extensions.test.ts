/** What the definition of an agent brings along, through the program: hooks and MCP servers, for that agent alone. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { call, testModel } from '../support/model/model.ts'
import { type Place, place } from '../support/program.ts'

/** A server that offers one tool and leaves a file when it ends. */
function server(at: Place): string {
  return at.write(
    '../home/server.mjs',
    `import { createInterface } from 'node:readline'
import { writeFileSync } from 'node:fs'
const methods = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'depot', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'fetch', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'a crate of pears' }] }),
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: methods[method]?.(params) ?? {} }))
}
writeFileSync('ended', '')
`,
  )
}

const definition = (at: Place, extra: string) => `---
name: porter
description: Carries things
${extra}
---
You carry. Server: ${at.home}
`

const hooks = `hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: echo "no shell for porters" >&2; exit 2
          shell: sh
  Stop:
    - hooks:
        - type: command
          command: cat >> ../stops
          shell: sh`

const carry = call('Agent', { description: 'carry', prompt: 'Carry.', subagent_type: 'porter' })
const free = ['--permission-mode', 'bypassPermissions']
const hookRows = (at: Place) =>
  at.rows<{ event: string; skipped: string | null }>(
    'SELECT hook_event AS event, skipped_reason AS skipped FROM hook_invocations ORDER BY id',
  )

test('hooks of a definition hold for that agent and for nobody else; its Stop is the SubagentStop', async (t) => {
  const at = place(t)
  at.write('../home/.ona/agents/porter.md', definition(at, hooks))
  const { env, chats } = await testModel(t, [
    carry,
    call('Bash', { command: 'touch a' }),
    { text: 'I may not.' },
    call('Bash', { command: 'touch b' }),
  ])
  const ran = await at.run(['-p', 'go', ...free], { env })
  assert.equal(ran.code, 0, ran.stderr)
  assert.match(chats[2]!.messages.at(-1)!.text, /no shell for porters/)
  assert.deepEqual([existsSync(join(at.folder, 'a')), existsSync(join(at.folder, 'b'))], [false, true])
  const stop = JSON.parse(readFileSync(join(at.folder, '../stops'), 'utf8'))
  assert.deepEqual([stop.hook_event_name, stop.agent_type], ['SubagentStop', 'porter'])
  assert.deepEqual(
    hookRows(at).map(({ event }) => event),
    ['PreToolUse', 'SubagentStop'],
  )
})

test('a definition may name a TypeScript file, told from the project; without it the agent is not started', async (t) => {
  const at = place(t)
  const named = `hooks:
  PreToolUse:
    - hooks:
        - type: function
          file: .ona/guard.ts`
  at.write('.ona/agents/porter.md', definition(at, named))
  const { env, chats } = await testModel(t, [
    carry,
    { text: 'Not started.' },
    carry,
    call('Bash', { command: 'touch a' }),
  ])
  await at.run(['-p', 'go', ...free, '--trust'], { env })
  assert.match(chats[1]!.messages.at(-1)!.text, /agent porter .*file there is no file .*guard\.ts/)

  at.write(
    '.ona/guard.ts',
    `import { defineHook } from 'ona/hooks'
     export const none = defineHook('PreToolUse', () => ({ decision: 'block', reason: 'not for porters' }))\n`,
  )
  await at.run(['-p', 'go', ...free], { env })
  assert.match(chats.at(-2)!.messages.at(-1)!.text, /not for porters/)
  assert.ok(!existsSync(join(at.folder, 'a')))
})

test('--agent: the whole session has them, and its Stop is a Stop; --agents brings them too', async (t) => {
  const at = place(t)
  const stop = { hooks: [{ type: 'command', shell: 'sh', command: 'cat >> ../stops' }] }
  const agents = JSON.stringify({ porter: { description: 'd', prompt: 'You carry.', hooks: { Stop: [stop] } } })
  const { env } = await testModel(t)
  const ran = await at.run(['-p', 'go', '--agents', agents, '--agent', 'porter'], { env })
  assert.equal(ran.code, 0, ran.stderr)
  assert.equal(JSON.parse(readFileSync(join(at.folder, '../stops'), 'utf8')).hook_event_name, 'Stop')
})

test('a folder that nobody trusts brings neither: its hooks are rows that say so, its server is not started', async (t) => {
  const at = place(t)
  const servers = `mcpServers:\n  - depot:\n      command: touch\n      args: [${join(at.folder, 'started')}]`
  at.write('.ona/agents/porter.md', definition(at, `${hooks}\n${servers}`))
  const { env } = await testModel(t, [carry, call('Bash', { command: 'touch a' }), { text: 'Carried.' }])
  const ran = await at.run(['-p', 'go', ...free], { env })
  assert.match(ran.stderr, /porter\.md: this folder is not trusted, so its MCP servers are not started/)
  assert.deepEqual([existsSync(join(at.folder, 'a')), existsSync(join(at.folder, 'started'))], [true, false])
  assert.deepEqual(
    hookRows(at).map(({ skipped }) => skipped),
    ['untrusted_workspace', 'untrusted_workspace'],
  )
})

test('where only managed hooks may run, or none, those of a definition are rows that say so', async (t) => {
  const at = place(t)
  at.write('../home/.ona/agents/porter.md', definition(at, hooks))
  const { env } = await testModel(t, [carry, call('Bash', { command: 'touch a' })])
  await at.run(['-p', 'go', ...free, '--settings', '{"disableAllHooks":true}'], { env })
  assert.ok(existsSync(join(at.folder, 'a')))
  assert.deepEqual(
    hookRows(at).map(({ skipped }) => skipped),
    ['hooks_disabled', 'hooks_disabled'],
  )
})

test('a server of a definition is there for that agent, and gone with it; a name means one of the session', async (t) => {
  const at = place(t)
  const file = server(at)
  const list = `mcpServers:\n  - lost\n  - depot:\n      command: ${process.execPath}\n      args: [${file}]`
  at.write('../home/.ona/agents/porter.md', definition(at, list))
  const { env, chats } = await testModel(t, [
    carry,
    call('mcp__depot__fetch', {}),
    { text: 'Pears.' },
    call('mcp__depot__fetch', {}),
  ])
  const ran = await at.run(['-p', 'go', ...free], { env })
  assert.equal(ran.code, 0, ran.stderr)
  assert.match(ran.stderr, /agent porter names the MCP server "lost", which is not configured/)
  const has = chats.map(({ tools }) => tools.some(({ name }) => name === 'mcp__depot__fetch'))
  assert.deepEqual(has, [false, true, true, false, false])
  assert.match(chats[2]!.messages.at(-1)!.text, /a crate of pears/)
  assert.match(chats[4]!.messages.at(-1)!.text, /there is no tool named mcp__depot__fetch/)
  assert.ok(existsSync(join(at.folder, 'ended')), 'the server has ended')
})

test("a trusted project's server waits for its approval, as one of .mcp.json does", async (t) => {
  const at = place(t)
  const file = server(at)
  const list = `mcpServers:\n  depot:\n    command: ${process.execPath}\n    args: [${file}]`
  at.write('.ona/agents/porter.md', definition(at, list))
  const run = async (...words: string[]) => {
    const model = await testModel(t, [carry, { text: 'Done.' }])
    const ran = await at.run(['-p', 'go', '--trust', ...free, ...words], { env: model.env })
    return { ...ran, has: model.chats[1]!.tools.some(({ name }) => name === 'mcp__depot__fetch') }
  }
  const unasked = await run()
  assert.equal(unasked.has, false)
  assert.match(unasked.stderr, /MCP server depot of agent porter: .*you have not approved it/)
  assert.equal((await run('--settings', '{"enabledMcpjsonServers":["depot"]}')).has, true)
  const strict = await run('--strict-mcp-config')
  assert.equal(strict.has, false)
  assert.match(strict.stderr, /--strict-mcp-config: the MCP servers of agent porter are not started/)
})

test('what other products read from a definition and ona does not is reported', async (t) => {
  const at = place(t)
  at.write('../home/.ona/agents/porter.md', definition(at, 'memory: user\neffort: high\ncolor: blue'))
  const { env } = await testModel(t)
  const { stderr } = await at.run(['-p', 'go'], { env })
  assert.match(stderr, /porter\.md: memory: unknown key; ignored/)
  assert.match(stderr, /porter\.md: effort: unknown key; ignored/)
  assert.doesNotMatch(stderr, /color/)
})

test('a definition whose hooks cannot be read is not started without them', async (t) => {
  for (const [extra, why] of [
    ['hooks:\n  PreToolUs: []', /agent porter .*hooks has a key that .*PreToolUse/],
    ['hooks: [', /its head is no YAML/],
    ['hooks: 7', /hooks must be a list of hooks/],
  ] as const) {
    const at = place(t)
    at.write('../home/.ona/agents/porter.md', definition(at, extra))
    const { env, chats } = await testModel(t, [carry])
    await at.run(['-p', 'go', ...free], { env })
    assert.match(chats[1]!.messages.at(-1)!.text, why)
    const alone = await at.run(['-p', 'go', '--agent', 'porter'], { env })
    assert.deepEqual([alone.code, alone.stdout], [1, ''])
    assert.match(alone.stderr, why)
  }
})
