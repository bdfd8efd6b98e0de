/** A session of each agent in which some calls were made, as that agent records it, and the events that its hooks would get. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

type Input = Record<string, unknown>
/** The agent's own name of a tool and its input. */
export type NativeCall = readonly [name: string, input: Input]

export interface RecordedAgent {
  /** The host whose shim stands between; Qwen Code speaks as Gemini CLI does. */
  readonly host: string
  /** Writes the session into a home; `cwd`: where it was run. */
  write(home: string, cwd: string, calls: readonly NativeCall[]): void
  event(call: NativeCall, cwd: string): Input
}

const at = '2026-11-15T11:40:00.000Z'

function put(path: string, content: readonly object[] | object): void {
  mkdirSync(dirname(path), { recursive: true })
  const lines = Array.isArray(content) ? content : [content]
  writeFileSync(path, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`)
}

const event =
  (hook_event_name: string, more: Input = {}) =>
  ([tool_name, tool_input]: NativeCall, cwd: string) => ({
    ...{ session_id: 's', hook_event_name, tool_name, tool_input, cwd },
    ...more,
  })

export const recordedAgents: Readonly<Record<string, RecordedAgent>> = {
  claude: {
    host: 'claudecode',
    event: event('PreToolUse'),
    write: (home, cwd, calls) =>
      put(
        join(home, '.claude/projects/-p/s1.jsonl'),
        calls.flatMap(([name, input], n) => {
          const about = { sessionId: 's1', timestamp: at, cwd, version: '2' }
          const use = { type: 'tool_use', id: `c${n}`, name, input }
          const result = { type: 'tool_result', tool_use_id: `c${n}`, content: 'ok' }
          return [
            { ...about, type: 'assistant', uuid: `a${n}`, message: { id: `m${n}`, content: [use] } },
            { ...about, type: 'user', uuid: `u${n}`, message: { content: [result] } },
          ]
        }),
      ),
  },
  codex: {
    host: 'codex',
    event: ([name, input], cwd) => {
      const tool = name === 'exec_command' || name === 'shell' ? 'Bash' : name
      const { cmd, input: patch, command = cmd ?? patch } = input
      return event('PreToolUse')([tool, tool === 'Bash' || tool === 'apply_patch' ? { command } : input], cwd)
    },
    write: (home, cwd, calls) =>
      put(join(home, '.codex/sessions/2026/11/15/rollout-s1.jsonl'), [
        { timestamp: at, type: 'session_meta', payload: { id: 's1', cwd, timestamp: at } },
        ...calls.flatMap(([plain, input], n) => {
          const [, namespace, tool = plain] = /^(mcp__[a-z]+)__(.+)$/.exec(plain) ?? []
          const about = { call_id: `c${n}`, name: tool, ...(namespace && { namespace }) }
          const item =
            plain === 'apply_patch'
              ? { type: 'custom_tool_call', ...about, ...input }
              : { type: 'function_call', ...about, arguments: JSON.stringify(input) }
          const output = { type: 'function_call_output', call_id: `c${n}`, output: 'ok' }
          return [item, output].map((payload) => ({ timestamp: at, type: 'response_item', payload }))
        }),
      ]),
  },
  gemini: {
    host: 'gemini',
    event: event('BeforeTool'),
    write(home, cwd, calls) {
      put(join(home, '.gemini/projects.json'), { projects: { [cwd]: 'p' } })
      put(join(home, '.gemini/tmp/p/chats/session-2026-11-15T11-40-aaaaaaaa.jsonl'), [
        { sessionId: 's1', startTime: at, lastUpdated: at, kind: 'main' },
        ...calls.map(([name, args], n) => {
          const result = [{ functionResponse: { id: `c${n}`, name, response: { output: 'ok' } } }]
          const toolCalls = [{ id: `c${n}`, name, args, status: 'success', timestamp: at, result }]
          return { id: `m${n}`, timestamp: at, type: 'gemini', content: '', toolCalls }
        }),
      ])
    },
  },
  qwen: {
    host: 'gemini',
    event: event('BeforeTool'),
    write: (home, cwd, calls) =>
      put(
        join(home, '.qwen/projects/-p/chats/s1.jsonl'),
        calls.flatMap(([name, args], n) => {
          const about = { sessionId: 's1', timestamp: at, cwd, version: '0.24' }
          const toolCallResult = { callId: `c${n}`, status: 'success', executionStatus: 'success' }
          const response = { functionResponse: { id: `c${n}`, name, response: { output: 'ok' } } }
          return [
            {
              ...about,
              uuid: `a${n}`,
              type: 'assistant',
              message: { parts: [{ functionCall: { id: `c${n}`, name, args } }] },
            },
            { ...about, uuid: `r${n}`, type: 'tool_result', message: { parts: [response] }, toolCallResult },
          ]
        }),
      ),
  },
  opencode: {
    host: 'opencode',
    // what its plugin sends
    event: ([name, input], cwd) => {
      const renamed = Object.fromEntries(
        Object.entries(input).map(([key, value]) => [key === 'filePath' ? 'file_path' : key, value]),
      )
      const ours: Record<string, string> = {
        bash: 'Bash',
        write: 'Write',
        edit: 'Edit',
        read: 'Read',
        apply_patch: 'Write',
      }
      return { ...event('PreToolUse')([ours[name] ?? name, renamed], cwd), native_tool_name: name }
    },
    write(home, cwd, calls) {
      const path = join(home, '.local/share/opencode/opencode.db')
      mkdirSync(dirname(path), { recursive: true })
      const db = new DatabaseSync(path)
      const ms = Date.parse(at)
      db.exec(`CREATE TABLE session (id, parent_id, directory, title, version, agent, time_created, time_updated);
        CREATE TABLE message (id, session_id, time_created, data); CREATE TABLE part (id, message_id, session_id, time_created, data)`)
      db.prepare('INSERT INTO session VALUES (?, NULL, ?, ?, ?, ?, ?, ?)').run('s1', cwd, 't', '1', 'build', ms, ms)
      db.prepare('INSERT INTO message VALUES (?, ?, ?, ?)').run('m1', 's1', ms, '{"role":"assistant"}')
      for (const [n, [tool, input]] of calls.entries()) {
        const state = { status: 'completed', input, output: 'ok', time: { start: ms, end: ms } }
        const data = JSON.stringify({ type: 'tool', tool, callID: `c${n}`, state })
        db.prepare('INSERT INTO part VALUES (?, ?, ?, ?, ?)').run(`p${n + 100}`, 'm1', 's1', ms, data)
      }
      db.close()
    },
  },
  copilot: {
    host: 'copilot',
    event: event('preToolUse'),
    write: (home, cwd, calls) =>
      put(join(home, '.copilot/session-state/s1/events.jsonl'), [
        { type: 'session.start', id: 'e0', timestamp: at, data: { sessionId: 's1', context: { cwd } } },
        ...calls.flatMap(([name, input], n) => {
          const [, mcpServerName, mcpToolName] = /^(demo)-(.+)$/.exec(name) ?? []
          const request = {
            toolCallId: `c${n}`,
            name,
            arguments: input,
            ...(mcpServerName && { mcpServerName, mcpToolName }),
          }
          return [
            { type: 'assistant.message', id: `a${n}`, timestamp: at, data: { content: '', toolRequests: [request] } },
            {
              ...{ type: 'tool.execution_complete', id: `r${n}`, timestamp: at },
              data: { toolCallId: `c${n}`, success: true, result: { content: 'ok' } },
            },
          ]
        }),
      ]),
  },
  cursor: {
    host: 'cursor',
    event: event('preToolUse', { cursor_version: '2.0' }),
    write(home, cwd, calls) {
      const project = join(home, '.cursor/projects/-p')
      put(join(project, '.workspace-trusted'), { trustedAt: at, workspacePath: cwd })
      put(
        join(project, 'agent-transcripts/s1/s1.jsonl'),
        calls.map(([name, input], n) => ({
          ...{ role: 'assistant', timestamp: at },
          message: { content: [{ type: 'tool_use', id: `c${n}`, name, input }] },
        })),
      )
    },
  },
  vscode: {
    host: 'vscode',
    event: event('PreToolUse'),
    write(home, cwd, calls) {
      const folder = join(home, '.config/Code/User/workspaceStorage/p')
      put(join(folder, 'workspace.json'), { folder: `file://${cwd}` })
      const response = calls.map(([name, input], n) => ({
        ...{ kind: 'toolInvocationSerialized', toolCallId: `c${n}`, toolId: name, isConfirmed: { type: 1 } },
        toolSpecificData:
          name === 'run_in_terminal' ? { commandLine: { original: input['command'] } } : { rawInput: input },
      }))
      const request = { requestId: 'r1', timestamp: Date.parse(at), message: { text: 'go' }, response }
      put(join(folder, 'chatSessions/3d2c9a50-6a0e-4d0e-9b2e-1f0c22ab0001.json'), {
        ...{ sessionId: 's1', creationDate: Date.parse(at) },
        requests: [request],
      })
    },
  },
}
