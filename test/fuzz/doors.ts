/** Every door through which text comes in that others wrote. Each must take anything: no throw, no hang, no rule undone. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importsIn } from '../../src/agent/context/instructions.ts'
import { loadMessages } from '../../src/agent/session/history.ts'
import { readAgentKind } from '../../src/agent/subagents/agent-definitions.ts'
import { noCounts } from '../../src/audit/import/counts.ts'
import { importDispatcher } from '../../src/audit/import/dispatcher.ts'
import { importFile } from '../../src/audit/import/import-history.ts'
import { recordedCalls } from '../../src/audit/replay/recorded-calls.ts'
import { fixed } from '../../src/auth/credential.ts'
import { loadRolesFile } from '../../src/brains/roles/load.ts'
import { readArgs } from '../../src/cli/args.ts'
import { readStreamLine } from '../../src/cli/control/lines.ts'
import { flags } from '../../src/cli/flags.ts'
import { parseInput, recogniseDialect, toHostEvent } from '../../src/dispatcher/host/host-input.ts'
import { readManifest } from '../../src/dispatcher/manifest.ts'
import { checkPlan } from '../../src/dispatcher/rules/plan-graph.ts'
import { Problem } from '../../src/files/problem.ts'
import { readExit } from '../../src/hooks/handlers/ask.ts'
import { readHooks, sayHookProblem } from '../../src/hooks/settings.ts'
import { applyVerdict } from '../../src/hooks/step/apply.ts'
import { draftOf } from '../../src/hooks/step/draft.ts'
import { readOutput } from '../../src/hooks/wire/output.ts'
import { historyReaders } from '../../src/hosts/history/readers.ts'
import type { HistoryFile, HistoryReader } from '../../src/hosts/history/record.ts'
import { flagServers, readServers } from '../../src/mcp/config.ts'
import { connectServers } from '../../src/mcp/hub.ts'
import { decide } from '../../src/permissions/decide.ts'
import type { PermissionSettings } from '../../src/permissions/question.ts'
import { readRule, ruleProblem } from '../../src/permissions/rules/rule.ts'
import { createProvider } from '../../src/providers/create.ts'
import type { ModelRequest } from '../../src/providers/model.ts'
import { sseReader } from '../../src/providers/transport/sse.ts'
import { loadScript } from '../../src/rehearsal/script.ts'
import { createConversation, createSession } from '../../src/store/conversations.ts'
import { StoreError } from '../../src/store/failure.ts'
import { inMemory, openDb } from '../../src/store/open.ts'
import { listSessions } from '../../src/store/session/session-list.ts'
import { readEntries } from '../../src/store/session/transcript.ts'
import { loadSettings } from '../../src/store/settings/settings.ts'
import { editSettings } from '../../src/store/settings/settings-edit.ts'
import { parseSettings } from '../../src/store/settings/settings-files.ts'
import { readFrontmatter } from '../../src/tools/skills/frontmatter.ts'
import { findSkills, partsOf } from '../../src/tools/skills/skills.ts'
import { clean } from '../../src/tui/render/clean.ts'
import { criteriaOf } from '../../src/workflow/criteria.ts'

export interface Door {
  /** Texts that fit; the others are made from them. */
  readonly seeds: readonly string[]
  /** Fails when it throws. */
  enter(text: string): void | Promise<void>
}

/** A folder of this process's own; it goes when the process does. */
let folder: string | undefined
function here(name: string): string {
  if (!folder) {
    const made = mkdtempSync(join(tmpdir(), 'ona-fuzz-'))
    for (const each of ['home/.ona', 'work/.ona/skills/s', 'work/.ai/tmp/s1'])
      mkdirSync(join(made, each), { recursive: true })
    process.on('exit', () => rmSync(made, { recursive: true, force: true }))
    folder = made
  }
  return join(folder, name)
}

const json = (value: unknown): string => JSON.stringify(value)
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
/** An answer that refuses has to say something. */
const told = (why: unknown): void => assert.ok(typeof why === 'string' && why.trim() !== '', 'it does not say why')

