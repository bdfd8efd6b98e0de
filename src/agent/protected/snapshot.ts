/**
 * The files that govern agents on this machine, as they are at one moment: settings, definitions, git hooks and
 * configuration, and what hooks run. Two snapshots tell what a command changed without naming it.
 */
import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { type ProtectedPath, protectedPaths } from '../../permissions/protected-paths.ts'
import { gitControls, outerGitDir } from '../../sandbox/mounts/git-dirs.ts'

export interface Watched {
  readonly home: string
  /** Folders that settings are read from. */
  readonly roots: readonly string[]
  /** Rows of the session: files that hooks run. */
  readonly protect: readonly ProtectedPath[]
}

export type Kept =
  | { readonly kind: 'file'; readonly content: Buffer | undefined; readonly mode: number; readonly meaning: string }
  | { readonly kind: 'link'; readonly to: string }
  | { readonly kind: 'folder' }

export type Snapshot = ReadonlyMap<string, Kept>

/** Larger files, and more of them, are compared by their stamps alone: they cannot be put back. */
const largest = 1 << 20
const mostFiles = 2000

export function snapshotOf(watched: Watched): Snapshot {
  const found = new Map<string, Kept>()
  for (const path of placesOf(watched)) add(found, path)
  return found
}

/** Paths that differ, those above before those below. */
export function changesBetween(before: Snapshot, after: Snapshot): string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort()
  return paths.filter((path) => !isSame(before.get(path), after.get(path)))
}

function isSame(a: Kept | undefined, b: Kept | undefined): boolean {
  if (!a || !b) return a === b || (a ?? b)!.kind === 'folder'
  if (a.kind !== b.kind) return false
  if (a.kind === 'link') return a.to === (b as typeof a).to
  return a.kind === 'folder' || (a.meaning === (b as typeof a).meaning && a.mode === (b as typeof a).mode)
}

/** In a home: what starts programs or is read by ona. Other programs keep their logs and state there, too. */
const inHome = [
  ...['.ona/settings.json', '.ona/trust.json', '.ona/agents', '.ona/skills', '.ona/commands', '.ona/output-styles'],
  ...[
    '.ona/ONA.md',
    '.claude/settings.json',
    '.claude/agents',
    '.claude/skills',
    '.claude/commands',
    '.claude/CLAUDE.md',
  ],
  ...['.ssh/authorized_keys', '.ssh/config', '.ssh/rc', '.gitconfig', '.config/git/config', '.config/autostart'],
]

function placesOf({ home, roots, protect }: Watched): Set<string> {
  const places = new Set<string>()
  const repositories = roots.flatMap((root) => outerGitDir(root, home) ?? join(root, '.git'))
  for (const { at, path, edit } of [...protect, ...protectedPaths]) {
    if (at === 'exact' && edit === 'ask') places.add(path)
    if (at === 'home' && edit === 'ask' && !path.includes('/') && !folders.test(path)) places.add(join(home, path))
    if (at === 'anywhere' && edit === 'ask' && !path.startsWith('.git/'))
      for (const root of roots) if (root !== home) places.add(join(root, path))
  }
  for (const git of repositories) for (const name of gitControls) if (name !== 'modules') places.add(join(git, name))
  for (const path of inHome) places.add(join(home, path))
  return places
}

/** Folders of keys, which other programs write all the time. */
const folders = /^\.(ssh|gnupg)$/
/** Copies of projects, with files of their own. */
const passedOver = new Set(['worktrees', 'node_modules'])

function add(found: Map<string, Kept>, path: string): void {
  const stat = lstatOf(path)
  if (!stat || found.size >= mostFiles) return
  if (stat.isSymbolicLink()) found.set(path, { kind: 'link', to: readlinkSync(path) })
  else if (stat.isFile()) found.set(path, fileOf(path, stat))
  else if (stat.isDirectory()) {
    found.set(path, { kind: 'folder' })
    for (const name of entriesOf(path)) if (!passedOver.has(name)) add(found, join(path, name))
  }
}

const read = new Map<string, { readonly stamp: string; readonly kept: Kept }>()

/** Read again only when it was changed since. */
function fileOf(path: string, stat: Stats): Kept {
  const stamp = `${stat.ino} ${stat.ctimeMs} ${stat.size} ${stat.mode}`
  const known = read.get(path)
  if (known?.stamp === stamp) return known.kept
  const content = stat.size <= largest ? contentOf(path) : undefined
  const meaning = content === undefined ? stamp : meaningOf(path, content)
  const kept: Kept = { kind: 'file', content, mode: stat.mode & 0o7777, meaning }
  read.set(path, { stamp, kept })
  return kept
}

/** Of git's configuration what can run a program: git itself writes branches and remotes all the time. */
function meaningOf(path: string, content: Buffer): string {
  if (!/(^|\/)config(\.worktree)?$/.test(path) || !/\/\.git(\/|$)/.test(dirname(path)))
    return content.toString('latin1')
  const kept: string[] = []
  let section = ''
  for (const line of content.toString('utf8').split('\n')) {
    section = /^\s*\[\s*([\w.-]+)/.exec(line)?.[1]?.toLowerCase() ?? section
    const plain =
      /^(branch|user)$/.test(section) ||
      (section === 'remote' && /^\s*(\[|(push)?url\s*=(?!.*::)|fetch\s*=)/i.test(line))
    if (!plain && line.trim() !== '') kept.push(line)
  }
  return kept.join('\n')
}

function lstatOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined // through a file, or not ours to look at
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // not ours to list
  }
}

function contentOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined // not ours to read, or just gone
  }
}
