/**
 * Paths that govern the agent, its record, or what runs later on this machine. One list: permission rules apply it to every
 * tool, and the sandbox mounts it read-only.
 */
import { join } from 'node:path'
import { literal } from './wildcard.ts'

/**
 * What a tool that would change the path gets, whatever the allow rules and the mode say:
 * - `deny`: nothing lifts it; the user edits the file, or uses the command that owns it.
 * - `ask`: a prompt, unless an allow rule names the path itself (`Edit(.ona/skills/**)`).
 * - `mode`: no mode accepts it, but an ordinary allow rule and bypassPermissions do.
 */
export type Protection = 'deny' | 'ask' | 'mode'

export interface ProtectedPath {
  /** `home`: below the user's home. `anywhere`: below any folder. `exact`: this absolute path. */
  readonly at: 'home' | 'anywhere' | 'exact'
  /** A file, or a folder with everything in it. */
  readonly path: string
  readonly edit: Protection
  /** Set where reading is restricted too. */
  readonly read?: 'deny'
  /** Folders and files directly in it that have a protection of their own, or none. */
  readonly except?: readonly string[]
  /** For messages: "… is ona's stored credential". */
  readonly what: string
}

const rows = (
  at: ProtectedPath['at'],
  edit: Protection,
  what: string,
  paths: readonly string[],
): readonly ProtectedPath[] => paths.map((path) => ({ at, path, edit, what }))

/** Definitions that a user may want written by the agent, with a prompt each time. */
const definitions = ['agents', 'skills', 'commands', 'output-styles', 'ONA.md']
/** Files that the agent works on: copies of the project. */
const workspaces = ['worktrees']

export const protectedPaths: readonly ProtectedPath[] = [
  { at: 'home', path: '.ona/credentials.json', edit: 'deny', read: 'deny', what: "ona's stored credential" },
  { at: 'home', path: '.ona/mcp-credentials.json', edit: 'deny', read: 'deny', what: "ona's stored credential" },
  {
    at: 'home',
    path: '.ona',
    edit: 'deny',
    except: [...definitions, ...workspaces],
    what: "part of ona's settings, trust, record or credentials",
  },
  ...rows(
    'home',
    'ask',
    'a definition that later sessions load',
    definitions.map((name) => `.ona/${name}`),
  ),
  ...rows('exact', 'deny', 'managed settings', [
    '/etc/ona',
    '/etc/claude-code',
    '/Library/Application Support/ona',
    '/Library/Application Support/ClaudeCode',
  ]),
  {
    at: 'anywhere',
    path: '.ona',
    edit: 'ask',
    except: workspaces,
    what: 'part of the settings, hooks and definitions of ona',
  },
  {
    at: 'anywhere',
    path: '.claude',
    edit: 'ask',
    except: workspaces,
    what: 'part of the settings, hooks and definitions of ona and Claude Code',
  },
  ...rows('anywhere', 'ask', 'the configuration of a coding agent', [
    ...['.claude.json', '.mcp.json', '.codex', '.gemini', '.cursor', '.opencode', 'opencode.json', 'opencode.jsonc'],
    ...['.config/opencode', '.copilot', '.config/github-copilot', '.github/hooks', '.github/copilot'],
  ]),
  ...rows('anywhere', 'ask', 'git configuration that can run programs', [
    ...['.git/hooks', '.git/config', '.git/config.worktree', '.git/info/attributes', '.git/modules'],
    ...['.gitconfig', '.config/git'],
  ]),
  ...rows('home', 'ask', 'a file that starts programs at login', [
    ...['.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.profile', '.inputrc'],
    ...['.zshrc', '.zprofile', '.zshenv', '.zlogin', '.zlogout', '.config/fish', '.xprofile', '.xsessionrc'],
    ...['.config/autostart', '.config/systemd', 'Library/LaunchAgents', '.pam_environment', '.tmux.conf', '.vimrc'],
    ...['.ssh', '.gnupg'],
  ]),
  ...rows('anywhere', 'mode', 'a file that can run programs', [
    ...['.git', '.gitmodules', '.vscode', '.idea', '.husky', '.cargo', '.devcontainer', '.yarn', '.mvn', '.npmrc'],
    ...['.envrc', '.ripgreprc', '.bashrc', '.bash_profile', '.zshrc', '.zprofile', '.zshenv', '.profile'],
  ]),
]

