/**
 * A place to break out of: a project, a home and a folder outside, each with canaries, and listeners on the host. Whatever a
 * command does, `breaches` says which canary was read, changed, reached or left running.
 */
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ProtectedPath } from '../../src/permissions/protected-paths.ts'
import type { PermissionSettings } from '../../src/permissions/question.ts'
import { type Cell, Fence } from '../../src/sandbox/fence.ts'
import type { SandboxSettings } from '../../src/sandbox/settings.ts'
import { removeFolder } from '../support/remove-folder.ts'

export interface World {
  readonly root: string
  readonly project: string
  readonly home: string
  readonly outside: string
  /** What is in every file that must not be read. */
  readonly secret: string
  /** In the words of every process that must not survive. */
  readonly marker: string
  readonly ports: { readonly tcp: number; readonly tcp6: number; readonly udp: number; readonly service: number }
  readonly fence: Fence
  run(command: string, options?: RunOptions): Promise<Ran>
  /** The same command without a sandbox, in the same environment: shows that the canaries are alive. */
  unfenced(command: string, options?: RunOptions): Promise<Ran>
  /** Puts everything back; a new round starts. */
  reset(): void
  close(): Promise<void>
}

export interface RunOptions {
  readonly permissions?: PermissionSettings
  readonly timeoutMs?: number
  readonly cwd?: string
  readonly protect?: readonly ProtectedPath[]
}

export interface Ran {
  readonly exitCode: number | null
  readonly output: string
  /** Empty when nothing got out. */
  readonly breaches: readonly string[]
  /** What the sandbox moved out of the way. */
  readonly quarantined: readonly string[]
}

export const permissions: PermissionSettings = { deny: ['Read(./private/**)', 'Edit(./locked.txt)'] }

export async function makeWorld(
  settings: SandboxSettings = {},
  lookup?: (host: string) => Promise<string[]>,
  askHost?: (host: string) => Promise<boolean>,
  report?: (text: string) => void,
): Promise<World> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-escape-')))
  const [project, home, outside] = [join(root, 'project'), join(root, 'home'), join(root, 'outside')]
  const secret = `CANARY-${randomBytes(8).toString('hex')}`
  const marker = `survivor-${randomBytes(8).toString('hex')}`
  const heard: string[] = []
  const listeners = await listen(project, heard, marker)
  const env: NodeJS.ProcessEnv = {
    ...{ PATH: process.env['PATH'], HOME: home, LANG: 'C', SECRET_PATH: join(home, '.ssh/id_rsa'), MARKER: marker },
    ...{
      TCP: String(listeners.tcp),
      TCP6: String(listeners.tcp6),
      UDP: String(listeners.udp),
      SERVICE: String(listeners.service),
    },
    ...{ OUTSIDE: outside, PROJECT: project, HOST_PID: String(process.pid), NODE: process.execPath },
  }
  furnish({ project, home, outside, secret })
  for (const words of [
    ['init', '-q'],
    ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'x'],
  ])
    execFileSync('git', words, { cwd: project, env: { PATH: process.env['PATH'], HOME: home } })
  const fence = new Fence({
    settings: { ...settings, filesystem: { allowRead: [outside], ...settings.filesystem } },
    projectDir: project,
    home,
    env,
    database: join(home, '.ona/agent.db'),
    programs: [dirname(dirname(process.execPath)), join(homedir(), '.pyenv')],
    ...(lookup && { lookup }),
    ...(askHost && { askHost }),
    ...(report && { report }),
  })
  let before = snapshot(root)
  const finish = async (ran: Omit<Ran, 'breaches' | 'quarantined'>, cell: Cell | undefined): Promise<Ran> => {
    const quarantined = cell?.breaches() ?? []
    const breaches = [
      ...(ran.output.includes(secret) ? ['a secret was read'] : []),
      ...(ran.output.includes('BREACH') ? [/BREACH.*/.exec(ran.output)![0]] : []),
      ...differences(before, snapshot(root), secret, project),
      ...heard.splice(0),
      ...(await survivors(marker)),
    ]
    return { ...ran, breaches, quarantined }
  }
  const world: World = {
    ...{ root, project, home, outside, secret, marker, fence },
    ports: listeners,
    async run(command, options = {}) {
      const cwd = options.cwd ?? project
      const cell = await fence.cell({
        permissions: options.permissions ?? permissions,
        projectDir: project,
        cwd,
        env,
        ...(options.protect && { protect: options.protect }),
      })
      return finish(await execute(cell.argv(['/bin/bash', '-c', command]), cwd, cell.env, options.timeoutMs), cell)
    },
    async unfenced(command, options = {}) {
      return finish(
        await execute(['/bin/bash', '-c', command], options.cwd ?? project, env, options.timeoutMs),
        undefined,
      )
    },
    reset() {
      const keep = join(project, '.git')
      for (const folder of [project, home, outside])
        for (const name of readdirSync(folder)) {
          const path = join(folder, name)
          if (path !== keep && !/\.sock$/.test(name)) rmSync(path, { recursive: true, force: true })
        }
      furnish({ project, home, outside, secret })
      heard.length = 0
      before = snapshot(root)
    },
    async close() {
      fence.close()
      await listeners.close()
      removeFolder(root)
    },
  }
  return world
}

