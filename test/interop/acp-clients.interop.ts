/** Programs that speak the Agent Client Protocol: acpx with `ona acp`, and claude-agent-acp with ona as its Claude Code. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { client, ndJsonStream, type SessionUpdate } from '@agentclientprotocol/sdk'
import { bash, cache, call, type Line, program, type World, world } from './support.ts'

function runAcpx(
  at: World,
  words: readonly string[],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const cli = join(cache, 'node_modules/acpx/dist/cli.js')
  const child = spawn(
    process.execPath,
    [cli, '--agent', `${process.execPath} ${program} acp`, '--cwd', at.folder, ...words],
    {
      cwd: at.folder,
      env: at.env,
      timeout: 60_000,
      killSignal: 'SIGKILL',
    },
  )
  const out = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (piece) => {
      out[name] += piece
    })
  child.stdin.end()
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...out })))
}

const acpx: Record<string, (t: TestContext) => Promise<void>> = {
  async 'acpx exec: a prompt is answered'(t) {
    const at = await world(t, [{ text: 'Hello from ona.' }])
    const { code, stdout, stderr } = await runAcpx(at, ['--format', 'quiet', 'exec', 'hi'])
    assert.deepEqual([code, stdout.trim()], [0, 'Hello from ona.'], stderr)
  },
  async 'acpx exec --approve-all runs a tool'(t) {
    const at = await world(t, [bash('touch a')])
    const { code, stderr } = await runAcpx(at, ['--approve-all', 'exec', 'go'])
    assert.deepEqual([code, existsSync(join(at.folder, 'a'))], [0, true], stderr)
  },
  async 'acpx exec --deny-all does not'(t) {
    const at = await world(t, [bash('touch a')])
    await runAcpx(at, ['--deny-all', 'exec', 'go'])
    assert.equal(existsSync(join(at.folder, 'a')), false)
  },
}

interface Editor {
  readonly agent: ReturnType<ReturnType<typeof client>['connect']>['agent']
  readonly updates: SessionUpdate[]
  readonly asked: string[]
  open(): Promise<string>
  prompt(sessionId: string, text: string): Promise<{ stopReason: string }>
  said(): string
}

/** The editor's side; the agent is claude-agent-acp, which drives ona through the Claude Agent SDK. */
async function editor(t: TestContext, at: World, choose = 'allow'): Promise<Editor> {
  const child = spawn(
    process.execPath,
    [join(cache, 'node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js')],
    {
      cwd: at.folder,
      env: { ...at.env, CLAUDE_CODE_EXECUTABLE: program },
      stdio: ['pipe', 'pipe', process.env['ONA_INTEROP_DEBUG'] ? 'inherit' : 'ignore'],
    },
  )
  t.after(() => child.kill('SIGKILL'))
  const updates: SessionUpdate[] = []
  const asked: string[] = []
  const { agent } = client({ name: 'test' })
    .onRequest('session/request_permission', ({ params }) => {
      asked.push(params.toolCall.title ?? '')
      const option = params.options.find(({ kind }) => kind.startsWith(choose))
      return { outcome: { outcome: 'selected', optionId: option!.optionId } }
    })
    .onNotification('session/update', ({ params }) => void updates.push(params.update))
    .connect(
      ndJsonStream(
        Writable.toWeb(child.stdin!) as WritableStream<Uint8Array>,
        Readable.toWeb(child.stdout!) as ReadableStream<Uint8Array>,
      ),
    )
  await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
  return {
    agent,
    updates,
    asked,
    open: async () => (await agent.request('session/new', { cwd: realpathSync(at.folder), mcpServers: [] })).sessionId,
    prompt: (sessionId, text) => agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
    said: () =>
      updates
        .map((update) =>
          update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? update.content.text : '',
        )
        .join(''),
  }
}

const open = async (t: TestContext, lines: readonly Line[], choose?: string) => {
  const at = await world(t, lines)
  const editing = await editor(t, at, choose)
  return { at, ...editing, sessionId: await editing.open() }
}

const claudeAgentAcp: Record<string, (t: TestContext) => Promise<void>> = {
  async 'claude-agent-acp: a prompt is answered'(t) {
    const { prompt, sessionId, said } = await open(t, [{ text: 'Hello from ona.' }])
    const { stopReason } = await prompt(sessionId, 'hi')
    assert.deepEqual([stopReason, said()], ['end_turn', 'Hello from ona.'])
  },
  async 'claude-agent-acp: the editor is asked, and a call runs'(t) {
    const { at, prompt, sessionId, asked, updates } = await open(t, [bash('touch a')])
    await prompt(sessionId, 'go')
    assert.deepEqual([asked.length, existsSync(join(at.folder, 'a'))], [1, true])
    assert.ok(updates.some(({ sessionUpdate }) => sessionUpdate === 'tool_call'))
  },
  async 'claude-agent-acp: a rejected call does not run'(t) {
    const { at, prompt, sessionId } = await open(t, [bash('touch a')], 'reject')
    await prompt(sessionId, 'go')
    assert.equal(existsSync(join(at.folder, 'a')), false)
  },
  async 'claude-agent-acp: a file is written with its diff'(t) {
    const at = await world(t, [
      (chat) => (chat ? call('Write', { file_path: join(at.folder, 'a'), content: 'x' }) : {}),
    ])
    const { open: begin, prompt, updates } = await editor(t, at)
    await prompt(await begin(), 'go')
    assert.equal(existsSync(join(at.folder, 'a')), true)
    assert.ok(JSON.stringify(updates).includes('"diff"'))
  },
  async 'claude-agent-acp: cancel ends the turn'(t) {
    const started = Promise.withResolvers<void>()
    const { agent, prompt, sessionId } = await open(t, [
      () => {
        started.resolve()
        return new Promise(() => {})
      },
    ])
    const turn = prompt(sessionId, 'go')
    await started.promise
    await agent.notify('session/cancel', { sessionId })
    assert.equal((await turn).stopReason, 'cancelled')
  },
  async 'claude-agent-acp: modes can be set'(t) {
    const { at, agent, prompt, sessionId } = await open(t, [call('Write', { file_path: 'b', content: '' })])
    await agent.request('session/set_mode', { sessionId, modeId: 'plan' })
    await prompt(sessionId, 'go')
    assert.equal(existsSync(join(at.folder, 'b')), false)
  },
  async 'claude-agent-acp: project instructions reach the model'(t) {
    const at = await world(t)
    writeFileSync(join(at.folder, 'CLAUDE.md'), 'Speak like a pirate.')
    const { open: begin, prompt } = await editor(t, at)
    await prompt(await begin(), 'hi')
    assert.match(JSON.stringify(at.chats[0]), /pirate/)
  },
  async 'claude-agent-acp: two prompts share a session'(t) {
    const { at, prompt, sessionId } = await open(t, [])
    await prompt(sessionId, 'remember the milk')
    await prompt(sessionId, 'what?')
    assert.match(JSON.stringify(at.chats.at(-1)), /remember the milk/)
  },
}

for (const [name, check] of Object.entries({ ...acpx, ...claudeAgentAcp })) test(name, { timeout: 60_000 }, check)
