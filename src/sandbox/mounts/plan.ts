/**
 * A profile held against the files that are there: which folders a command sees, and how. The order of the list is the
 * order of the mounts. Symlinks are resolved here, outside the sandbox, so that no link decides where a mount lands.
 */
import { existsSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { isWithin } from '../../permissions/paths/pattern.ts'
import type { NamedPath, Profile } from '../profile.ts'
import { type Found, finder, type Marks } from './find.ts'
import { configuredPaths, gitControls, outerGitDir } from './git-dirs.ts'
import { isEmpty, isReadable, real, statOf } from './look.ts'
import { hidden, neverWritable, systemPaths, systemSecrets, temporary, toolchains } from './system-paths.ts'
import { type Locked, MountTable, type Plan } from './table.ts'

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

export function planMounts(request: MountRequest): Plan {
  return new Planner(request).plan()
}

class Planner {
  readonly #request: MountRequest
  readonly #home: string
  readonly #table: MountTable
  readonly #locked: Locked[] = []

  constructor(request: MountRequest) {
    this.#request = request
    this.#home = real(request.home)
    this.#table = new MountTable(request.profile.prompts)
  }

  plan(): Plan {
    this.#table.set({ op: 'ro', at: '/', from: '/' })
    this.#table.roots = this.#writable()
    const bad = this.#table.roots.find(({ path }) => neverWritable.includes(path))
    if (bad) return { ...nothing, problem: `${bad.path} cannot be made writable in a sandbox (${bad.why})` }
    this.#hide()
    for (const { path } of this.#table.roots) this.#table.set({ op: 'rw', at: path, from: path })
    for (const root of this.#table.roots) this.#protect(root)
    this.#rules()
    if (this.#table.isShown(this.#request.state)) this.#table.deny(this.#request.state, 'it belongs to the sandbox')
    const mounts = this.#table.settled()
    return {
      mounts: [...mounts, ...mounts.filter(({ op }) => op === 'empty').map(({ at }) => ({ op: 'seal', at }) as const)],
      ghosts: [...this.#table.ghosts.values()],
      absent: [...this.#table.absent],
      locked: this.#locked,
      fences: [...this.#table.fences.values()],
      prompts: this.#table.prompts,
    }
  }

  /** The system read-only, without what is personal or a way out. */
  #hide(): void {
    const { tmp, path, programs, profile } = this.#request
    for (const at of new Set([...hidden.map(real), this.#home])) {
      if (at === '/' || !existsSync(at)) continue
      this.#table.set({ op: 'empty', at })
      const why = 'it is not part of the sandbox (sandbox.filesystem.allowRead opens a path)'
      this.#table.fence({ path: at, kind: 'read', why })
    }
    for (const at of new Set(temporary.filter(existsSync).map(real))) this.#table.set({ op: 'rw', at, from: tmp })
    this.#table.set({ op: 'rw', at: tmp, from: tmp })
    for (const at of systemSecrets) if (isReadable(at)) this.#table.deny(at, 'it holds the passwords of the system')
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
    if (!existsSync(at) || !this.#table.isHidden(at)) return
    if (this.#table.roots.some((root) => isWithin(at, root.path))) return
    this.#table.set({ op: 'ro', at, from: real(at) })
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
      this.#table.protectPath(place, {
        why: `it is ${what}`,
        unreadable,
        create:
          (isWorkspace || home) && folders.has(basename(path))
            ? 'folder'
            : home && startUpFiles.has(path) && !existsSync(join(root.path, '.git'))
              ? 'file'
              : isWorkspace || edit !== 'mode'
                ? 'absent'
                : 'allowed',
      })
      for (const name of except.filter((each) => each === 'worktrees')) {
        const open = join(place, name)
        if (!statOf(open)?.isDirectory()) continue
        this.#table.set({ op: 'rw', at: open, from: open })
        this.#table.opens.push(open)
      }
    }
    this.#gitDir(join(root.path, '.git'), isWorkspace)
    if (basename(root.path) === '.git') this.#gitDir(root.path, false)
    const found = finder(root.path, marksOf(profile, names)).finds(root.path)
    if (!found) this.#table.prompts.push(`${root.path} holds too many folders to search for protected files`)
    for (const each of found ?? []) this.#found(each)
  }

  #found({ path, kind }: Found): void {
    if (kind === 'git') this.#gitDir(path, false)
    else if (kind === 'secret') {
      if (!this.#isOpened(path))
        this.#table.deny(
          path,
          'a built-in rule keeps files that usually hold secrets from commands (sandbox.filesystem.allowRead opens one)',
        )
    } else if (!this.#table.has(path))
      this.#table.protectPath(path, { why: 'it is a protected name', unreadable: false, create: 'allowed' })
  }

  #gitDir(git: string, isWorkspace: boolean): void {
    const stat = statOf(git)
    const why = 'it decides which programs git runs'
    if (!stat || isEmpty(git, 'folder')) {
      if (isWorkspace) this.#table.ghost(git, why)
      return
    }
    if (!stat.isDirectory()) {
      this.#table.protectPath(git, { why, unreadable: false, create: 'allowed' })
      return
    }
    for (const name of gitControls) {
      const create = gitFolders.has(name) ? 'folder' : emptyGitFiles.has(name) ? 'file' : 'absent'
      const path = join(git, name)
      // the folder around a missing file is held, where nothing else in it is for commands to write
      const at =
        name.startsWith('info/') && !statOf(path) && statOf(dirname(path))?.isDirectory() ? dirname(path) : path
      this.#table.protectPath(at, { why, unreadable: false, create })
    }
    for (const path of configuredPaths(git)) {
      if (this.#table.roots.some((root) => isWithin(path, root.path)))
        this.#table.protectPath(path, {
          why,
          unreadable: false,
          create: emptyGitFiles.has(basename(path)) ? 'file' : 'absent',
        })
    }
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
          this.#table.prompts.push(`${each.why} covers too many folders to search`)
          continue
        }
        if (kind === 'write' && !each.paths)
          this.#locked.push({ why: each.why, before: new Set(paths), find: () => this.#matches(each) })
        for (const path of new Set([...paths, ...(each.folders ?? [])].map(real))) {
          if (kind === 'read' && !each.firm && this.#isOpened(path)) continue
          if (!statOf(path)) this.#refuseMissing(path, each)
          else if (kind === 'write') this.#refuseWrite(path, each.why)
          else this.#refuseRead(path, each)
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

  /** What is not there must not come into being. An empty folder can stand in for a folder; nothing can for a file. */
  #refuseMissing(path: string, { why, folders = [] }: Profile['noRead'][number]): void {
    if (!this.#table.roots.some((each) => isWithin(path, each.path))) return
    if (folders.includes(path) && statOf(dirname(path))?.isDirectory()) this.#table.ghost(path, why)
    else this.#table.absent.add(path)
  }

  #refuseWrite(path: string, why: string): void {
    if (this.#table.roots.some((each) => isWithin(path, each.path))) this.#table.readOnly(path, why)
    // a writable folder below it stays read-only, too
    for (const { path: inside } of this.#table.roots)
      if (inside !== path && isWithin(inside, path)) this.#table.readOnly(inside, why)
  }

  #refuseRead(path: string, { why, firm, empty }: Profile['noRead'][number]): void {
    const opened = firm
      ? []
      : this.#request.profile.read.filter((each) => each.path !== path && isWithin(each.path, path))
    for (const at of this.#table.paths)
      if (at !== path && isWithin(at, path) && !opened.some((each) => isWithin(at, each.path))) this.#table.remove(at)
    if (path === '/') {
      this.#table.prompts.push(`${why} covers the whole system`)
      return
    }
    if (empty) this.#table.hide(path, why)
    else this.#table.deny(path, why)
    for (const each of opened) {
      if (!existsSync(each.path)) continue
      this.#table.set({ op: 'ro', at: each.path, from: real(each.path) })
      this.#table.opens.push(each.path)
    }
  }
}

const nothing: Omit<Plan, 'problem'> = { mounts: [], ghosts: [], absent: [], locked: [], fences: [], prompts: [] }
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
  '.vscode',
  '.idea',
  '.husky',
  '.cargo',
  '.devcontainer',
  '.mvn',
  ...['.ssh', '.gnupg', 'autostart', 'systemd', 'fish', 'opencode', 'github-copilot'],
])
const gitFolders = new Set(['hooks', 'modules'])
/** Git reads an empty one as if it were not there; it commits neither. An empty `commondir` would break it. */
const emptyGitFiles = new Set(['config', 'config.worktree'])
/** In a home: what a shell reads in addition to others. An empty `.bash_profile` would keep it from `.profile`. */
const startUpFiles = new Set([
  ...['.bashrc', '.bash_aliases', '.bash_logout', '.profile', '.zshrc', '.zshenv', '.zprofile', '.zlogin', '.zlogout'],
])

const marksOf = ({ hideSecrets }: Profile, names: Profile['protect']): Marks => ({
  secrets: hideSecrets,
  names: new Set(names.filter(({ path }) => !path.includes('/')).map(({ path }) => path.toLowerCase())),
})