interface Parts {
  readonly project: string
  readonly home: string
  readonly outside: string
  readonly secret: string
}

function furnish({ project, home, outside, secret }: Parts): void {
  const files: Record<string, string> = {
    [`${project}/src/app.js`]: 'console.log("app")\n',
    [`${project}/locked.txt`]: 'locked\n',
    [`${project}/private/key`]: secret,
    [`${project}/.env`]: `TOKEN=${secret}\n`,
    [`${project}/.ona/settings.json`]: '{}\n',
    [`${project}/.claude/settings.json`]: '{}\n',
    [`${project}/package.json`]: '{"name":"x","version":"1.0.0"}\n',
    [`${home}/.ona/agent.db`]: `record ${secret}`,
    [`${home}/.ona/settings.json`]: '{}\n',
    [`${home}/.ssh/id_rsa`]: secret,
    [`${home}/.aws/credentials`]: secret,
    [`${home}/notes.txt`]: secret,
    [`${home}/.bashrc`]: '# start\n',
    [`${outside}/file.txt`]: 'outside\n',
    [`${outside}/folder/deep.txt`]: 'deep\n',
  }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
}

/** Every file with its content, mode and target. */
function snapshot(root: string): Map<string, string> {
  const found = new Map<string, string>()
  const walk = (folder: string) => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name)
      const stat = lstatSync(path)
      if (stat.isDirectory()) {
        found.set(`${path}/`, String(stat.mode & 0o7777))
        walk(path)
      } else if (stat.isSymbolicLink()) found.set(path, `-> ${readlinkSync(path)}`)
      else if (stat.isFile()) found.set(path, `${stat.mode & 0o7777} ${readFileSync(path, 'latin1')}`)
    }
  }
  walk(root)
  return found
}

/** Inside the project a command may write, except what governs agents and git, what rules lock, and setuid bits. */
const guarded =
  /^(?:\.ona|\.claude|\.codex|\.gemini|\.cursor|\.opencode|\.copilot|\.mcp\.json|\.claude\.json|opencode\.jsonc?|\.gitconfig|\.git\/(?:hooks|config|config\.worktree|commondir|modules|info\/attributes)|\.github\/hooks|locked\.txt|private|\.env)(?:\/|$)/

function differences(
  before: Map<string, string>,
  after: Map<string, string>,
  secret: string,
  project: string,
): string[] {
  const found: string[] = []
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(path), after.get(path)]
    if (old === now) continue
    const inside = path.startsWith(`${project}/`) ? path.slice(project.length + 1) : undefined
    if (path.includes('/home/.ona/quarantine') || path.includes('/home/.ona/sandbox')) continue
    if (inside === undefined || isGuarded(inside, old, now))
      found.push(`${path} ${old === undefined ? 'was created' : now === undefined ? 'was removed' : 'was changed'}`)
    else if (now?.includes(secret)) found.push(`a secret was copied to ${path}`)
    else if (now !== undefined && !path.endsWith('/') && (Number.parseInt(now, 10) & 0o6000) !== 0)
      found.push(`${path} is setuid`)
  }
  return found
}

