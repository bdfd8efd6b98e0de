/** `ona fleet up|down`: a whole fleet on this machine, to see what it is like. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeAtomic } from '../../../files/atomic-write.ts'
import { Problem } from '../../../files/problem.ts'
import { nodeClient, userClient } from '../../../fleet/node/client.ts'
import {
  fleetHome,
  isEnrolled,
  newKeys,
  readIdentity,
  removeIdentity,
  writeIdentity,
} from '../../../fleet/node/identity.ts'
import { addToken } from '../../../fleet/server/user-access.ts'
import { noted, said, saidJson, wrong } from '../../print.ts'
import { answered, fleetCommand, requireOperator, saveLogin } from './shared.ts'

const help = `ona fleet up starts a private PostgreSQL from the binaries on this machine, in a folder of its own and without a network address,
the service on 127.0.0.1, and enrols this machine: one command to see a fleet. ona fleet down ends it.

  ona fleet up
  ona fleet ship && ona fleet status
  ona fleet down --purge           also remove its data

  --dir DIR    where the database lies (default: ~/.ona/fleet/up; for root /var/lib/ona-fleet; the second time, as before)
  --port N     of the service (8470; the second time, as before)
  --json       as JSON
Not for production: use a PostgreSQL that is backed up, with ona fleet init and ona fleet serve.
`

interface Up {
  readonly folder: string
  readonly db: string
  readonly url: string
  /** The process of the service; 0: it was ended, and the data are still there. */
  readonly service: number
}

const stateFile = () => join(fleetHome(), 'up.json')
const logFile = () => join(fleetHome(), 'service.log')

function readUp(): Up | undefined {
  return existsSync(stateFile()) ? (JSON.parse(readFileSync(stateFile(), 'utf8')) as Up) : undefined
}

const saveUp = (state: Up): void => writeAtomic(stateFile(), `${JSON.stringify(state)}\n`, { mode: 0o600 })

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

export const up = fleetCommand(
  'ona fleet up',
  { help, flags: { dir: 'value', port: 'value', json: 'flag' } },
  async (given) => {
    const known = readUp()
    const port = Number(given.port ?? (known ? new URL(known.url).port : 8470))
    if (!Number.isInteger(port) || port < 1 || port > 65_535) return wrong('ona fleet up', '--port must be a port')
    requireOperator('starting a fleet')
    if (known && isService(known.service))
      throw new Problem(`a fleet is up already at ${known.url}; ona fleet down ends it`)
    const home = fleetHome()
    mkdirSync(home, { recursive: true, mode: 0o700 })
    const usual = process.getuid?.() === 0 ? '/var/lib/ona-fleet' : join(home, 'up')
    const folder = resolve(given.dir ?? known?.folder ?? usual)
    const { isRunning, socketUrl, startPostgres } = await import('../../../fleet/private-postgres.ts')
    noted(`PostgreSQL in ${folder}`)
    // one that a service left behind when it was killed is used again
    const postgres = isRunning(folder) ? undefined : await startPostgres(folder, { detached: true })
    try {
      const db = socketUrl(folder, 'postgres')
      const token = await firstToken(db)
      const url = await startService(port, db, folder)
      saveLogin({ url, token })
      await joinFleet(home, url, token)
      if (given.json) return saidJson({ url, db, folder })
      return said(`the fleet is up: ${url}
this machine is enrolled, and you are signed in as an admin
  ona fleet ship                       send this machine's rows
  ona fleet status                     see the fleet
  ona inspect --from '${db}'
  ona fleet down                       end it`)
    } catch (cause) {
      await postgres?.stop()
      throw cause
    }
  },
)

async function firstToken(db: string): Promise<string> {
  const { initFleet } = await import('../../../fleet/server/init.ts')
  const { openFleet } = await import('../../../fleet/server/database.ts')
  await initFleet(db)
  const fleet = openFleet(db, { connections: 1 })
  const actor = userInfo().username
  return fleet
    .as('admin', undefined, (sql) => addToken(sql, { actor, role: 'admin', via: 'static', by: 'ona fleet up' }))
    .finally(() => fleet.close())
}

