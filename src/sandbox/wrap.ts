/** Other programs than Bash commands in the sandbox: hooks, MCP servers and the scripts of test cases. */
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
}

/** As a Bash command of the session would run. */
export const wrapIn =
  (fence: Fence, scope: () => Scope): Wrap =>
  async (words, place) => {
    const { permissions, projectDir } = scope()
    const cell = await fence.cell({ permissions, projectDir, ...place })
    fence.guard(cell)
    return { words: cell.argv(words), env: cell.env }
  }

/**
 * A test script: it writes in `folder`, reads the copy of the project that it is given, and finds neither the project
 * itself, nor its history, nor a network. What the scripts of a blind test phase may see is decided by the copy alone.
 */
export const wrapScript =
  (fence: Fence, { permissions, projectDir, home }: Scope) =>
  async (
    words: readonly string[],
    { folder, copy, packages, ...place }: WrapPlace & { folder: string; copy: string; packages?: string },
  ): Promise<Wrapped> => {
    const adapt = (profile: Profile) =>
      blind(profile, { projectDir, home, folder, copy, ...(packages !== undefined && { packages }) })
    const cell = await fence.cell({ permissions, projectDir, ...place, adapt })
    // the case's own folders and record, as it sees them
    return { words: cell.argv(words), env: { ...cell.env, ...place.env } }
  }

interface Blind {
  readonly projectDir: string
  readonly home: string
  readonly folder: string
  readonly copy: string
  /** The copy of the installed packages. */
  readonly packages?: string
}

function blind(profile: Profile, { projectDir, home, folder, copy, packages }: Blind): Profile {
  const why = 'a test case does not see the project, only its copy'
  const git = outerGitDir(projectDir, home)
  return {
    ...profile,
    write: [{ path: folder, why: 'the folder of the test case' }],
    read: [copy, ...(packages === undefined ? [] : [packages])].map((path) => ({ path, why })),
    noRead: [...profile.noRead, closedPath(projectDir, why), ...(git ? [closedPath(git, why)] : [])],
    hideSecrets: false,
    network: { allowed: [], denied: [], unixSockets: [], allUnixSockets: false, localBinding: false, asks: false },
  }
}
