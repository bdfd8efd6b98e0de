/** Other programs than Bash commands in the sandbox: hooks, MCP servers and the scripts of test cases. */
import { type ProtectedPath, sessionProtectedPaths } from '../permissions/protected-paths.ts'
import type { PermissionSettings } from '../permissions/question.ts'
import type { Fence } from './fence.ts'
import { outerGitDir } from './mounts/git-dirs.ts'
import { closedPath, type Profile } from './profile.ts'

export interface WrapPlace {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

export interface Wrapped {
  readonly words: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** No sandbox could be made: a folder that the program must leave as it is. */
  readonly unheld?: string
}

/** Rejects when the program cannot be sandboxed: it must not run then. */
export type Wrap = (words: readonly string[], place: WrapPlace) => Promise<Wrapped>

interface Scope {
  readonly permissions: PermissionSettings
  readonly projectDir: string
  readonly home: string
  /** What only the session protects: files that hooks run. */
  readonly protect?: readonly ProtectedPath[] | undefined
}

/** As a Bash command of the session would run. */
export const wrapIn =
  (fence: Fence, scope: () => Scope): Wrap =>
  async (words, place) => {
    const { permissions, projectDir, protect } = scope()
    const cell = await fence.cell({ permissions, projectDir, ...place, ...(protect && { protect }) })
    fence.guard(cell)
    return { words: cell.argv(words), env: cell.env }
  }

/**
 * A test script: it writes in `folder`, reads the copy of the project that it is given, and finds neither the project
 * itself, nor its history, nor the record, nor a network. What the scripts of a blind test phase may see is decided by the
 * copy alone; what earlier commands left in the temporary folder of the session is not there either.
 */
export const wrapScript =
  (fence: Fence, { permissions, projectDir, home }: Scope) =>
  async (
    words: readonly string[],
    { folder, copy, packages, ...place }: WrapPlace & { folder: string; copy: string; packages?: string },
  ): Promise<Wrapped> => {
    const why = 'a test case does not see the project, only its copy'
    const adapt = (profile: Profile): Profile => ({
      ...withoutProject(profile, { projectDir, home, why, database: fence.database }),
      write: [{ path: folder, why: 'the folder of the test case' }],
      read: [copy, ...(packages === undefined ? [] : [packages])].map((path) => ({ path, why })),
    })
    const cell = await fence.cell({ permissions, projectDir, ...place, adapt, tmp: folder })
    // the case's own folders and record, as it sees them
    return { words: cell.argv(words), env: { ...cell.env, ...place.env } }
  }

/**
 * A hook of the session that writes tests without sight of the code: it finds the files that hooks run, and of the project
 * nothing else. `tmp` is a folder of its own.
 */
export const wrapBlindHook =
  (fence: Fence, { permissions, projectDir, home }: Scope, { opened, closed, tmp }: BlindHook): Wrap =>
  async (words, place) => {
    const why = 'a hook of the test phase does not see the project'
    const adapt = (profile: Profile): Profile => {
      const { noRead, ...rest } = withoutProject(profile, { projectDir, home, why, database: fence.database })
      const code = closed.map((path) => ({ ...closedPath(path, why), firm: true as const }))
      return { ...rest, noRead: [...noRead, ...code], write: [], read: opened.map((path) => ({ path, why })) }
    }
    const cell = await fence.cell({ permissions, projectDir, ...place, adapt, tmp })
    return { words: cell.argv(words), env: cell.env }
  }

export interface BlindHook {
  /** Files and folders that hooks run. */
  readonly opened: readonly string[]
  /** The code, also where it lies below one of these. */
  readonly closed: readonly string[]
  readonly tmp: string
}

/** Without the project, its history, the record of what was done to it, and a network. */
function withoutProject(
  profile: Profile,
  { projectDir, home, why, database }: { projectDir: string; home: string; why: string; database: string | undefined },
): Profile {
  const git = outerGitDir(projectDir, home)
  const record = sessionProtectedPaths({ database }).map(({ path }) => path)
  return {
    ...profile,
    noRead: [
      ...profile.noRead,
      { ...closedPath(projectDir, why), empty: true },
      ...[...(git ? [git] : []), ...record].map((path) => closedPath(path, why)),
    ],
    hideSecrets: false,
    network: { allowed: [], denied: [], unixSockets: [], allUnixSockets: false, localBinding: false, asks: false },
  }
}
