/** The sandbox of a process: what it keeps open between commands, and how one command is put inside. */

import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WarmShell } from '../hooks/handlers/shells/waiting-shell.ts'
import type { ProtectedPath } from '../permissions/protected-paths.ts'
import type { PermissionSettings } from '../permissions/question.ts'
import { sandboxEnv } from './env.ts'
import {
  type Availability,
  filterFd,
  findProgram,
  type Launcher,
  launched,
  probe,
  wrapped,
} from './kernel/available.ts'
import { endSandboxes } from './kernel/processes.ts'
import { type Arch, seccompFilter } from './kernel/seccomp.ts'
import { added, appeared, quarantine, watchAbsent } from './mounts/absent.ts'
import { bwrapArgs } from './mounts/bwrap.ts'
import { Ghosts } from './mounts/ghosts.ts'
import { planMounts } from './mounts/plan.ts'
import type { Plan } from './mounts/table.ts'
import type { Network } from './network/namespace.ts'
import { type AskHost, HostPrompts } from './network/prompts.ts'
import { type NetworkProfile, type Profile, profileOf } from './profile.ts'
import type { SandboxSettings } from './settings.ts'
import { Spare, stampOf } from './spare.ts'

export interface FenceOptions {
  readonly settings: SandboxSettings
  readonly projectDir: string
  readonly home: string
  /** The PATH decides where bubblewrap is looked for. */
  readonly env: NodeJS.ProcessEnv
  readonly database?: string
  /** Folders that hold node and ona. */
  readonly programs: readonly string[]
  /** How the proxy resolves names; by default as the system does. */
  lookup?(host: string): Promise<readonly string[]>
  /** Prompts the user for a host that no list mentions. Without it such a host is refused. */
  readonly askHost?: AskHost
  /** Hears what a program beside the commands was kept from. */
  report?(text: string): void
}

export interface FenceRequest {
  readonly permissions: PermissionSettings
  readonly projectDir: string
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** The user answered a prompt for this command. */
  readonly approved?: boolean
  /** What only the session protects: files that hooks run. */
  readonly protect?: readonly ProtectedPath[]
  /** Another profile than the settings' own, made from it. */
  readonly adapt?: (profile: Profile) => Profile
  /** Another folder for temporary files than that of the session's commands. */
  readonly tmp?: string
}

/** A command's place in the sandbox. */
export interface Cell {
  readonly profile: Profile
  readonly plan: Plan
  /** Names the profile in the record. */
  readonly digest: string
  /** The profile as the record keeps it. */
  readonly description: string
  readonly env: NodeJS.ProcessEnv
  /** The words that run these words inside, however they are started. */
  argv(words: readonly string[]): string[]
  /** The same for `runGroup`, one process less. */
  readonly launch: Launcher
  /** Moves away what the command must not have created; each text says what and where to. */
  breaches(): string[]
  /** Calls `look` as soon as the command may have created one of these; ends with the function it returns. */
  watch(look: () => void): () => void
  /** Hosts that were refused since the command started. */
  refusals(): string[]
  /** A shell in a sandbox of this very profile that waits for a command. */
  readonly spare: (command: string) => WarmShell | undefined
  /** Has one made for the next command. */
  prepareSpare(when: 'now' | 'soon'): void
}

const mostRefusals = 200

export class Fence {
  readonly settings: SandboxSettings
  /** The SQLite file that holds the record. */
  readonly database: string | undefined
  readonly availability: Availability
  readonly #options: FenceOptions
  readonly #state: string
  readonly #tmp: string
  readonly #folders: string[] = []
  readonly #ghosts: Ghosts
  readonly #leave = () => this.close()
  readonly #spare = new Spare()
  readonly #guarded = new Set<string>()
  readonly #closers: (() => void)[] = []
  readonly #refused: { readonly at: number; readonly why: string }[] = []
  readonly #prompts: HostPrompts | undefined
  #network: Promise<Network> | undefined
  #lists: Pick<NetworkProfile, 'allowed' | 'denied' | 'asks'> = { allowed: [], denied: [], asks: false }