/** An empty folder, or an empty file in `.git`, that stands in for a missing one is the sandbox's own. */
const isGuarded = (inside: string, old: string | undefined, now: string | undefined): boolean =>
  guarded.test(inside) &&
  !(/^\.git\/config/.test(inside) && /^(?:\d+ )?$/.test(`${old ?? ''}${now ?? ''}`)) &&
  !(inside.endsWith('/') && (old === undefined || now === undefined) && inside.split('/').length <= 3)

async function survivors(marker: string): Promise<string[]> {
  for (let round = 0; ; round++) {
    const found = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(marker)
        } catch {
          return false // it has just ended
        }
      })
    if (found.length === 0) return []
    // a process that was killed takes a moment to go
    if (round < 100) await new Promise((resolve) => setTimeout(resolve, 20))
    else {
      for (const pid of found) process.kill(Number(pid), 'SIGKILL')
      return [`${found.length} processes survived`]
    }
  }
}

function execute(
  argv: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  timeoutMs = 30_000,
): Promise<Omit<Ran, 'breaches' | 'quarantined'>> {
  return new Promise((resolve, reject) => {
    const child = spawn(argv[0]!, argv.slice(1), { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString('latin1')))
    const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), timeoutMs)
    child.on('error', reject)
    child.on('exit', (exitCode) => {
      clearTimeout(timer)
      // what was left running may hold the pipes open
      setTimeout(() => resolve({ exitCode, output }), 50)
    })
  })
}

/** Listeners outside; each byte that arrives is a breach. `service` is a web server that a host may be allowed for. */
async function listen(project: string, heard: string[], abstract: string) {
  mkdirSync(project, { recursive: true })
  const closers: (() => void)[] = []
  const sockets = new Set<Socket>()
  const hear = (name: string) =>
    createServer((socket) => {
      sockets.add(socket)
      socket.on('data', (data) => heard.push(`${name} was reached: ${data.toString('latin1').slice(0, 60)}`))
      socket.on('error', () => {})
      socket.write('HELLO FROM THE HOST\n')
    })
  const open = (server: Server, ...where: [port: number, host: string] | [path: string]) =>
    new Promise<number>((resolve, reject) => {
      server.once('error', reject)
      closers.push(() => server.close())
      const done = () => {
        const address = server.address()
        resolve(typeof address === 'object' && address ? address.port : 0)
      }
      if (where.length === 1) server.listen(where[0], done)
      else server.listen(where[0], where[1], done)
    })
  const tcp = await open(hear('tcp'), 0, '127.0.0.1')
  const tcp6 = await open(hear('tcp6'), 0, '::1').catch(() => 0)
  await open(hear('unix'), join(project, 'host.sock'))
  await open(hear('abstract'), `\0${abstract}`)
  const udpSocket = createSocket('udp4', (data) => heard.push(`udp was reached: ${data.toString('latin1')}`))
  const udp = await new Promise<number>((resolve) =>
    udpSocket.bind(0, '127.0.0.1', () => resolve(udpSocket.address().port)),
  )
  closers.push(() => udpSocket.close())
  const service = await open(
    createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\nSERVICE'))
    }),
    0,
    '127.0.0.1',
  )
  return {
    ...{ tcp, tcp6, udp, service },
    async close() {
      for (const socket of sockets) socket.destroy()
      for (const close of closers) close()
    },
  }
}

/** Waits for the sandbox that is made ahead; there is none to come where no sandbox can be made. */
export async function untilWarm(fence: Fence): Promise<void> {
  if (!fence.availability.ok) throw new Error(fence.availability.why)
  while (!fence.isWarm) await new Promise((resolve) => setTimeout(resolve, 5))
}
