/**
 * Simulated nodes ship a record each, at the same time, to one service and one PostgreSQL on this machine; then a policy goes
 * to all of them while one in ten cannot reach the service at first.
 *
 *   node bench/fleet/fleet.ts [--nodes 200] [--rows 1000000] [--at-once 24] [--poll 10]
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { userClient } from '../../src/fleet/node/client.ts'
import { newKeys } from '../../src/fleet/node/identity.ts'
import { chainOf, nextBatch, type Position } from '../../src/fleet/node/outbox.ts'
import { signBundle } from '../../src/fleet/policy-bundle.ts'
import { startPostgres } from '../../src/fleet/private-postgres.ts'
import { openFleet } from '../../src/fleet/server/database.ts'
import { initFleet } from '../../src/fleet/server/init.ts'
import { addEnrolToken, enrol } from '../../src/fleet/server/node-access.ts'
import { addToken } from '../../src/fleet/server/user-access.ts'
import { signRequest } from '../../src/fleet/wire.ts'
import { openDb } from '../../src/store/open.ts'
import { converse } from '../../test/support/fleet.ts'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string' },
    rows: { type: 'string' },
    'at-once': { type: 'string' },
    poll: { type: 'string' },
  },
})
const nodes = Number(values.nodes ?? 200)
const rows = Number(values.rows ?? 1_000_000)
const atOnce = Number(values['at-once'] ?? 24)
const pollSeconds = Number(values.poll ?? 10)
const port = 28_470 + (process.pid % 1000)
const url = `http://127.0.0.1:${port}`
const ona = join(import.meta.dirname, '../../bin/ona.mjs')
const folder = mkdtempSync(join(tmpdir(), 'ona-bench-'))
const here = mkdtempSync(join(tmpdir(), 'ona-bench-node-'))

const postgres = await startPostgres(folder, { settings: ['max_wal_size=4GB', 'shared_buffers=256MB'] })
await initFleet(postgres.url())
const service = spawn(process.execPath, [ona, 'fleet', 'serve', '--port', String(port), '--connections', '12'], {
  env: { ...process.env, ONA_FLEET_DB: postgres.url() },
  stdio: ['ignore', 'ignore', 'inherit'],
})
try {
  while (
    !(await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await sleep(100)
  const fleet = openFleet(postgres.url(), { connections: 4 })
  const made = []
  for (let n = 0; n < nodes; n++) {
    const token = await fleet.as('admin', undefined, (sql) =>
      addEnrolToken(sql, 'bench', {
        person: `p${n}`,
        team: `t${n % 10}`,
        groups: [],
        ring: 'all',
        worker: false,
        hours: 1,
      }),
    )
    const { publicKey, privateKey } = newKeys()
    made.push({ privateKey, ...(await enrol(fleet, { token, name: `n${n}`, publicKey }, '')) })
  }
  await shipping(made)
  const counted = await fleet.as(
    'reader',
    undefined,
    async (sql) => (await sql.query<{ n: number }>('SELECT count(*)::int AS n FROM ona_fleet.rows')).rows[0]!.n,
  )
  console.log(`rows at the centre: ${counted}`)
  await policy(
    made,
    await fleet.as('admin', undefined, (sql) =>
      addToken(sql, { actor: 'bench', role: 'admin', via: 'static', by: 'bench' }),
    ),
  )
  await fleet.close()
} finally {
  service.kill('SIGKILL')
  await postgres.stop('immediate')
  for (const each of [folder, here]) rmSync(each, { recursive: true, force: true })
}

interface Made {
  readonly node: string
  readonly privateKey: string
}

async function ask(
  { node, privateKey }: Made,
  method: string,
  path: string,
  body: Buffer,
  headers: Record<string, string> = {},
) {
  const [time, nonce] = [String(Date.now()), randomBytes(18).toString('base64url')]
  const signature = signRequest(privateKey, { method, path, time, nonce, body })
  return fetch(`${url}${path}`, {
    method,
    headers: { 'ona-node': node, 'ona-time': time, 'ona-nonce': nonce, 'ona-signature': signature, ...headers },
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  })
}

/** Every node sends the same record, so that making it is not measured. */
async function shipping(all: readonly Made[]): Promise<void> {
  const db = openDb(join(here, 'agent.db'))
  const calls = Math.ceil(rows / nodes / 6)
  for (let n = 0; n * 50 < calls; n++) converse(db, `c${n}`, Math.min(50, calls - n * 50))
  const bodies: Buffer[] = []
  const chain = chainOf(db)!
  let [from, perNode]: [Position, number] = [{ link: 0, row: 0 }, 0]
  for (
    let next = nextBatch(db, chain, 1, from, { withoutContent: false, rows: 500 });
    next;
    next = nextBatch(db, chain, 1, from, { withoutContent: false, rows: 500 })
  ) {
    bodies.push(gzipSync(JSON.stringify(next.batch)))
    perNode += next.batch.rows.length
    from = next.next
  }
  db.close()
  console.log(`${nodes} nodes, ${perNode} rows each in ${bodies.length} batches of 500, ${atOnce} at once`)
  const times: number[] = []
  const memory: string[] = []
  let [sent, putOff] = [0, 0]
  const queue = [...all]
  const cpuBefore = { service: cpuOf([service.pid!]), postgres: cpuOf(serverPids()) }
  const started = performance.now()
  const total = nodes * perNode
  const one = async () => {
    for (let node = queue.pop(); node; node = queue.pop())
      for (const body of bodies) {
        for (;;) {
          const begun = performance.now()
          const reply = await ask(node, 'POST', '/v1/rows', body, { 'content-encoding': 'gzip' })
          await reply.text()
          if (reply.status === 429) {
            putOff++
            await sleep(100 + Math.random() * 200)
            continue
          }
          if (reply.status !== 200) throw new Error(`the service answered ${reply.status}`)
          times.push(performance.now() - begun)
          break
        }
        const before = sent
        sent += perNode / bodies.length
        for (const part of [0.1, 0.25, 0.5, 0.75, 1])
          if (before < part * total - 1 && sent >= part * total - 1) memory.push(`${part * 100} %: ${rss()} MB`)
      }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  const seconds = (performance.now() - started) / 1000
  times.sort((a, b) => a - b)
  const at = (part: number) => Math.round(times[Math.floor(times.length * part)]!)
  console.log(`${total} rows in ${seconds.toFixed(1)} s: ${Math.round(total / seconds)} rows a second`)
  const cpu = { service: cpuOf([service.pid!]) - cpuBefore.service, postgres: cpuOf(serverPids()) - cpuBefore.postgres }
  const each = (spent: number) => `${spent.toFixed(1)} s (${Math.round(total / spent)} rows a second of one core)`
  console.log(`CPU time: service ${each(cpu.service)}, PostgreSQL ${each(cpu.postgres)}`)
  console.log(`a batch: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms; ${putOff} put off with 429`)
  console.log(`memory of the service: ${memory.join(', ')}`)
}

/** CPU seconds of processes, with those of their children that have ended. */
function cpuOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
    return sum + [11, 12, 13, 14].reduce((ticks, at) => ticks + Number(fields[at]), 0) / 100
  }, 0)
}

