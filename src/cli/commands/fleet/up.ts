/** `ona fleet up|down`: a whole fleet on this machine, to see what it is like. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeAtomic } from '../../../files/atomic-write.ts'
import { Problem } from '../../../files/problem.ts'
import { userClient } from '../../../fleet/node/client.ts'
import { fleetHome, isEnrolled, newKeys, removeIdentity, writeIdentity } from '../../../fleet/node/identity.ts'
import { addToken } from '../../../fleet/server/user-access.ts'
import { command } from '../../command.ts'
import { noted, said, saidJson, wrong } from '../../print.ts'
import { answered, requireOperator, saveLogin } from './shared.ts'

const help = `ona fleet up starts a private PostgreSQL from the binaries on this machine, in a folder of its own and without a network address,
the service on 127.0.0.1, and enrols this machine: one command to see a fleet. ona fleet down ends it.

  ona fleet up
  ona fleet ship && ona fleet status
  ona fleet down --purge           also remove its data

  --dir DIR    where the database lies (default: ~/.ona/fleet/up; for root /var/lib/ona-fleet)
  --port N     of the service (8470)
  --json       as JSON
Not for production: use a PostgreSQL that is backed up, with ona fleet init and ona fleet serve.
`

interface Up {
  readonly folder: string
  readonly db: string
  readonly url: string
  readonly service: number
}

const stateFile = () => join(fleetHome(), 'up.json')

function readUp(): Up | undefined {
  return existsSync(stateFile()) ? (JSON.parse(readFileSync(stateFile(), 'utf8')) as Up) : undefined
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

export const up = command(
  'ona fleet up',
  { help, flags: { dir: 'value', port: 'value', json: 'flag' } },
  async (given) => {
    const port = Number(given.port ?? 8470)
    if (!Number.isInteger(port) || port < 1 || port > 65_535) return wrong('ona fleet up', '--port must be a port')
    requireOperator('starting a fleet')
    const known = readUp()
    if (known && isAlive(known.service))
      throw new Problem(`a fleet is up already at ${known.url}; ona fleet down ends it`)
    const home = fleetHome()
    mkdirSync(home, { recursive: true, mode: 0o700 })
    const folder = resolve(given.dir ?? (process.getuid?.() === 0 ? '/var/lib/ona-fleet' : join(home, 'up')))
    const { startPostgres } = await import('../../../fleet/private-postgres.ts')
    const { initFleet, openFleet } = await import('../../../fleet/server/database.ts')
    noted(`PostgreSQL in ${folder}`)
    const postgres = await startPostgres(folder, { detached: true })
    const db = postgres.url()
    await initFleet(db)
    const fleet = openFleet(db, { connections: 1 })
    const actor = userInfo().username
    const token = await fleet
      .as('admin', undefined, (sql) => addToken(sql, { actor, role: 'admin', via: 'static', by: 'ona fleet up' }))
      .finally(() => fleet.close())
    const log = join(home, 'service.log')
    const out = openSync(log, 'a', 0o600)
    const child = spawn(process.execPath, [process.argv[1]!, 'fleet', 'serve', '--port', String(port)], {
      ...{ detached: true, stdio: ['ignore', out, out], env: { ...process.env, ONA_FLEET_DB: db } },
    })
    child.unref()
    const url = `http://127.0.0.1:${port}`
    writeAtomic(stateFile(), `${JSON.stringify({ folder, db, url, service: child.pid })}\n`, { mode: 0o600 })
    await healthy(url, child.pid!, log)
    saveLogin({ url, token })
    if (isEnrolled(home))
      noted('this machine is enrolled already; ona fleet enrol --again makes it a node of this fleet')
    else {
      const user = userClient(url, token)
      const invited = await answered(user.ask('POST', '/v1/enrol-tokens', { person: actor, worker: true, hours: 1 }))
      const { publicKey, privateKey } = newKeys()
      const name = hostname()
      const reply = await answered(user.ask('POST', '/v1/enrol', { token: invited['token'], name, publicKey }))
      const publishers = reply['publishers'] as string[]
      writeIdentity(home, { url, node: String(reply['node']), name, privateKey, publishers, withoutContent: false })
    }
    if (given.json) return saidJson({ url, db, folder })
    return said(`the fleet is up: ${url}
this machine is enrolled, and you are signed in as an admin
  ona fleet ship                       send this machine's rows
  ona fleet status                     see the fleet
  ona inspect --from '${db}'
  ona fleet down                       end it`)
  },
)

async function healthy(url: string, pid: number, log: string): Promise<void> {
  for (let waited = 0; waited < 60_000; waited += 100) {
    const ok = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2000) }).then(
      (answer) => answer.ok,
      () => false,
    )
    if (ok) return
    if (!isAlive(pid))
      throw new Problem(`the service did not start: ${readFileSync(log, 'utf8').trim().split('\n').at(-1)}`)
    await sleep(100)
  }
  throw new Problem(`the service did not answer within a minute; see ${log}`)
}

export const down = command(
  'ona fleet down',
  { help, flags: { purge: 'flag', json: 'flag' } },
  async ({ purge, json }) => {
    requireOperator('ending a fleet')
    const known = readUp()
    if (!known) throw new Problem('no fleet is up here')
    if (isService(known.service)) process.kill(known.service, 'SIGTERM')
    const pidFile = join(known.folder, 'data', 'postmaster.pid')
    const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8').split('\n')[0]) : 0
    if (pid > 0 && isAlive(pid)) process.kill(pid, 'SIGINT')
    for (let waited = 0; waited < 30_000 && (existsSync(pidFile) || isService(known.service)); waited += 100)
      await sleep(100)
    if (existsSync(pidFile)) throw new Problem(`PostgreSQL in ${known.folder} did not end within 30 seconds`)
    rmSync(stateFile(), { force: true })
    if (purge) {
      rmSync(known.folder, { recursive: true, force: true })
      rmSync(join(fleetHome(), 'user.json'), { force: true })
      removeIdentity(fleetHome())
    }
    return json
      ? saidJson({ folder: known.folder, purged: purge === true })
      : said(purge ? `ended; ${known.folder} is removed` : `ended; the data stay in ${known.folder}`)
  },
)

/** A process id can have been given to another program meanwhile. */
function isService(pid: number): boolean {
  if (!isAlive(pid)) return false
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('fleet\0serve')
  } catch {
    return process.platform !== 'linux'
  }
}