async function startService(port: number, db: string, folder: string): Promise<string> {
  const log = openSync(logFile(), 'w', 0o600)
  const child = spawn(process.execPath, [process.argv[1]!, 'fleet', 'serve', '--port', String(port)], {
    ...{ detached: true, stdio: ['ignore', log, log], env: { ...process.env, ONA_FLEET_DB: db } },
  })
  child.unref()
  const url = `http://127.0.0.1:${port}`
  saveUp({ folder, db, url, service: child.pid! })
  for (let waited = 0; waited < 60_000; waited += 100) {
    if (child.exitCode !== null || child.signalCode !== null) {
      saveUp({ folder, db, url, service: 0 })
      throw new Problem(`the service did not start: ${readFileSync(logFile(), 'utf8').trim().split('\n').at(-1)}`)
    }
    const isHealthy = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2000) }).then(
      ({ ok }) => ok,
      () => false,
    )
    // whatever else listens on the port must not be taken for it
    if (isHealthy && readFileSync(logFile(), 'utf8').includes(url)) return url
    await sleep(100)
  }
  throw new Problem(`the service did not answer within a minute; see ${logFile()}`)
}

/** Enrols this machine, unless it is a node of this fleet already. */
async function joinFleet(home: string, url: string, token: string): Promise<void> {
  if (isEnrolled(home)) {
    const identity = readIdentity(home)
    const { status } = await nodeClient({ ...identity, url }).ask('GET', '/v1/publishers')
    if (status === 200 && identity.url !== url) writeIdentity(home, { ...identity, url })
    if (status !== 200)
      noted(
        `this machine is a node of ${identity.url}, another fleet; ona fleet enrol ${url} --again makes it one of this`,
      )
    return
  }
  const user = userClient(url, token)
  const person = userInfo().username
  const invited = await answered(user.ask('POST', '/v1/enrol-tokens', { person, worker: true, hours: 1 }))
  const { publicKey, privateKey } = newKeys()
  const name = hostname()
  const reply = await answered(user.ask('POST', '/v1/enrol', { token: invited['token'], name, publicKey }))
  const publishers = reply['publishers'] as string[]
  writeIdentity(home, { url, node: String(reply['node']), name, privateKey, publishers, withoutContent: false })
}

export const down = fleetCommand(
  'ona fleet down',
  { help, flags: { purge: 'flag', json: 'flag' } },
  async ({ purge, json }) => {
    requireOperator('ending a fleet')
    const known = readUp()
    if (!known) throw new Problem('no fleet is up here; ona fleet up starts one')
    const { folder, service, url } = known
    const pidFile = join(folder, 'data', 'postmaster.pid')
    if (service === 0 && !existsSync(pidFile) && !purge)
      throw new Problem(`no fleet is up here; its data are in ${folder}: ona fleet down --purge removes them`)
    if (isService(service)) process.kill(service, 'SIGTERM')
    const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8').split('\n')[0]) : 0
    if (pid > 0 && isAlive(pid)) process.kill(pid, 'SIGINT')
    // a postmaster that was killed leaves its file behind
    const isUp = () => (existsSync(pidFile) && isAlive(pid)) || isService(service)
    for (let waited = 0; waited < 30_000 && isUp(); waited += 100) await sleep(100)
    if (isUp()) throw new Problem(`the fleet in ${folder} did not end within 30 seconds`)
    saveUp({ ...known, service: 0 })
    if (purge) {
      rmSync(folder, { recursive: true, force: true })
      for (const file of [stateFile(), logFile(), join(fleetHome(), 'user.json')]) rmSync(file, { force: true })
      if (isEnrolled(fleetHome()) && readIdentity(fleetHome()).url === url) removeIdentity(fleetHome())
    }
    return json
      ? saidJson({ folder, purged: purge === true })
      : said(purge ? `ended; ${folder} is removed` : `ended; the data stay in ${folder} (--purge removes them)`)
  },
)

/** A process id can have been given to another program meanwhile, or be that of a process that has ended. */
function isService(pid: number): boolean {
  if (pid === 0 || !isAlive(pid)) return false
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('fleet\0serve')
  } catch {
    return process.platform !== 'linux'
  }
}