/** The server and its processes that run now. */
function serverPids(): number[] {
  const first = Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0])
  const children = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8').trim().split(' ').filter(Boolean)
  return [first, ...children.map(Number)]
}

function rss(): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1024)
}

async function policy(all: readonly Made[], token: string): Promise<void> {
  const admin = userClient(url, token)
  const { publicKey, privateKey } = newKeys()
  await admin.ask('POST', '/v1/publishers', { publicKey, name: 'bench' })
  const files = { 'policy.yaml': `permissions:\n  deny: ["Bash(rm -rf *)"]\n# ${'x'.repeat(20_000)}\n` }
  const facts = {
    format: 1,
    version: 1,
    ring: 'all',
    group: null,
    issuedAt: '',
    maxAgeHours: null,
    strict: false,
    rollbackOf: null,
    publishers: null,
  } as const
  const arrived: number[] = []
  let failures = 0
  let published = 0
  const nodeLoop = async (node: Made, at: number) => {
    await sleep(Math.random() * pollSeconds * 1000)
    for (let tries = 0; ; tries++) {
      const isDown =
        at % 10 === 0 && published > 0 && tries < 1_000 && performance.now() - published < (pollSeconds * 1000) / 2
      if (isDown) failures++
      else {
        const reply = await ask(node, 'GET', '/v1/policy', Buffer.alloc(0))
        await reply.text()
        if (reply.status === 200) {
          arrived.push(performance.now() - published)
          return
        }
      }
      await sleep(isDown ? 500 : pollSeconds * 1000)
    }
  }
  const loops = all.map(nodeLoop)
  await sleep(1000)
  published = performance.now()
  await admin.ask('POST', '/v1/policies', signBundle({ ...facts, files }, privateKey))
  await Promise.all(loops)
  arrived.sort((a, b) => a - b)
  const last = arrived.at(-1)! / 1000
  console.log(
    `policy: ${arrived.length} of ${all.length} nodes have it ${last.toFixed(1)} s after it was published (polling every ${pollSeconds} s; ${failures} requests failed at first)`,
  )
}
