/** bubblewrap's arguments for a plan: pure, one line each. */
import type { Mount } from './table.ts'

export interface BwrapRequest {
  readonly mounts: readonly Mount[]
  /** Where `deny-file` and `deny-folder` are. */
  readonly state: string
  readonly cwd: string
  /** The descriptor that the seccomp filter is read from. */
  readonly filterFd: number
  /** The command joins a network namespace that is already there. */
  readonly sharedNetwork?: boolean
  /** For root the switches of the kernel are files below /proc that it may write. */
  readonly asRoot?: boolean
}

/** Everything before the command's own words. */
export function bwrapArgs({ mounts, state, cwd, filterFd, sharedNetwork, asRoot }: BwrapRequest): string[] {
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(sharedNetwork ? [] : ['--unshare-net']),
    ...['--hostname', 'sandbox', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...mounts.filter(({ at }) => at === '/').flatMap((mount) => mountArgs(mount, state)),
    ...['--dev', '/dev', '--proc', '/proc'],
    ...(asRoot ? ['--remount-ro', '/proc'] : []),
    ...mounts.filter(({ at }) => at !== '/').flatMap((mount) => mountArgs(mount, state)),
    ...['--chdir', cwd, '--seccomp', String(filterFd), '--'],
  ]
}

function mountArgs(mount: Mount, state: string): string[] {
  switch (mount.op) {
    case 'ro':
    case 'rw':
      return [mount.op === 'ro' ? '--ro-bind' : '--bind', mount.from, mount.at]
    case 'deny':
      return ['--ro-bind', `${state}/${mount.folder ? 'deny-folder' : 'deny-file'}`, mount.at]
    case 'blank':
      return blankArgs(mount.at)
    default:
      return [mount.op === 'empty' ? '--tmpfs' : '--remount-ro', mount.at]
  }
}

/**
 * An empty folder of the command's own. For a bind bubblewrap reads the whole list of mounts again, which makes it three times
 * as expensive; what a command writes here after a `chmod` is in memory, and gone with it.
 */
export const blankArgs = (at: string): string[] => ['--perms', '0555', '--tmpfs', at]