/** What only a session knows: where its record is, and what its hooks and guards execute. */
export interface SessionProtection {
  /** The SQLite file; its `-wal` and `-shm` follow. */
  readonly database?: string
  /** Absolute paths of the scripts and programs that hooks run from files the agent could edit. */
  readonly hookFiles?: readonly string[]
  /** Folders that hooks, agents, skills and servers are loaded from. */
  readonly plugins?: readonly string[]
}

export function sessionProtectedPaths({
  database,
  hookFiles = [],
  plugins = [],
}: SessionProtection): readonly ProtectedPath[] {
  const record = database === undefined ? [] : [database, `${database}-wal`, `${database}-shm`, `${database}-journal`]
  return [
    ...rows('exact', 'deny', "ona's database", record),
    ...rows('exact', 'ask', 'a file that a hook runs', hookFiles),
    ...rows('exact', 'ask', 'part of a plugin', plugins),
  ]
}

/** The row that protects an absolute, normal path; the strictest where several do. */
export function protectionOf(
  path: string,
  home: string,
  session: readonly ProtectedPath[] = none,
): ProtectedPath | undefined {
  if (!mayBeProtected(path, home, session)) return undefined
  const known = knownRows(home, session)
  const folded = path.toLowerCase()
  let found: ProtectedPath | undefined
  for (const each of known.rows) {
    const { row } = each
    if (found && strictness[row.edit] <= strictness[found.edit] && !(row.read && !found.read)) continue
    if (covers(each, folded)) found = row
  }
  return found
}

/** Whether one of the rows names the path, whatever it excepts: most paths are in none. */
export function mayBeProtected(path: string, home: string, session: readonly ProtectedPath[] = none): boolean {
  const folded = path.toLowerCase()
  const { heads, any } = knownRows(home, session)
  return heads.test(folded) && any.test(folded)
}

const none: readonly ProtectedPath[] = []
const strictness: Record<Protection, number> = { mode: 0, ask: 1, deny: 2 }

/** Rows with what they are compared by. */
interface KnownRows {
  readonly home: string
  readonly rows: readonly Folded[]
  /** Matches every path that one of the rows names, whatever it excepts. */
  readonly any: RegExp
  /** Matches all of those and some more, faster: a name with a dot in front, or a row without one. */
  readonly heads: RegExp
}

interface Folded {
  readonly row: ProtectedPath
  readonly folder: string
  readonly anywhere: boolean
  readonly except: readonly string[]
}

const knownBySession = new WeakMap<readonly ProtectedPath[], KnownRows>()

function knownRows(home: string, session: readonly ProtectedPath[]): KnownRows {
  const before = knownBySession.get(session)
  if (before?.home === home) return before
  const rows = [...session, ...protectedPaths].map((row) => {
    const { at, path, except = [] } = row
    const folder = (at === 'anywhere' ? `/${path}` : at === 'home' ? join(home, path) : path).toLowerCase()
    return { row, folder, anywhere: at === 'anywhere', except: except.map((name) => name.toLowerCase()) }
  })
  const named = (anywhere: boolean) =>
    rows.flatMap((each) => (each.anywhere === anywhere ? [literal(each.folder)] : [])).join('|')
  const heads = new Set(rows.map(({ folder }) => (folder.includes('/.') ? '/.' : folder)))
  const known = {
    home,
    rows,
    heads: new RegExp([...heads].map(literal).join('|')),
    any: new RegExp(`(?:^(?:${named(false)})|(?:${named(true)}))(?:/|$)`),
  }
  knownBySession.set(session, known)
  return known
}

/** Names are compared without case: on some file systems `.GIT` is `.git`. */
function covers({ folder, anywhere, except }: Folded, folded: string): boolean {
  if (!anywhere && !folded.startsWith(folder)) return false
  for (let found = folded.indexOf(folder); found >= 0; found = folded.indexOf(folder, found + 1)) {
    if (!anywhere && found > 0) return false
    const rest = folded.slice(found + folder.length)
    if (rest !== '' && !rest.startsWith('/')) continue
    const inside = rest.split('/')[1] ?? ''
    if (!except.includes(inside)) return true
  }
  return false
}