  constructor(options: FenceOptions) {
    this.#options = options
    this.settings = options.settings
    this.database = options.database
    this.#state = mkdtempSync(join(tmpdir(), 'ona-sandbox-'))
    this.#tmp = this.ownFolder()
    this.#folders.push(this.#state)
    this.#ghosts = new Ghosts(options.home)
    this.#prompts = options.askHost && new HostPrompts(options.askHost)
    this.#furnish()
    this.availability = probe(
      {
        platform: process.platform,
        arch: process.arch,
        path: options.env['PATH'] ?? '',
        projectDir: options.projectDir,
      },
      this.#filter(false),
    )
    process.once('exit', this.#leave)
  }

  /** Must be asked only where the sandbox is available. Throws with the reason when this command cannot be sandboxed. */
  async cell(request: FenceRequest): Promise<Cell> {
    if (!this.availability.ok) throw new Error(this.availability.why)
    const { bwrap } = this.availability
    const { home, database, programs } = this.#options
    const { permissions, projectDir, cwd, approved, protect } = request
    // ours to make: were it missing, a command that can write the home could make it
    mkdirSync(join(home, '.ona', 'sandbox'), { recursive: true, mode: 0o700 })
    const places = { projectDir, cwd, home, database }
    const tmp = request.tmp ?? this.#tmp
    const asks = this.#prompts !== undefined
    const own = profileOf({ sandbox: this.settings, permissions, ...places, approved, protect, asks })
    const profile = request.adapt?.(own) ?? own
    const plan = planMounts({
      profile,
      projectDir,
      home,
      tmp,
      state: this.#state,
      path: request.env['PATH'] ?? '',
      programs,
    })
    if (plan.problem !== undefined) throw new Error(plan.problem)
    this.#ghosts.use(plan.ghosts)
    const { network } = profile
    const isOpen = network.allowed.length > 0 || network.localBinding || network.asks
    const shared = isOpen ? await this.#shareNetwork(bwrap, network) : undefined
    const unixSockets = network.allUnixSockets || network.unixSockets.length > 0
    const args = bwrapArgs({
      mounts: plan.mounts,
      state: this.#state,
      cwd,
      filterFd,
      sharedNetwork: shared !== undefined,
      asRoot: process.getuid?.() === 0,
    })
    const filter = this.#filter(unixSockets)
    const env = sandboxEnv(request.env, { tmp, ...(shared && { proxyPort: shared.port }) })
    const inside = [...(shared?.enter ?? []), bwrap, ...args]
    const argv = (words: readonly string[]) => wrapped(filter, [...inside, ...words])
    const launch: Launcher = (words, keep) => launched(filter, [...inside, ...words], keep)
    const key = () => JSON.stringify([filter, inside, cwd, env, stampOf(plan.mounts)])
    const startedAt = performance.now()
    const description = this.#describe(plan, profile, tmp)
    return {
      profile,
      plan,
      description,
      digest: createHash('sha256').update(description).digest('hex').slice(0, 16),
      env,
      argv,
      launch,
      watch: (look) => {
        const endings = [watchAbsent(plan.absent, look), ...(this.#prompts ? [this.#prompts.begin()] : [])]
        return () => {
          for (const end of endings) end()
        }
      },
      breaches: () => breachesOf(plan, home),
      spare: (command) => this.#spare.take(key(), command),
      prepareSpare: (when) => this.#spare.prepare({ key: key(), launch, cwd, env }, when),
      refusals: () => this.#refused.filter(({ at }) => at >= startedAt).map(({ why }) => why),
    }
  }

  /** Opened with the first command that may reach something. */
  #shareNetwork(bwrap: string, lists: NetworkProfile): Promise<Network> {
    this.#lists = lists
    this.#network ??= this.#openNetwork(bwrap)
    return this.#network
  }

  async #openNetwork(bwrap: string): Promise<Network> {
    const { env, projectDir, lookup } = this.#options
    const nsenter = findProgram('nsenter', { path: env['PATH'] ?? '', projectDir })
    if (!nsenter) throw new Error('nsenter is not installed (it is part of util-linux)')
    const { openNetwork } = await import('./network/namespace.ts')
    return openNetwork(
      { bwrap, nsenter, env },
      {
        lists: () => this.#lists,
        ask: async (host) => this.#lists.asks && (await this.#prompts?.allows(host)) === true,
        denied: (_host, why) => this.#remember(why),
        ...(lookup && { lookup }),
      },
    )
  }

  #remember(why: string): void {
    if (this.#refused.length >= mostRefusals) this.#refused.shift()
    this.#refused.push({ at: performance.now(), why })
  }

  /**
   * Programs that run beside commands, and as long as they like: what must not come into being is moved away as soon as it
   * does, until the session ends.
   */
  guard({ plan }: Pick<Cell, 'plan'>): void {
    const fresh = plan.absent.filter((path) => !this.#guarded.has(path))
    if (fresh.length === 0) return
    for (const path of fresh) this.#guarded.add(path)
    const look = () => {
      for (const path of appeared(fresh)) {
        const moved = quarantine(path, this.#options.home)
        this.#options.report?.(moved)
      }
    }
    this.#closers.push(watchAbsent(fresh, look), look)
  }

  /** A temporary folder that goes with the fence, for programs that must not find what commands left. */
  ownFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'ona-tmp-'))
    this.#folders.push(folder)
    return folder
  }

