/**
 * What the dispatcher costs per event, against an empty .mjs file on the same Node, in pairs, in turns. On the Node that
 * runs this and on the system's (`NODES=/path/a:/path/b` names others). Needs a build.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { minimalSet, shipped } from '../src/dispatcher/manifest.ts'
import { install, runtimeRoot, warmUp } from '../src/dispatcher/setup/install.ts'
import { median } from './lib/processes.ts'
import { type Line, report } from './lib/report.ts'

const rounds = Number(process.argv[2] ?? 41)
const nodes = (process.env['NODES'] ?? `/usr/bin/node:${process.execPath}`)
  .split(':')
  .filter((node) => existsSync(node))
const place = mkdtempSync(join(tmpdir(), 'dispatcher-bench-'))
const empty = join(place, 'empty.mjs')
writeFileSync(empty, '')

const session = '1f0c22ab'
const call = (toolInput: object) =>
  JSON.stringify({
    timestamp: '2026-11-15T05:00:00Z',
    hook_event_name: 'PreToolUse',
    session_id: `${session}-1111-4222-8333-444444444444`,
    cwd: place,
    tool_name: 'read_file',
    tool_input: toolInput,
    tool_use_id: 'call-1',
  })
const small = call({ filePath: join(place, 'src/a.ts'), startLine: 1, endLine: 20 })

function repo(name: string, modules: readonly string[], node: string): string {
  const root = join(place, name)
  const made = install(root, { hosts: [], modules, runtime: runtimeRoot(), trusted: true })
  if (!made.ok) throw new Error(made.problem)
  warmUp(root, node)
  return join(root, '.ai/hooks/dispatch.mjs')
}

// The variable makes Node 20 read certificates at every start, which would flatter us.
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
function time(node: string, file: string, input: string): number {
  const begin = performance.now()
  const run = spawnSync(node, [file, 'PreToolUse'], { input, env, maxBuffer: 64 * 1024 * 1024 })
  const took = performance.now() - begin
  if (run.status !== 0) throw new Error(`${node} ${file} ended with ${run.status ?? run.signal}`)
  return took
}

/** The median, over the rounds, of a run's time over the mean of an empty run before it and one after it. */
function ratio(node: string, file: string, input: string, against = empty, againstInput = input): number {
  const ratios: number[] = []
  for (let round = -2; round < rounds; round++) {
    const before = time(node, against, againstInput)
    const took = time(node, file, input)
    const after = time(node, against, againstInput)
    if (round >= 0) ratios.push(took / ((before + after) / 2))
  }
  return median(ratios)
}

const lines: Line[] = []
for (const node of nodes) {
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()
  const minimal = repo(`minimal-${version}`, minimalSet, node)
  const all = repo(`all-${version}`, Object.keys(shipped), node)
  lines.push({ what: `${version}: minimal set × empty .mjs`, value: ratio(node, minimal, small), atMost: 1.15 })
  lines.push({ what: `${version}: all eight modules × empty .mjs`, value: ratio(node, all, small), atMost: 1.25 })

  const long = repo(`long-${version}`, minimalSet, node)
  time(node, long, small)
  const log = join(place, `long-${version}`, '.ai/tmp', session, 'events.jsonl')
  const filler = JSON.stringify({
    ts: 1,
    event: 'PreToolUse',
    producer: 'x',
    kind: 'FILLER',
    data: { text: 'y'.repeat(900) },
  })
  writeFileSync(log, `${filler}\n`.repeat(50_000), { flag: 'a' })
  time(node, long, small)
  lines.push({
    what: `${version}: session with a 50 MB log × a new one`,
    value: ratio(node, long, small, minimal),
    atMost: 1.05,
  })

  const big = call({ filePath: 'a', content: 'x'.repeat(10 * 1024 * 1024) })
  lines.push({ what: `${version}: 10 MB of stdin × empty .mjs`, value: ratio(node, minimal, big, empty, small) })
}
rmSync(place, { recursive: true })
report(
  'Wall time of one PreToolUse event through the installed dispatcher, in pairs with an empty .mjs file on the same Node; medians.',
  lines,
)
