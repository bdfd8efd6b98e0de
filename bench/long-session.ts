/**
 * What a long session costs as it grows, beside a bare loop: CPU per turn early and late, and memory per turn. Needs a build:
 * `npm run build && node bench/long-session.ts [turns]`, 1,500 when left out. Linux only.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { report } from './lib/report.ts'

const root = join(import.meta.dirname, '..')
const turns = Number(process.argv[2] ?? 1500)
const place = mkdtempSync(join(tmpdir(), 'ona-bench-long-'))
const words = {
  floor: [join(root, 'bench/lib/floor-agent.mjs')],
  ona: [join(root, 'bin/ona.mjs'), '-p', 'go', '--permission-mode', 'bypassPermissions'],
}

const frame = (data: { type: string; [key: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const reply = (content_block: object, delta: object, stop_reason: string) =>
  [
    frame({
      type: 'message_start',
      message: {
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    }),
    frame({ type: 'content_block_start', index: 0, content_block }),
    frame({ type: 'content_block_delta', index: 0, delta }),
    frame({ type: 'content_block_stop', index: 0 }),
    frame({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 9 } }),
    frame({ type: 'message_stop' }),
  ].join('')

interface Sample {
  /** Milliseconds of CPU since the start, and kilobytes. */
  readonly cpu: number
  readonly memory: number
  readonly bytes: number
}

function sampleOf(pid: number, bytes: number): Sample {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
  const memory = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  return { cpu: (Number(fields[11]) + Number(fields[12])) * 10, memory, bytes }
}

async function run(name: keyof typeof words): Promise<Sample[]> {
  const samples: Sample[] = []
  let pid = 0
  const server = http.createServer((request, response) => {
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    request.on('end', () => {
      samples.push(sampleOf(pid, bytes))
      const tool = { type: 'tool_use', id: `call_${samples.length}`, name: name === 'ona' ? 'Bash' : 'bash', input: {} }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(
        samples.length <= turns
          ? reply(tool, { type: 'input_json_delta', partial_json: '{"command":"echo here"}' }, 'tool_use')
          : reply({ type: 'text', text: '' }, { type: 'text_delta', text: 'Done.' }, 'end_turn'),
      )
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = {
    PATH: process.env['PATH'],
    HOME: place,
    ANTHROPIC_API_KEY: 'bench',
    ANTHROPIC_BASE_URL: base,
    FLOOR_DB: join(place, 'floor.db'),
    ONA_KEYCHAIN: 'off',
  }
  const child = spawn(process.execPath, words[name], { cwd: place, stdio: 'ignore', env })
  pid = child.pid!
  await once(child, 'close')
  server.close()
  return samples
}

/** CPU of a turn in the first and in the last tenth, and how much it grows with each turn, in microseconds. */
function growth(samples: readonly Sample[]) {
  const tenth = Math.floor(samples.length / 10)
  const cpu = (from: number, to: number) => ((samples[to]!.cpu - samples[from]!.cpu) / (to - from)) * 1000
  const last = samples.length - 1
  const early = cpu(tenth, 2 * tenth)
  const late = cpu(last - tenth, last)
  const memory = (samples[last]!.memory - samples[2 * tenth]!.memory) / (last - 2 * tenth)
  return { early, late, slope: (late - early) / (last - 2 * tenth), memory, bytes: samples[last]!.bytes / last }
}

const [floor, ona] = (await Promise.all([run('floor'), run('ona')])).map(growth) as [
  ReturnType<typeof growth>,
  ReturnType<typeof growth>,
]
rmSync(place, { recursive: true, force: true })
report(
  `One session of ${turns} turns with a Bash call each, beside a bare loop that does the same; CPU time and memory.`,
  [
    {
      what: 'growth of CPU time per turn × the bare loop',
      value: ona.slope / floor.slope,
      atMost: 1,
      detail: `${ona.slope.toFixed(2)} and ${floor.slope.toFixed(2)} µs more each turn`,
    },
    {
      what: 'resident memory per turn × the bare loop',
      value: ona.memory / floor.memory,
      detail: `${ona.memory.toFixed(1)} and ${floor.memory.toFixed(1)} KB; the request grows by ${(ona.bytes / 1024).toFixed(1)} KB`,
    },
  ],
)