  /** Whether the next command finds its sandbox made. */
  get isWarm(): boolean {
    return this.#spare.isReady
  }

  /** Nothing runs inside any more when the stand-ins for missing folders go: they keep a command from creating them. */
  close(): void {
    this.#spare.close()
    const hasEnded = this.#folders.length === 0 || !this.availability.ok || endSandboxes(this.#folders)
    for (const close of this.#closers.splice(0)) close()
    void this.#network?.then(
      (network) => network.close(),
      () => {}, // it was never open
    )
    process.removeListener('exit', this.#leave)
    if (hasEnded) this.#ghosts.close()
    for (const folder of this.#folders.splice(0)) removeTree(folder)
  }

  /** What mounts are made of: nothing to read, nothing to enter. */
  #furnish(): void {
    mkdirSync(join(this.#state, 'deny-folder'))
    writeFileSync(join(this.#state, 'deny-file'), '')
    for (const name of ['deny-folder', 'deny-file']) chmodSync(join(this.#state, name), 0)
    for (const unixSockets of [true, false]) {
      const filter = seccompFilter(process.arch as Arch, { unixSockets })
      writeFileSync(this.#filter(unixSockets), filter, { mode: 0o600 })
    }
  }

  #filter = (unixSockets: boolean): string => join(this.#state, unixSockets ? 'with-unix.bpf' : 'without-unix.bpf')

  /** The same profile reads the same in every process: the names of our own folders are left out. */
  #describe({ mounts, absent }: Plan, { network }: Profile, tmp: string): string {
    return JSON.stringify({ mounts, absent, network }).replaceAll(tmp, '$TMP').replaceAll(this.#state, '$STATE')
  }
}

const breachesOf = ({ absent, locked }: Plan, home: string): string[] => [
  ...appeared(absent).map((path) => quarantine(path, home)),
  ...added(locked).map(({ path, why }) => quarantine(path, home, `covered by ${why}`)),
]

/** Folders that even their owner may not enter (ours, or a command's) are opened first; what is left then is the system's to clean. */
function removeTree(folder: string): void {
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    remove()
  } catch {
    try {
      openFolders(folder)
      remove()
    } catch {
      // a temporary folder that is not ours to remove
    }
  }
}

function openFolders(folder: string): void {
  chmodSync(folder, 0o700)
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) openFolders(join(folder, entry.name))
}
