/**
 * A PostgreSQL of one's own: the machine's binaries, a folder, a socket in it that only its owner reaches, and no network
 * address. For trying a fleet out, and for tests; not for production.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, globSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../files/problem.ts'

export interface PrivatePostgres {
  readonly folder: string
  url(database?: string): string
  /** `immediate`: as if it crashed. */
  stop(how?: 'fast' | 'immediate'): Promise<void>
  restart(how?: 'fast' | 'immediate'): Promise<void>
}

export interface PostgresOptions {
  /** More of its settings, as in `fsync=off`. */
  readonly settings?: readonly string[]
  /** Goes on when this process ends. */
  readonly detached?: boolean
}

/** The newest binaries on this machine, 15 or later. */
export function postgresBin(env: NodeJS.ProcessEnv = process.env): string {
  const folders = [
    ...(env['PG_BIN'] ? [env['PG_BIN']] : []),
    ...globSync('/usr/lib/postgresql/*/bin').sort((a, b) => versionIn(b) - versionIn(a)),
    ...globSync('/usr/pgsql-*/bin').sort((a, b) => versionIn(b) - versionIn(a)),
    ...['/opt/homebrew/opt/postgresql@17/bin', '/opt/homebrew/bin', '/usr/local/bin', '/usr/bin'],
  ]
  const found = folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
  if (!found)
    throw new Problem('PostgreSQL is not installed (no initdb found); install it, or set PG_BIN to its bin folder')
  return found
}

const versionIn = (path: string): number => Number(/(\d+)\/bin$/.exec(path)?.[1] ?? 0)

/** PostgreSQL does not run as root: then it runs as the user that its package made, or as nobody. */
function owner(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((each) => each.startsWith(`${name}:`))
    const [, , uid, gid] = line?.split(':') ?? []
    if (uid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Problem('PostgreSQL does not run as root, and this machine has neither the user postgres nor nobody')
}

export async function startPostgres(folder: string, options: PostgresOptions = {}): Promise<PrivatePostgres> {
  const bin = postgresBin()
  const as = owner()
  const data = join(folder, 'data')
  const env = { PATH: `${bin}:/usr/bin:/bin`, LC_ALL: 'C.UTF-8', TZ: 'UTC' }
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (as.uid !== undefined) chownSync(folder, as.uid, as.gid!)
  if (folder.length > 90) throw new Problem(`${folder} is too long for the path of a socket; choose a shorter one`)
  if (!existsSync(join(data, 'PG_VERSION')))
    try {
      const words = ['-D', data, '-U', 'ona', '--auth=trust', '-E', 'UTF8', '--no-sync']
      execFileSync(join(bin, 'initdb'), words, { ...as, env, cwd: '/', stdio: 'pipe' })
    } catch (cause) {
      const { stderr, message } = cause as Error & { stderr?: Buffer }
      const why = stderr?.toString().trim().split('\n').at(-1) || message
      const who = as.uid === undefined ? '' : `; it runs as user ${as.uid}, which must be able to reach ${folder}`
      throw new Problem(`PostgreSQL cannot make a database in ${folder}: ${why}${who}`)
    }
  const start = async (): Promise<ChildProcess> => {
    const settings = [
      'listen_addresses=',
      `unix_socket_directories=${folder}`,
      'unix_socket_permissions=0700',
      ...(options.settings ?? []),
    ]
    const log = openSync(join(folder, 'postgres.log'), 'a', 0o600)
    const child = spawn(join(bin, 'postgres'), ['-D', data, ...settings.flatMap((each) => ['-c', each])], {
      ...as,
      env,
      cwd: folder,
      detached: options.detached === true,
      stdio: ['ignore', log, log],
    })
    if (options.detached) child.unref()
    await ready(child)
    return child
  }
  const ready = async (child: ChildProcess) => {
    for (let waited = 0; waited < 60_000; waited += 50) {
      if (child.exitCode !== null)
        throw new Problem(
          `PostgreSQL did not start: ${readFileSync(join(folder, 'postgres.log'), 'utf8').trim().split('\n').at(-1)}`,
        )
      if (isReady(bin, folder)) return
      await sleep(50)
    }
    throw new Problem(`PostgreSQL did not answer within a minute; see ${join(folder, 'postgres.log')}`)
  }
  let child = await start()
  const stop = (how: 'fast' | 'immediate' = 'fast') =>
    new Promise<void>((resolve) => {
      if (child.exitCode !== null) return resolve()
      child.once('exit', () => resolve())
      child.ref()
      child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
    })
  return {
    folder,
    url: (database = 'postgres') => socketUrl(folder, database),
    stop,
    async restart(how) {
      await stop(how)
      child = await start()
    },
  }
}

export const socketUrl = (folder: string, database: string): string =>
  `postgres:///${database}?host=${encodeURIComponent(folder)}&user=ona`

/** Whether one runs in this folder. */
export const isRunning = (folder: string): boolean =>
  existsSync(join(folder, 'data', 'postmaster.pid')) && isReady(postgresBin(), folder)

const isReady = (bin: string, folder: string): boolean => {
  try {
    execFileSync(join(bin, 'pg_isready'), ['-h', folder, '-q', '-t', '2'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
