/**
 * Workers, a service and a server that keep dying, and jobs that must all end once. Small by default; ONA_CHAOS=full is
 * 8 workers and 500 jobs. Run by chaos.test.ts.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifyChain } from '../../src/audit/evidence/verify.ts'
import { nodeClient, userClient } from '../../src/fleet/node/client.ts'
import { newKeys, writeIdentity } from '../../src/fleet/node/identity.ts'
import { ship } from '../../src/fleet/node/ship.ts'
import type { PrivatePostgres } from '../../src/fleet/private-postgres.ts'
import { openFleet } from '../../src/fleet/server/database.ts'
import { addEnrolToken } from '../../src/fleet/server/node-access.ts'
import { addToken } from '../../src/fleet/server/user-access.ts'
import { readDb } from '../../src/store/open.ts'
import { query } from '../support/fleet.ts'

const ona = join(import.meta.dirname, '../../bin/ona.mjs')

export interface Chaos {
  readonly workers: number
  readonly jobs: number
  readonly slots: number
  readonly killEveryMs: number
  readonly limitMs: number
}

export interface Survived {
  readonly ended: number
  /** With a commit. */
  readonly done: number
  readonly outcomes: number
  readonly twice: number
  readonly restarts: number
  readonly lost: number
  readonly doubled: number
  readonly faults: number
  readonly brokenChains: number
  readonly kills: number
  readonly seconds: number
}