const hooks = {
  flat: [{ hook_event_name: 'PreToolUse', matcher: 'Bash', if: 'Bash(rm *)', command: 'x', timeout: 3, shell: 'sh' }],
  nested: { Stop: [{ matcher: '', hooks: [{ type: 'command', command: 'x', once: true }] }] },
}
const settings = {
  permissions: {
    allow: ['Read', 'Bash(npm *)'],
    deny: ['Bash(rm *)'],
    defaultMode: 'default',
    additionalDirectories: ['/x'],
  },
  hooks: hooks.flat,
  env: { A: 'b' },
  model_config: { provider: 'lm_studio_local', model_id: 'lm_studio_server_routed' },
  mcpServers: { a: { command: 'x', args: ['y'] } },
  statusLine: { type: 'command', command: 'x' },
}
const verdict = {
  continue: true,
  decision: 'block',
  reason: 'r',
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput: { command: 'ls' } },
}
const plan = {
  version: 1,
  defaultPolicy: 'allow',
  nodes: [
    { id: 'a', description: 'x', kind: 'explore', tools: ['grep_search'], scope: 'src/**', status: 'complete' },
    { id: 'b', description: 'y', tool: 'runTests', validates: ['a'], dependencies: ['a'] },
  ],
}
const skill =
  '---\nname: s\ndescription: "d"\nallowed-tools: [Read, Bash(git *)]\n---\nDo $1 with !`git log $ARGUMENTS` and @a.md\n'

/** A deny that is taken away never makes a call that it let pass be refused: denials only ever take. */
async function ruled(deny: readonly string[], tool: string, input: Record<string, unknown>): Promise<void> {
  const asked = (permissions: PermissionSettings) =>
    decide({
      ...{ settings: permissions, mode: 'default', tool, input, hook: 'none', cwd: '/work', projectDir: '/work' },
      home: '/home/u',
    } as Parameters<typeof decide>[0])
  const usable = deny.filter((rule) => readRule(rule, 'deny').ok)
  const free = await asked({ allow: ['Bash', 'Read'] })
  const bound = await asked({ allow: ['Bash', 'Read'], deny: usable })
  if (bound.decision === 'allow') assert.equal(free.decision, 'allow')
  if (bound.decision !== 'allow') told(bound.reason)
  if (usable.includes('Bash') && tool === 'Bash') assert.equal(bound.decision, 'deny')
}

/** A model's server that says whatever it is told. Nothing that it says may throw: a failure is a reply. */
let sending = ''
let served: Promise<string> | undefined
const modelServer = () =>
  (served ??= new Promise((resolve) => {
    const { createServer } = process.getBuiltinModule('node:http')
    const server = createServer((asked, response) => {
      asked.resume()
      response.writeHead(200, { 'content-type': sending.startsWith('{') ? 'application/json' : 'text/event-stream' })
      response.end(sending)
    })
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).unref()
  }))

const question: ModelRequest = {
  ...{
    model: 'm',
    system: [],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }],
    tools: [],
    maxTokens: 9,
  },
  signal: new AbortController().signal,
}

async function streamed(provider: 'openai_compatible' | 'claude_code_subscription', text: string): Promise<void> {
  const baseUrl = `${await modelServer()}${provider === 'openai_compatible' ? '/v1' : ''}`
  sending = text
  const about = { class: 'api_key' as const, source: 'K', whenRefused: 'x' }
  const asked = createProvider({
    provider,
    credential: fixed(about, { key: 'k' }),
    env: {},
    baseUrl,
    retries: { most: 0 },
  })
  const { stop, content, failure } = await asked.reply(question, () => {})
  if (stop === 'error') told(failure?.message)
  for (const block of content) assert.ok(['text', 'tool_use', 'thinking'].includes(block.type), block.type)
}
const frames = (...values: unknown[]) =>
  values.map((value) => `data: ${typeof value === 'string' ? value : json(value)}\n\n`).join('')

function loaded(user: string, project: string, snapshot?: string): void {
  writeFileSync(here('home/.ona/settings.json'), user)
  writeFileSync(here('work/.ona/settings.json'), project)
  const db = openDb(inMemory)
  try {
    const request = { db, cwd: here('work'), home: here('home'), env: {}, managedDirs: [], checkRule: ruleProblem }
    const first = loadSettings(request)
    if (snapshot !== undefined) {
      db.run("UPDATE settings_snapshot SET json = ? WHERE scope = 'effective'", snapshot)
      const { problems } = loadSettings(request)
      for (const { why } of problems) told(why)
      return
    }
    for (const { why } of first.problems) told(why)
    assert.ok(
      first.settings.hooks.every(({ source }) => source !== 'project'),
      'a hook of an untrusted folder counts',
    )
    assert.ok(first.settings.permissions?.deny?.includes('Bash(rm *)'), 'a deny rule was lost')
  } finally {
    db.close()
  }
}
const mine = json({ permissions: { allow: ['Read'], deny: ['Bash(rm *)'] } })

