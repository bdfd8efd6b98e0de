/**
 * A profile held against the files that are there: which folders a command sees, and how. The order of the list is the
 * order of the mounts. Symlinks are resolved here, outside the sandbox, so that no link decides where a mount lands.
 */
import { accessSync, constants, existsSync, lstatSync, realpathSync, type Stats } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { isWithin } from '../../permissions/paths/pattern.ts'
import type { NamedPath, Profile } from '../profile.ts'
import { type Found, finder, type Marks } from './find.ts'
import { configuredPaths, gitControls, outerGitDir } from './git-dirs.ts'

export type Mount =
  | { readonly op: 'ro' | 'rw'; readonly at: string; readonly from: string }
  /** An empty folder; `seal` makes it read-only when everything is in its place. `blank` is one that stands in for what is missing. */
  | { readonly op: 'empty' | 'seal' | 'blank'; readonly at: string }
  /** Nothing can be read, written or listed there. */
  | { readonly op: 'deny'; readonly at: string; readonly folder: boolean }

export interface Plan {
  readonly mounts: readonly Mount[]
  /** Folders that must exist outside before the sandbox starts, so that they can be covered. */
  readonly ghosts: readonly string[]
  /** Paths that must not come into being while the command runs. */
  readonly absent: readonly string[]
  /** What stands in a command's way, and why: for messages. */
  readonly fences: readonly Fenced[]
  readonly prompts: readonly string[]
  /** Why no sandbox can be made of this profile. */
  readonly problem?: string
}

export interface Fenced {
  readonly path: string
  readonly kind: 'read' | 'write'
  readonly why: string
}

export interface MountRequest {
  readonly profile: Profile
  readonly projectDir: string
  readonly home: string
  /** The session's own temporary folder: `/tmp` inside, and the same path as outside. */
  readonly tmp: string
  /** Files of the sandbox itself; never seen inside. */
  readonly state: string
  /** The PATH of the command. */
  readonly path: string
  /** Folders that a command needs to run node and ona. */
  readonly programs: readonly string[]
}

/** Nothing of these is there, except what is opened by name: homes, sockets, other users' temporary files, media. */
const hidden = ['/home', '/root', '/run', '/var/run', '/mnt', '/media']
const temporary = ['/tmp', '/var/tmp']
/** Below hidden folders, but part of the system (NixOS). */
const systemPaths = ['/run/current-system', '/run/booted-system', '/run/opengl-driver']
/** Toolchains that people install in their home, read-only. None of them holds credentials. */
const toolchains = [
  ...['.nvm', '.fnm', '.volta', '.asdf', '.pyenv', '.rbenv', '.rustup', '.cargo/bin', '.cargo/registry', '.cargo/env'],
  ...['.bun', '.deno/bin', '.sdkman/candidates', '.jenv', '.nix-profile', '.ghcup', '.juliaup', '.dotnet', 'go/pkg'],
  ...['.local/bin', '.local/lib', '.local/share/mise', '.local/share/fnm', '.local/share/pnpm', '.local/share/uv'],
  ...['.m2/repository', '.gitconfig', '.config/git/config', '.config/git/ignore'],
]
/** What a root user could read although a command has no business with it. */
const systemSecrets = ['/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/sudoers', '/etc/sudoers.d']
/** The kernel and the running system: not to be written, whatever the settings say. */
const neverWritable = ['/', '/proc', '/sys', '/dev', '/run', '/var/run', '/boot']

export function planMounts(request: MountRequest): Plan {
  return new Planner(request).plan()
}

class Planner {
  readonly #request: MountRequest
  readonly #home: string
  readonly #at = new Map<string, Mount>()
  readonly #ghosts = new Set<string>()
  readonly #absent = new Set<string>()
  readonly #fences = new Map<string, Fenced>()
  readonly #prompts: string[]
  /** Folders that are mounted on themselves, only so that they cannot be renamed. */
  readonly #anchors = new Set<string>()
  /** What is shown below a folder that is not. */
  readonly #opens: string[] = []
  #roots: readonly NamedPath[] = []

  constructor(request: MountRequest) {
    this.#request = request
    this.#home = real(request.home)
    this.#prompts = [...request.profile.prompts]
  }