export async function survive(
  server: PrivatePostgres,
  url: string,
  chaos: Chaos,
  onNote: (text: string) => void = () => {},
): Promise<Survived> {
  const root = mkdtempSync(join(tmpdir(), 'ona-chaos-'))
  const children = new Set<ChildProcess>()
  const start = (words: string[], env: Record<string, string>) => {
    const child = spawn(process.execPath, [ona, ...words], {
      ...{ cwd: root, stdio: 'ignore' },
      env: { PATH: process.env['PATH'], HOME: root, ONA_KEYCHAIN: 'off', ...env },
    })
    children.add(child)
    child.on('exit', () => children.delete(child))
    return child
  }
  const kill = (child: ChildProcess) =>
    new Promise<void>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve()
      child.once('exit', () => resolve())
      child.kill('SIGKILL')
    })
  try {
    const started = Date.now()
    const repos = ['a', 'b', 'c'].map((name) => repository(join(root, name)))
    const port = await freePort()
    const service = () => start(['fleet', 'serve', '--port', String(port)], { ONA_FLEET_DB: url })
    let serving = service()
    const address = `http://127.0.0.1:${port}`
    await until(async () => (await fetch(`${address}/health`)).ok)
    const fleet = openFleet(url, { connections: 2 })
    const token = await fleet.as('admin', undefined, (sql) =>
      addToken(sql, { actor: 'ada', role: 'admin', via: 'static', by: 'test' }),
    )
    const homes: string[] = []
    for (let n = 0; n < chaos.workers; n++) {
      const home = join(root, `worker-${n}`)
      const invited = await fleet.as('admin', undefined, (sql) =>
        addEnrolToken(sql, 'test', { person: 'p', team: 't', groups: [], ring: 'all', worker: true, hours: 1 }),
      )
      const { publicKey, privateKey } = newKeys()
      const reply = await userClient(address, undefined).ask('POST', '/v1/enrol', {
        token: invited,
        name: `w${n}`,
        publicKey,
      })
      writeIdentity(home, {
        url: address,
        node: String(reply.body['node']),
        name: `w${n}`,
        privateKey,
        publishers: [],
        withoutContent: false,
      })
      homes.push(home)
    }
    await fleet.close()
    const policies = join(root, 'policies')
    mkdirSync(policies)
    writeFileSync(join(policies, 'write.json'), JSON.stringify({ permissions: { defaultMode: 'acceptEdits' } }))
    const worker = (home: string) =>
      start(['fleet', 'worker', '--slots', String(chaos.slots), '--policies', policies], {
        ONA_FLEET_HOME: home,
        AGENT_SDLC_DB: join(home, 'agent.db'),
      })
    const user = userClient(address, token)
    for (const [at, repo] of repos.entries()) {
      const count = Math.ceil(chaos.jobs / 3) - (at === 2 ? Math.ceil(chaos.jobs / 3) * 3 - chaos.jobs : 0)
      await user.ask('POST', '/v1/jobs', {
        prompt: 'write "hi" to made.txt',
        repo,
        ref: 'main',
        policy: 'write',
        model: 'rehearsal',
        count,
        attempts: 20,
        key: repo,
      })
    }
    const workers = homes.map(worker)
    let [kills, at] = [0, 0]
    const client = openFleet(url, { connections: 1 })
    const left = async () => {
      const rows = await client
        .query<{ n: number }>("SELECT count(*)::int AS n FROM ona_fleet.jobs WHERE status <> 'ended'")
        .catch(() => [{ n: -1 }])
      return rows[0]!.n
    }
    let [serviceKills, restarted] = [0, false]
    let last = { open: chaos.jobs, at: Date.now() }
    for (let open = await left(); open !== 0; open = await left()) {
      if (Date.now() - started > chaos.limitMs) throw new Error(`${open} jobs are still open after ${chaos.limitMs} ms`)
      const done = open < 0 ? 0 : 1 - open / chaos.jobs
      // a busy machine gets time to finish a job between two kills; one that finishes none, ten times as long
      if (done < 0.9 && (open !== last.open || Date.now() - last.at > 10 * chaos.killEveryMs)) {
        last = { open, at: Date.now() }
        await kill(workers[at]!)
        workers[at] = worker(homes[at]!)
        at = (at + 1) % workers.length
        kills++
      }
      if ((done > 0.25 && serviceKills === 0) || (done > 0.6 && serviceKills === 1)) {
        await kill(serving)
        serving = service()
        serviceKills++
        onNote('the service was killed')
      }
      if (done > 0.4 && !restarted) {
        await server.restart('immediate')
        restarted = true
        onNote('the server was restarted')
      }
      onNote(`${open} jobs open, ${kills} workers killed`)
      await sleep(chaos.killEveryMs)
    }
    await Promise.all(workers.map(kill))
    // what the workers had not sent when they were killed
    const local = await shipAll(homes, address)
    const [sum] = await query<Record<string, number>>(
      url,
      `SELECT (SELECT count(*) FROM ona_fleet.jobs WHERE status = 'ended')::int AS ended, (SELECT count(*) FROM ona_fleet.outcomes WHERE outcome = 'done' AND commit_id IS NOT NULL)::int AS done,
         (SELECT count(*) FROM ona_fleet.outcomes)::int AS outcomes,
         (SELECT count(*) FROM (SELECT job_id FROM ona_fleet.job_events WHERE what IN ('done', 'failed', 'dead') GROUP BY 1 HAVING count(*) > 1) x)::int AS twice,
         (SELECT sum(attempt - 1) FROM ona_fleet.jobs)::int AS restarts, (SELECT count(*) FROM ona_fleet.faults)::int AS faults,
         (SELECT count(*) FROM ona_fleet.rows)::int AS rows,
         (SELECT count(*) FROM (SELECT 1 FROM ona_fleet.rows GROUP BY node_id, database_id, epoch, kind, row_id HAVING count(*) > 1) x)::int AS doubled`,
    )
    await client.close()
    const { ended, done, outcomes, twice, restarts, faults, doubled } = sum as Record<keyof Survived, number>
    return {
      ...{ ended, done, outcomes, twice, restarts, faults, doubled },
      ...{
        lost: local.rows - sum!['rows']!,
        brokenChains: local.broken,
        kills,
        seconds: Math.round((Date.now() - started) / 1000),
      },
    }
  } finally {
    await Promise.all([...children].map(kill))
    await sleep(200) // agents that die with their workers
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function shipAll(homes: readonly string[], url: string): Promise<{ rows: number; broken: number }> {
  let [rows, broken] = [0, 0]
  for (const home of homes) {
    const { readFileSync } = process.getBuiltinModule('node:fs')
    const identity = JSON.parse(readFileSync(join(home, 'node.json'), 'utf8'))
    const db = readDb(join(home, 'agent.db'))
    const { problem } = await ship(db, nodeClient({ ...identity, url }), { withoutContent: false, tries: 10 })
    if (problem !== undefined) throw new Error(problem)
    for (const name of ['transcript_entries', 'events', 'hook_invocations', 'tool_permission_log'])
      rows += db.get<{ n: number }>(`SELECT count(*) AS n FROM ${name}`)!.n
    if (verifyChain(db).fault) broken++
    db.close()
  }
  return { rows, broken }
}

function repository(folder: string): string {
  mkdirSync(folder)
  writeFileSync(join(folder, 'README.md'), 'hello\n')
  const git = (...words: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...words])
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-qm', 'first')
  return folder
}

async function until(look: () => Promise<boolean>): Promise<void> {
  for (let waited = 0; waited < 60_000; waited += 100) {
    if (await look().catch(() => false)) return
    await sleep(100)
  }
  throw new Error('the service did not start')
}

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net')
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