/** A door per history format: whatever a file of another agent's holds, the import ends, and what it stores is valid. */
const samples = join(import.meta.dirname, '../fixtures/histories')
const otherHistories = [
  '{"role":"user","message":{"content":[{"type":"text","text":"<user_query>x</user_query>"}]}}\n{"role":"assistant","message":{"content":[{"type":"tool_use","name":"Shell","input":{"command":"ls"}}]}}\n',
  '{"row":"session","id":"s","sessionId":"s","time_created":1794743305605,"creationDate":1794743305605,"directory":"/repo"}\n{"row":"part","id":"p","session_id":"s","time_created":1794743305605,"data":"{\\"type\\":\\"tool\\",\\"tool\\":\\"bash\\",\\"callID\\":\\"c\\",\\"state\\":{\\"status\\":\\"completed\\",\\"input\\":{\\"command\\":\\"ls\\"},\\"output\\":\\"x\\"}}","message":"{\\"role\\":\\"assistant\\"}"}\n{"row":"request","sessionId":"s","request":{"requestId":"r","timestamp":1794743305605,"message":{"text":"x"},"response":[{"kind":"toolInvocationSerialized","toolId":"copilot_readFile","toolCallId":"t"}]}}\n',
  '{"row":"session","composer":"s","createdAt":1794743305605,"folder":"/repo"}\n{"row":"bubble","composer":"s","createdAt":1794743305605,"bubble":{"bubbleId":"a","type":1,"text":"x"}}\n{"row":"bubble","composer":"s","createdAt":1794743305605,"bubble":{"bubbleId":"b","type":2,"toolFormerData":{"toolCallId":"t","name":"run_terminal_cmd","rawArgs":"{\\"command\\":\\"ls\\"}","status":"completed","result":"{\\"output\\":\\"x\\"}"}}}\n',
  '{"row":"session","session":"s","at":"2026-11-15T12:00:00.000Z","createdAt":"2026-11-15T12:00:00.000Z","cwd":"/repo"}\n{"row":"message","session":"s","at":"2026-11-15T12:00:00.000Z","id":"m","message":{"role":"assistant","content":[{"type":"tool-call","toolCallId":"t","toolName":"Shell","args":{"command":"ls"}}]}}\n',
]
const historyDoors: Record<string, Door> = Object.fromEntries(
  historyReaders.map((reader) => [
    `history of ${reader.title}`,
    {
      seeds: historySeeds(reader),
      async enter(text) {
        const file = { path: here('history.jsonl'), key: 'k', about: { session: 's', at: '2026-11-15T12:00:00.000Z' } }
        writeFileSync(file.path, text)
        const { rows, isThin } = reader
        if (rows) await enterHistory({ ...reader, rows: () => rowsIn(text, isThin !== undefined) }, file)
        if (!rows || isThin) await enterHistory(reader, { ...file, lines: true })
      },
    } satisfies Door,
  ]),
)

async function enterHistory(reader: HistoryReader, file: HistoryFile): Promise<void> {
  const db = openDb(inMemory)
  try {
    await importFile({ db }, reader, file, noCounts())
    const first = db.all('SELECT count(*) AS n FROM transcript_entries')
    await importFile({ db }, reader, file, noCounts())
    assert.deepEqual(db.all('SELECT count(*) AS n FROM transcript_entries'), first, 'importing again added rows')
    for (const { id } of db.all<{ id: string }>('SELECT session_id AS id FROM sessions'))
      Array.from(readEntries(db, id))
    for (const { input } of recordedCalls(db)) assert.equal(typeof input, 'object')
  } finally {
    db.close()
  }
}

function historySeeds({ agent, files, rows }: (typeof historyReaders)[number]): string[] {
  const folder = join(samples, agent)
  if (rows || !existsSync(folder)) return otherHistories
  return files(folder)
    .filter(({ path }) => path.endsWith('.jsonl'))
    .map(({ path }) => readFileSync(path, 'utf8').split('\n').slice(0, 30).join('\n'))
}

