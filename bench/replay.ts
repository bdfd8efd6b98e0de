/**
 * What it costs to ask a policy about the calls on record: read from the database, judged and compared, with rules alone
 * and with a hook in TypeScript. `node bench/replay.ts`. CPU time, so that a busy machine does not count.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recordedCalls } from '../src/audit/replay/recorded-calls.ts'
import { type Policy, replay } from '../src/audit/replay/replay.ts'
import { defineHook } from '../src/hooks/define.ts'
import { commitToolCall } from '../src/store/audit.ts'
import { createConversation, createSession } from '../src/store/conversations.ts'
import { openDb, readDb } from '../src/store/open.ts'
import { appendEntry } from '../src/store/transcript.ts'
import { median, report } from './lib/processes.ts'

const here = process.cwd()
const kinds: ((n: number) => { name: string; input: Record<string, string> })[] = [
  (n) => ({ name: 'Read', input: { file_path: `${here}/src/part${n % 997}/file${n}.ts` } }),
  (n) => ({ name: 'Edit', input: { file_path: `${here}/src/file${n}.ts`, old_string: 'a', new_string: 'b' } }),
  (n) => ({ name: 'Write', input: { file_path: `${here}/out/file${n}.txt`, content: 'line\n'.repeat(20) } }),
  (n) => ({ name: 'Grep', input: { pattern: `needle${n}`, path: `${here}/src` } }),
  (n) => ({ name: 'WebFetch', input: { url: `https://example.com/${n}`, prompt: 'what does it say?' } }),
  (n) => ({ name: 'mcp__tickets__search', input: { query: `ticket ${n}` } }),
]

const folder = mkdtempSync(join(tmpdir(), 'ona-bench-replay-'))
const path = join(folder, 'agent.db')
const most = 30_000
fill(most)

const policy: Policy = {
  permissions: {
    allow: ['Read', 'Grep', 'WebFetch(domain:example.com)', 'Edit(/src/**)'],
    deny: ['Read(.env)', 'Edit(/secrets/**)', 'mcp__payments'],
    ask: ['Write'],
  },
  mode: 'default',
  handlers: [],
  home: '/home/x',
  dbPath: path,
  env: {},
  runCommands: false,
  tool: (_, input) => ({ input, safety: 'mutating', brought: false }),
}
const hook = defineHook('PreToolUse', ({ tool_input }) => {
  const { query } = tool_input as { query?: string }
  return query === 'ticket 5' ? { decision: 'block', reason: 'not this one' } : undefined
})

const rules = await rate(policy)
const hooks = await rate({ ...policy, handlers: [hook] })
rmSync(folder, { recursive: true, force: true })
console.log(`rules     ${Math.round(rules)} calls a second`)
console.log(`and hook  ${Math.round(hooks)} calls a second`)
process.exitCode = report([
  { what: '50,000 × the calls replayed a second, rules alone', ratio: 50_000 / rules, bar: 1 },
])

/** Calls a second of CPU, the better half of some rounds. */
async function rate(asked: Policy): Promise<number> {
  const samples: number[] = []
  for (let round = 0; round < 5; round++) {
    const db = readDb(path)
    const start = process.cpuUsage()
    const { calls } = await replay(recordedCalls(db), asked, () => {})
    const { user, system } = process.cpuUsage(start)
    db.close()
    if (calls !== most) throw new Error(`${calls} calls were replayed, not ${most}`)
    samples.push(calls / ((user + system) / 1e6))
  }
  return median(samples)
}

function fill(calls: number): void {
  const db = openDb(path)
  const { id: conversationId } = createConversation(db, { projectDir: here })
  const { sessionId } = createSession(db, conversationId)
  db.transaction(() => {
    for (let n = 0; n < calls; n++) {
      const id = `call_${n}`
      const use = { type: 'tool_use' as const, id, ...kinds[n % kinds.length]!(n) }
      appendEntry(db, sessionId, { _t: 'assistant', uuid: id, content: [use] })
      const events = [{ type: 'tool_start', detail: { tool_use_id: id, tool_name: use.name } }]
      const result = { tool_use_id: id, content: 'ok\n'.repeat(200), is_error: false }
      commitToolCall(db, { sessionId, conversationId, invocations: [], events, result })
    }
  })
  db.close()
}
