/** Built-in tools under rules and hooks, and the record of what happened: `node examples/sdk/guarded-writer.ts`. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Chat, defineAgent, defineStepHook, openRuntime, run, type Said } from 'ona'

const folder = mkdtempSync(join(tmpdir(), 'ona-writer-'))

/** Steps govern: this one changes what is written, whoever writes it. */
const signed = defineStepHook(
  'before_tool_apply',
  function signed({ step }) {
    const args = step.args as { content: string }
    step.args = { ...args, content: `${args.content}\n-- written by an agent\n` }
  },
  { match: { tool: 'Write' } },
)

const writer = defineAgent({
  name: 'writer',
  model: process.env['ONA_MODEL'] ?? 'rehearsal',
  instructions: 'Write down what you are told.',
  tools: ['Read', 'Write', 'Bash'],
  permissions: { mode: 'acceptEdits' },
  handlers: [signed],
  // Named hooks watch: they see what came of it.
  hooks: {
    onToolEnd: ({ tool, error }) => console.log(`${tool}: ${error ? 'failed' : 'done'}`),
  },
})

// Many runs share a runtime: one database, one set of settings and hooks, one connection to each MCP server.
await using runtime = openRuntime({
  cwd: folder,
  db: join(folder, 'agents.db'),
  bare: true,
  settings: {
    permissions: { allow: ['Bash(ls *)'] },
    hooks: {
      PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: "echo 'no shell today' >&2; exit 2" }] }],
    },
  },
  rehearsal: playLines,
})
const { text, sessionId } = await run(writer, { runtime, input: 'Note that the build is green.' })
console.log(text)
console.log(readFileSync(join(folder, 'note.txt'), 'utf8'))
for (const row of runtime.query(
  'SELECT hook_event, tool_name, exit_code FROM hook_invocations WHERE session_id = ? ORDER BY id',
  sessionId,
))
  console.log(Object.values(row).join(' '))
process.on('exit', () => rmSync(folder, { recursive: true }))

function playLines({ messages }: Chat): Said {
  const replies = messages.filter(({ role }) => role === 'assistant').length
  const lines: Said[] = [
    { calls: [{ name: 'Bash', input: { command: 'ls -la' } }] },
    { calls: [{ name: 'Write', input: { file_path: 'note.txt', content: 'The build is green.' } }] },
    { text: `The shell said: ${messages.find(({ role }) => role === 'tool')?.text}` },
  ]
  return lines[replies]!
}