  plan(): Plan {
    this.#set({ op: 'ro', at: '/', from: '/' })
    this.#roots = this.#writable()
    const bad = this.#roots.find(({ path }) => neverWritable.includes(path))
    if (bad) return { ...nothing, problem: `${bad.path} cannot be made writable in a sandbox (${bad.why})` }
    this.#hide()
    for (const { path } of this.#roots) this.#set({ op: 'rw', at: path, from: path })
    for (const root of this.#roots) this.#protect(root)
    this.#rules()
    if (this.#isShown(this.#request.state)) this.#deny(this.#request.state, 'it belongs to the sandbox')
    const mounts = this.#settled()
    return {
      mounts: [...mounts, ...mounts.filter(({ op }) => op === 'empty').map(({ at }) => ({ op: 'seal', at }) as const)],
      ghosts: [...this.#ghosts],
      absent: [...this.#absent],
      fences: [...this.#fences.values()],
      prompts: this.#prompts,
    }
  }

  /** Parents before children; nothing below what is denied, unless it was opened by name; no anchor below what is read-only. */
  #settled(): Mount[] {
    const settled: Mount[] = []
    const above = (at: string) => settled.findLast((mount) => isWithin(at, mount.at))
    for (const at of [...this.#at.keys()].sort()) {
      let mount = this.#at.get(at)!
      const cover = above(at)
      if (this.#anchors.has(at) && cover?.op !== 'rw') continue
      if (cover?.op === 'deny' || cover?.op === 'blank') continue
      if (mount.op === 'deny' && this.#opens.some((open) => open !== at && isWithin(open, at)))
        mount = { op: 'empty', at }
      settled.push(mount)
    }
    return settled
  }

  /** The system read-only, without what is personal or a way out. */
  #hide(): void {
    const { tmp, path, programs, profile } = this.#request
    for (const at of new Set([...hidden.map(real), this.#home])) {
      if (at === '/' || !existsSync(at)) continue
      this.#set({ op: 'empty', at })
      const why = 'it is not part of the sandbox (sandbox.filesystem.allowRead opens a path)'
      this.#fence({ path: at, kind: 'read', why })
    }
    for (const at of new Set(temporary.filter(existsSync).map(real))) this.#set({ op: 'rw', at, from: tmp })
    this.#set({ op: 'rw', at: tmp, from: tmp })
    for (const at of systemSecrets) if (isReadable(at)) this.#deny(at, 'it holds the passwords of the system')
    const opened = [
      ...systemPaths,
      ...toolchains.map((name) => join(this.#home, name)),
      ...path.split(delimiter).filter((folder) => folder !== '' && folder !== this.#home),
      ...programs,
      ...profile.read.map((each) => each.path),
      ...profile.network.unixSockets.map((each) => each.path),
    ]
    for (const at of opened) this.#open(at)
  }

  /** Shows a hidden path read-only. */
  #open(at: string): void {
    if (!existsSync(at) || !this.#isHidden(at)) return
    if (this.#roots.some((root) => isWithin(at, root.path))) return
    this.#set({ op: 'ro', at, from: real(at) })
  }

  #isHidden(path: string): boolean {
    const cover = this.#coverOf(path)
    return cover?.op === 'empty' || cover?.op === 'deny' || (cover?.op === 'rw' && cover.from !== cover.at)
  }
  #isShown = (path: string): boolean => !this.#isHidden(path)

  /** The mount that a path lies on. */
  #coverOf(path: string): Mount | undefined {
    for (let at = path; ; at = dirname(at)) {
      const mount = this.#at.get(at)
      if (mount) return mount
      if (at === dirname(at)) return undefined
    }
  }

  /** A folder inside another writable one is writable already; resolving it would follow a link that a command planted. */
  #writable(): NamedPath[] {
    const { profile, projectDir } = this.#request
    const roots: NamedPath[] = []
    const seen: string[] = []
    const git = profile.write.some(({ path }) => path === projectDir) ? outerGitDir(projectDir, this.#home) : undefined
    const named = [...profile.write, ...(git ? [{ path: git, why: 'the repository of the project' }] : [])]
    for (const { path, why } of [...named].sort((a, b) => a.path.length - b.path.length)) {
      if (!existsSync(path) || seen.some((root) => isWithin(path, root))) continue
      seen.push(path)
      const at = real(path)
      if (roots.some((root) => isWithin(at, root.path))) continue
      roots.push({ path: at, why })
      seen.push(at)
    }
    return roots
  }

  #fence(fenced: Fenced): void {
    this.#fences.set(fenced.path, fenced)
  }

  #set(mount: Mount): void {
    this.#at.set(mount.at, mount)
  }

  #deny(path: string, why: string): void {
    const stat = statOf(path)
    if (!stat) return
    this.#set({ op: 'deny', at: path, folder: stat.isDirectory() })
    this.#fence({ path, kind: 'read', why })
    this.#anchor(path)
    if (stat.isFile() && stat.nlink > 1)
      this.#prompts.push(`${path} has other names (hard links), and ${why} covers them, too`)
  }

  #readOnly(path: string, why: string): void {
    if (this.#at.get(path)?.op === 'deny') return
    this.#set({ op: 'ro', at: path, from: path })
    this.#fence({ path, kind: 'write', why })
    this.#anchor(path)
  }

  /** Whoever could rename a folder above could put another in its place: each becomes a mount point, which cannot be renamed. */
  #anchor(path: string): void {
    const root = this.#roots.find((each) => isWithin(path, each.path))
    if (!root) return
    for (let at = dirname(path); at !== root.path && isWithin(at, root.path); at = dirname(at))
      if (!this.#at.has(at)) {
        this.#set({ op: 'rw', at, from: at })
        this.#anchors.add(at)
      }
  }

  /** Names that govern agents, git and shells. */
  #protect(root: NamedPath): void {
    const { profile, projectDir } = this.#request
    const isWorkspace = isWithin(projectDir, root.path) || root.why.startsWith('permissions.')
    const names = profile.protect.filter(({ at }) => at === 'anywhere')
    for (const { at, path, edit, what, read, except = [] } of profile.protect) {
      const home = root.path === this.#home
      if (at === 'anywhere' && path.startsWith('.git/')) continue
      if (at === 'anywhere' && path.startsWith('.config/') && !home) continue
      const place = at === 'anywhere' ? join(root.path, path) : at === 'home' ? join(this.#home, path) : path
      if (!isWithin(place, root.path)) continue
      const unreadable = read === 'deny' || (at === 'home' && path === '.ona') || (at === 'exact' && edit === 'deny')
      this.#protectPath(place, {
        why: `it is ${what}`,
        unreadable,
        create:
          isWorkspace && folders.has(basename(path)) ? 'ghost' : isWorkspace || edit !== 'mode' ? 'absent' : 'allowed',
      })
      for (const name of except.filter((each) => each === 'worktrees')) {
        const open = join(place, name)
        if (!statOf(open)?.isDirectory()) continue
        this.#set({ op: 'rw', at: open, from: open })
        this.#opens.push(open)
      }
    }
    this.#gitDir(join(root.path, '.git'), isWorkspace)
    if (basename(root.path) === '.git') this.#gitDir(root.path, false)
    const found = finder(root.path, marksOf(profile, names)).finds(root.path)
    if (!found) this.#prompts.push(`${root.path} holds too many folders to search for protected files`)
    for (const each of found ?? []) this.#found(each)
  }

  #found({ path, kind }: Found): void {
    if (kind === 'git') this.#gitDir(path, false)
    else if (kind === 'secret') {
      if (!this.#isOpened(path))
        this.#deny(
          path,
          'a built-in rule keeps files that usually hold secrets from commands (sandbox.filesystem.allowRead opens one)',
        )
    } else if (!this.#at.has(path))
      this.#protectPath(path, { why: 'it is a protected name', unreadable: false, create: 'allowed' })
  }

  #gitDir(git: string, isWorkspace: boolean): void {
    const stat = statOf(git)
    const why = 'it decides which programs git runs'
    if (!stat) {
      if (isWorkspace) this.#ghost(git, why)
      return
    }
    if (!stat.isDirectory()) {
      this.#protectPath(git, { why, unreadable: false, create: 'allowed' })
      return
    }
    for (const name of gitControls) {
      const create = name === 'hooks' || name === 'modules' ? 'ghost' : 'absent'
      const path = join(git, name)
      // the folder around a missing file is held, where nothing else in it is for commands to write
      const at =
        name.startsWith('info/') && !statOf(path) && statOf(dirname(path))?.isDirectory() ? dirname(path) : path
      this.#protectPath(at, { why, unreadable: false, create })
    }
    for (const path of configuredPaths(git)) {
      if (this.#roots.some((root) => isWithin(path, root.path)))
        this.#protectPath(path, { why, unreadable: false, create: 'absent' })
    }
  }

  #protectPath(
    path: string,
    { why, unreadable, create }: { why: string; unreadable: boolean; create: 'ghost' | 'absent' | 'allowed' },
  ): void {
    const stat = statOf(path)
    if (!stat) {
      if (create === 'ghost' && existsSync(dirname(path))) this.#ghost(path, why)
      else if (create !== 'allowed') this.#absent.add(path)
      return
    }
    if (stat.isSymbolicLink()) {
      this.#prompts.push(`${path} is a symbolic link, which a sandbox cannot protect (${why})`)
      return
    }
    if (stat.isFile() && stat.nlink > 1)
      this.#prompts.push(`${path} has other names (hard links), which a sandbox cannot protect`)
    if (unreadable) this.#deny(path, why)
    else this.#readOnly(path, why)
  }

  #ghost(path: string, why: string): void {
    this.#ghosts.add(path)
    this.#set({ op: 'blank', at: path })
    this.#fence({ path, kind: 'write', why })
    this.#anchor(path)
  }

  #isOpened = (path: string): boolean => this.#request.profile.read.some((each) => isWithin(path, each.path))

  /** Settings and permission rules on files. */
  #rules(): void {
    const { noRead, noWrite } = this.#request.profile
    for (const [list, kind] of [
      [noWrite, 'write'],
      [noRead, 'read'],
    ] as const) {
      for (const each of list) {
        const paths = each.paths ?? this.#matches(each)
        if (!paths) {
          this.#prompts.push(`${each.why} covers too many folders to search`)
          continue
        }
        for (const path of paths.map(real)) {
          if (kind === 'read' && !each.firm && this.#isOpened(path)) continue
          if (kind === 'write') this.#refuseWrite(path, each.why)
          else this.#refuseRead(path, each.why, each.firm === true)
        }
      }
    }
  }

  #matches({ pattern, from }: Profile['noRead'][number]): string[] | undefined {
    const bases = from.map((folder) => real(join(folder, pattern.base)))
    const found: string[] = []
    for (const base of new Set(bases)) {
      if (!existsSync(base)) continue
      const all = finder(base, { pattern: pattern.rest }).finds(base)
      if (!all) return undefined
      found.push(...all.map(({ path }) => path))
    }
    return found
  }

  #refuseWrite(path: string, why: string): void {
    const stat = statOf(path)
    const root = this.#roots.find((each) => isWithin(path, each.path))
    if (root && stat) this.#readOnly(path, why)
    else if (root) this.#absent.add(path)
    // a writable folder below it stays read-only, too
    for (const { path: inside } of this.#roots)
      if (inside !== path && isWithin(inside, path)) this.#readOnly(inside, why)
  }

  #refuseRead(path: string, why: string, firm: boolean): void {
    if (!statOf(path)) {
      if (this.#roots.some((each) => isWithin(path, each.path))) this.#absent.add(path)
      return
    }
    const opened = firm
      ? []
      : this.#request.profile.read.filter((each) => each.path !== path && isWithin(each.path, path))
    for (const at of [...this.#at.keys()])
      if (at !== path && isWithin(at, path) && !opened.some((each) => isWithin(at, each.path))) this.#at.delete(at)
    if (path === '/') {
      this.#prompts.push(`${why} covers the whole system`)
      return
    }
    this.#deny(path, why)
    for (const each of opened) {
      if (!existsSync(each.path)) continue
      this.#set({ op: 'ro', at: each.path, from: real(each.path) })
      this.#opens.push(each.path)
    }
  }
}

const nothing: Omit<Plan, 'problem'> = { mounts: [], ghosts: [], absent: [], fences: [], prompts: [] }
/** Protected names that are folders: they are covered before anybody can create them. */
const folders = new Set([
  '.ona',
  '.claude',
  '.codex',
  '.gemini',
  '.cursor',
  '.opencode',
  '.copilot',
  'hooks',
  'copilot',
])

const marksOf = ({ hideSecrets }: Profile, names: Profile['protect']): Marks => ({
  secrets: hideSecrets,
  names: new Set(names.filter(({ path }) => !path.includes('/')).map(({ path }) => path.toLowerCase())),
})

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined // through a file, or not ours to look at: a command cannot reach it either
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path // not there (yet)
  }
}