/** `marked`: the reader tells rows by their key `row` from the lines that it reads too. */
function* rowsIn(text: string, marked: boolean): Generator<{ line: Record<string, never>; cursor: number }> {
  for (const line of text.split('\n')) {
    const value = parsed(line)
    if (typeof value !== 'object' || value === null || Array.isArray(value) || (marked && !('row' in value))) continue
    yield { line: value as never, cursor: 1 }
  }
}

/** One process that is spoken to line by line; after each text it must still answer. */
class Answering {
  readonly #words: readonly string[]
  readonly #ask: (id: number) => string
  #child: ChildProcess | undefined
  #heard = ''
  #id = 0

  constructor(words: readonly string[], ask: (id: number) => string) {
    this.#words = words
    this.#ask = ask
  }

  async say(text: string): Promise<void> {
    const child = this.#child ?? this.#start()
    const id = ++this.#id + 1_000_000
    child.stdin!.write(`${text.replaceAll('\n', ' ')}\n${this.#ask(id)}\n`)
    const end = Date.now() + 50_000
    while (!this.#heard.includes(`"id":${id}`)) {
      assert.equal(child.exitCode, null, `it ended: ${this.#heard.slice(-500)}`)
      assert.ok(Date.now() < end, 'it does not answer any more')
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    this.#heard = ''
  }

  #start(): ChildProcess {
    const program = join(import.meta.dirname, '../../bin/ona.mjs')
    const env = { PATH: process.env['PATH'], HOME: here('home'), ONA_KEYCHAIN: 'off' }
    rmSync(here('home/.ona/settings.json'), { force: true })
    const child = spawn(process.execPath, [program, ...this.#words], { cwd: here('.'), env })
    const hear = (piece: Buffer) => {
      this.#heard = (this.#heard + piece).slice(-200_000)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.stdin.on('error', () => {}) // seen by its end
    child.unref()
    process.on('exit', () => child.kill('SIGKILL'))
    this.#child = child
    return child
  }
}

const rpc = (method: string, params: object, id: number | string = 1) => json({ jsonrpc: '2.0', id, method, params })
const acp = new Answering(['acp'], (id) => rpc('initialize', { protocolVersion: 1, clientCapabilities: {} }, id))
const mcpServer = new Answering(['mcp', 'serve'], (id) => rpc('ping', {}, id))

export const doors: Readonly<Record<string, Door>> = {
  'settings file of a user': {
    seeds: [json(settings), `{ // c\n "permissions": {"deny": ["Bash(rm *)"],},\n}`],
    enter: (text) => {
      const read = parseSettings(text)
      if (!read.ok) told(read.why)
      loaded(mine, json({}), text)
    },
  },
  'settings file of a repository': {
    seeds: [json(settings), json({ hooks: hooks.nested })],
    enter: (text) => loaded(mine, text),
  },
  'settings snapshot': { seeds: [json(settings)], enter: (text) => loaded(mine, '{}', text) },
  'hooks, flat and nested': {
    seeds: [json(hooks.flat), json(hooks.nested), json({ before_tool_apply: hooks.nested.Stop })],
    enter(text) {
      const { handlers, problems } = readHooks({ hooks: parsed(text) }, { source: { kind: 'settings' } })
      for (const problem of problems) told(sayHookProblem(problem))
      for (const handler of handlers) assert.equal(typeof handler.event, 'string')
    },
  },
  "a hook's stdout": {
    seeds: [json(verdict), json({ control: { kind: 'break' }, args: {} }), 'plain'],
    enter(text) {
      for (const exit of [0, 1, 2, null]) {
        const said = readExit(exit, text, text, exit === 0)
        const value = said.kind === 'answer' ? said.value : {}
        const output = readOutput('PreToolUse', value)
        assert.equal(typeof output.ok, 'boolean')
        const state = { toolName: 'Bash', safety: 'destructive', args: { a: 1 }, result: null }
        const step = draftOf('before_tool_apply', state as never)
        const applied = applyVerdict('before_tool_apply', step, value as never)
        if (!applied.ok) assert.deepEqual(step, state)
      }
    },
  },
  'server-sent events': {
    seeds: [frames({ a: 1 }, '[DONE]'), 'event: x\r\ndata: a\r\ndata: b\r\n\r\n'],
    enter(text) {
      const all: string[] = []
      const pieces: string[] = []
      const one = sseReader((data) => all.push(data))
      one.push(text)
      one.end()
      const many = sseReader((data) => pieces.push(data))
      for (let at = 0; at < text.length; at++) many.push(text[at]!)
      many.end()
      assert.deepEqual(pieces, all, 'how it is cut changes what is read')
    },
  },
  'stream of an OpenAI-compatible model': {
    seeds: [
      frames(
        { choices: [{ index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null }] },
        {
          choices: [
            {
              index: 0,
              delta: {
                tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'Read', arguments: '{"f' } }],
              },
            },
          ],
        },
        {
          choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }],
          usage: { prompt_tokens: 1, completion_tokens: 2 },
        },
        '[DONE]',
      ),
      json({ choices: [{ message: { content: 'a', tool_calls: [] }, finish_reason: 'stop' }] }),
    ],
    enter: (text) => streamed('openai_compatible', text),
  },
  'stream of Anthropic': {
    seeds: [
      frames(
        { type: 'message_start', message: { id: 'm', usage: { input_tokens: 1 } } },
        {
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'tool_use', id: 't', name: 'Read', input: {} },
        },
        { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"a' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } },
        { type: 'message_stop' },
      ),
    ],
    enter: (text) => streamed('claude_code_subscription', text),
  },
  'MCP servers as declared': {
    seeds: [
      json({
        mcpServers: {
          a: { command: 'x', args: ['${A:-b}'], env: { B: '${HOME}' } },
          b: { type: 'http', url: 'http://x/${P}' },
        },
      }),
    ],
    enter(text) {
      const { declared, problems } = flagServers(`{${text}`.slice(1), here('work'))
      const read = readServers(declared, { HOME: '/h' })
      for (const why of [...problems, ...read.problems]) told(why)
      readServers([{ scope: 'project', from: 'f', servers: parsed(text) }], {})
    },
  },
  'frames of an MCP server': {
    seeds: [
      json({
        jsonrpc: '2.0',
        id: 0,
        result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
      }),
      json({
        jsonrpc: '2.0',
        id: 1,
        result: { tools: [{ name: 't', description: 'd', inputSchema: { type: 'object' } }] },
      }),
      json({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }),
      rpc('elicitation/create', { message: 'm', requestedSchema: { type: 'object', properties: {} } }),
    ],
    async enter(text) {
      writeFileSync(here('frames'), `${text}\n`)
      const transport = {
        type: 'stdio',
        command: '/bin/sh',
        args: ['-c', `head -n1 >/dev/null; cat ${here('frames')} ${here('frames')}`],
        env: {},
      } as const
      const hub = connectServers([{ name: 's', scope: 'flag', transport, alwaysLoad: false }], {
        ...{
          env: { PATH: process.env['PATH'] },
          projectDir: here('work'),
          home: here('home'),
          version: '1',
          policy: {},
        },
        ...{ backOffMs: [], startMs: 1_000, roots: () => [], approve: async () => false },
        elicit: async () => ({ action: 'cancel' as const }),
        secrets: { read: async () => undefined, write: async () => {}, remove: async () => {} },
      } as never)
      await hub.ready(2_000)
      for (const { name } of hub.status()) assert.equal(name, 's')
      await hub.close()
    },
  },
  'requests to our MCP server': {
    seeds: [
      rpc('tools/list', {}),
      rpc('tools/call', { name: 'Read', arguments: { file_path: 'x' } }),
      rpc('initialize', { protocolVersion: '1' }),
    ],
    enter: (text) => mcpServer.say(text),
  },
  'requests of an editor (ACP)': {
    seeds: [
      rpc('session/new', { cwd: '/tmp', mcpServers: [] }, 2),
      rpc('session/prompt', { sessionId: 'x', prompt: [{ type: 'text', text: 'say x' }] }),
      rpc('session/cancel', { sessionId: 'x' }),
      rpc('session/set_mode', { sessionId: 'x', modeId: 'plan' }),
    ],
    enter: (text) => acp.say(text),
  },
  'rows of a transcript': {
    seeds: [
      json({ _t: 'user', uuid: 'u', content: [{ type: 'text', text: 'a' }] }),
      json({ _t: 'assistant', uuid: 'u', content: [{ type: 'tool_use', id: 't', name: 'Read', input: {} }] }),
      json({ _t: 'tool_result', tool_use_id: 't', content: 'x', is_error: false }),
      json({ _t: 'system', subtype: 'compact_boundary', from: 1 }),
    ],
    enter(text) {
      const db = openDb(inMemory)
      try {
        const conversation = createConversation(db, { projectDir: '/x' } as never)
        const session = createSession(db, conversation.id)
        for (const [sequence, type] of ['user', 'assistant', 'tool_result', 'system', 'user'].entries())
          db.run(
            `INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json, created_at) VALUES (?, ?, ?, ?, '')`,
            session.sessionId,
            sequence + 1,
            type,
            text,
          )
        listSessions(db)
        for (const message of loadMessages(db, session.sessionId, 1000)) assert.ok(Array.isArray(message.content))
      } catch (thrown) {
        if (!(thrown instanceof StoreError)) throw thrown
        assert.match(thrown.message, /transcript_entries row \d/)
      } finally {
        db.close()
      }
    },
  },
  'roles in YAML': {
    seeds: [
      'roles:\n  - slug: r\n    hooks:\n      onBrain:\n        onTool:\n          - {command: x, timeout: PT5S, filter: {what: Write}}\n    inits: {exec: ["y"]}\n',
    ],
    enter: (text) => roles('ona.roles.yaml', text),
  },
  'roles in JSON': {
    seeds: [
      json({
        slug: 'x',
        roles: [{ slug: 'r', hooks: { onBrain: { onStop: [{ command: 'x', timeout: { minutes: 1 } }] } } }],
      }),
    ],
    enter: (text) => roles('ona.roles.json', text),
  },
  'plan of the dispatcher': {
    seeds: [json(plan)],
    enter(text) {
      const checked = checkPlan(text, 'w')
      if (!checked.ok) assert.ok(checked.problems.length > 0)
    },
  },
  'manifest of the dispatcher': {
    seeds: [
      json({
        version: 1,
        modules: { session: { enabled: true, priority: 1, path: 'features/session/hook.mjs', critical: true } },
        budgets: { PreToolUse: 300 },
      }),
    ],
    enter(text) {
      const { manifest, problems } = readManifest(parsed(text))
      for (const why of problems) told(why)
      for (const { path } of manifest.modules) assert.equal(typeof path, 'string')
    },
  },
  'events for the dispatcher': {
    seeds: [
      json({
        hook_event_name: 'PreToolUse',
        session_id: 's',
        tool_name: 'run_in_terminal',
        tool_input: { command: 'ls', filePath: '/a' },
      }),
    ],
    enter(text) {
      const { raw } = parseInput({ text }, 'PreToolUse')
      assert.equal(toHostEvent('PreToolUse', raw, '/repo').name, 'PreToolUse')
      recogniseDialect('auto', raw)
    },
  },
  'logs of the dispatcher': {
    seeds: [
      `${json({ seq: 1, t: 'PRE_TOOL', ts: '2026-01-01T00:00:00Z', decision: 'deny', tool: 'x' })}\n${json({ t: 'STATE_PATCH', patch: {} })}\n`,
    ],
    enter(text) {
      writeFileSync(here('work/.ai/tmp/s1/events.jsonl'), text)
      const db = openDb(inMemory)
      try {
        importDispatcher(db, here('work/.ai/tmp'))
      } finally {
        db.close()
      }
    },
  },
  ...historyDoors,
  'scripts for the rehearsal model': {
    seeds: [
      'about: x\nmode: default\nturns:\n  - prompt: hello\n    steps:\n      - say: hi\n      - call: Read\n        input: {file_path: a}\n        expect: {contains: x}\n',
    ],
    async enter(text) {
      const script = await loadScript(text, 'f.yaml')
      if (!script.ok) script.problems.forEach(told)
    },
  },
  'words on the command line': {
    seeds: [
      '-p hello --model x --output-format json',
      '--allowed-tools Read Bash --add-dir .. -- x',
      '--resume --permission-mode plan',
    ],
    enter(text) {
      const read = readArgs(text.split(' '), flags)
      if (!read.ok) told(read.why)
    },
  },
  'head of a Markdown file': {
    seeds: [
      skill,
      '---\nname: a\ndescription: d\npermissionMode: plan\nmaxTurns: 3\ntools: Read, Bash\n---\nx',
      '# no head',
    ],
    enter(text) {
      const read = readFrontmatter(text)
      if (!read.ok) told(read.why)
      const kind = readAgentKind(text, 'f.md', { scope: 'project', trusted: false })
      if ('problem' in kind) told(kind.problem)
      writeFileSync(here('work/.ona/skills/s/SKILL.md'), text)
      const { skills, warnings } = findSkills({ home: here('home'), projectDir: here('work') })
      warnings.forEach(told)
      for (const each of skills)
        for (const part of partsOf(each, { args: text.slice(0, 50), sessionId: 's' })) assert.ok(part.kind)
      importsIn(text)
    },
  },
  'criteria of a plan': {
    seeds: [
      '# Plan\n\n## Success criteria\n- SC-1: it works\n- [ ] it is fast\n\n| id | text |\n| --- | --- |\n| C1 | x |\n\n## Next\n- no\n',
    ],
    enter(text) {
      for (const { id, text: words } of criteriaOf(text)) assert.ok(id !== '' && words !== '')
    },
  },
  'lines of stream-json': {
    seeds: [
      json({ type: 'user', message: { role: 'user', content: [{ type: 'text', text: 'x' }] } }),
      json({ type: 'control_request', request: { subtype: 'interrupt' } }),
    ],
    enter(text) {
      const read = readStreamLine(text)
      if (read.kind === 'wrong') told(read.why)
    },
  },
  'a settings file that is edited': {
    seeds: [`{\n  // mine\n  "permissions": { "allow": ["Read"] },\n}\n`, json(settings), ''],
    async enter(text) {
      const file = here('work/.ona/edited.json')
      writeFileSync(file, text)
      const edited = await editSettings(file, [{ path: ['permissions', 'deny'], add: ['Bash(rm *)'] }])
      const after = readFileSync(file, 'utf8')
      if (!edited.ok) {
        told(edited.why)
        assert.equal(after, Buffer.from(text).toString('utf8'), 'a file that was refused was changed')
        return
      }
      const read = parseSettings(after)
      const rules = read.ok && (read.settings['permissions'] as { deny?: unknown[] } | undefined)?.deny
      assert.ok(Array.isArray(rules) && rules.includes('Bash(rm *)'), 'the rule is not there')
    },
  },
  'permission rules': {
    seeds: [
      'Bash(git push *)',
      'Read(~/.ssh/**)',
      'WebFetch(domain:*.example.com)',
      'mcp__a__get_*',
      'Agent(x)',
      'Bash(npm test:*)',
      'Tool(p:v*)',
    ],
    async enter(text) {
      for (const behavior of ['allow', 'ask', 'deny'] as const) {
        const read = readRule(text, behavior)
        if (!read.ok) told(read.why)
      }
      await ruled([text], 'Bash', { command: 'git push origin && cat a' })
      await ruled([text], 'Read', { file_path: '/home/u/.ssh/id' })
    },
  },
  'command lines': {
    seeds: [
      `npm test && r''m -rf "$X" | tee a > b; (cd /x; ls) 2>&1`,
      'cat <<EOF\n$(rm x)\nEOF\nfor i in 1 2; do echo `id`; done',
      `find . -exec rm {} \\; ; xargs -0 sh -c 'rm $0'; env A=b timeout 3 rm x`,
      `if [[ $a =~ x ]]; then $'\\x72m' y; fi; f() { rm z; }; f <(ls)`,
    ],
    async enter(text) {
      await ruled(['Bash(rm *)', 'Read(~/.ssh/**)', 'Edit(//etc/**)'], 'Bash', { command: text })
      await ruled(['Bash'], 'Bash', { command: text })
    },
  },
  'paths in calls': {
    seeds: ['../a/./b', '/etc/passwd', '~/.ssh/id', 'a/../../b', './x y'],
    enter: (text) => ruled(['Read(~/.ssh/**)', 'Read(.env)', 'Read(//etc/**)'], 'Read', { file_path: text }),
  },
  'text for the terminal': {
    seeds: ['\x1b]0;t\x07\x1b[31mred\x1b[0m\r\nx\u202e', 'plain\ttext'],
    enter: (text) => assert.doesNotMatch(clean(text), /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/),
  },
}

async function roles(name: string, text: string): Promise<void> {
  const file = here(name)
  writeFileSync(file, text)
  try {
    for (const { role } of (await loadRolesFile(file, '.this', false)).roles) assert.equal(typeof role.slug, 'string')
  } catch (thrown) {
    if (!(thrown instanceof Problem)) throw thrown
    told(thrown.message)
  }
}
