/**
 * What it costs to import another agent's history: megabytes a second of CPU and the peak memory, on a generated Claude Code
 * history. `node bench/import.ts [MB]`. CPU time, so that a busy machine does not count.
 */
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { noCounts } from '../src/audit/import/counts.ts'
import { importFile } from '../src/audit/import/import-history.ts'
import { claudecodeHistory as claude } from '../src/hosts/claudecode/history.ts'
import { openDb } from '../src/store/open.ts'
import { report } from './lib/report.ts'

const megabytes = Number(process.argv[2] ?? 100)
const folder = mkdtempSync(join(tmpdir(), 'ona-bench-import-'))
const root = join(folder, 'projects/-work')
mkdirSync(root, { recursive: true })
write(join(root, 'session.jsonl'), megabytes)
const [file] = claude.files(join(folder, 'projects'))

const path = join(folder, 'agent.db')
const db = openDb(path)
const start = process.cpuUsage()
const counts = noCounts()
await importFile({ db }, claude, file!, counts)
const { user, system } = process.cpuUsage(start)
db.close()
const rate = megabytes / ((user + system) / 1e6)
const size = statSync(path).size / 1e6
const peak = process.resourceUsage().maxRSS / 1000
rmSync(folder, { recursive: true, force: true })
report(
  `${megabytes} MB of generated Claude Code history, ${counts.calls} calls, imported into a new record of ${size.toFixed(0)} MB; CPU time of one core.`,
  [
    { what: 'import', value: rate, unit: 'MB/s', atLeast: 50 },
    { what: 'peak memory', value: peak, unit: 'MB', atMost: 250 },
  ],
)

/** Exchanges as Claude Code writes them: the bulky snapshots, calls with results in two forms, now and then a large one. */
function write(path: string, wanted: number): void {
  const fd = openSync(path, 'w')
  const base = { sessionId: 's', cwd: '/work', version: '2.1.325', gitBranch: 'main', userType: 'external' }
  const shape = JSON.stringify({ type: 'api-request-shape', ...base, shape: { system: 'You are. '.repeat(9000) } })
  let bytes = 0
  for (let n = 0; bytes < wanted * 1e6; n++) {
    const timestamp = new Date(1_790_000_000_000 + n * 1000).toISOString()
    const usage = {
      input_tokens: 1000,
      output_tokens: 20,
      cache_read_input_tokens: 300,
      cache_creation_input_tokens: 0,
    }
    const use = { type: 'tool_use', id: `t${n}`, name: 'Bash', input: { command: `npm test -- part-${n}` } }
    const output = `line ${n} of the output of a test run\n`.repeat(n % 40 === 0 ? 3000 : 40)
    const result = { type: 'tool_result', tool_use_id: `t${n}`, content: output }
    const decision = { decision: 'accept', source: 'config', reasonType: 'rule', ruleSource: 'userSettings' }
    const lines = [
      ...(n % 100 === 0 ? [shape] : []),
      JSON.stringify({
        ...base,
        type: 'assistant',
        uuid: `a${n}`,
        timestamp,
        message: { id: `m${n}`, model: 'claude', content: [use], usage },
      }),
      JSON.stringify({
        ...{ ...base, type: 'user', uuid: `u${n}`, timestamp, message: { role: 'user', content: [result] } },
        ...{ toolUseResult: { stdout: output, stderr: '', interrupted: false }, permissionDecision: decision },
      }),
    ]
    const text = `${lines.join('\n')}\n`
    bytes += text.length
    writeSync(fd, text)
  }
  closeSync(fd)
}
