/**
 * A plan as a Seatbelt profile for macOS (`sandbox-exec -p`): pure text. It is generated and compared in tests; nobody has
 * run it on macOS yet, so the sandbox is not available there.
 */

import type { NetworkProfile } from '../profile.ts'
import type { Mount } from './table.ts'

export interface SeatbeltRequest {
  readonly mounts: readonly Mount[]
  /** What must not be created. */
  readonly absent: readonly string[]
  readonly network: NetworkProfile
  /** Where the proxy listens on loopback, when hosts are allowed. */
  readonly proxyPort?: number
}

/** Later lines win, so the list goes from the widest to the narrowest, in the order of the mounts. */
export function seatbeltProfile({ mounts, absent, network, proxyPort }: SeatbeltRequest): string {
  return [
    '(version 1)',
    '(deny default)',
    ...['process-exec', 'process-fork', 'signal (target same-sandbox)', 'sysctl-read', 'mach-lookup'].map(
      (what) => `(allow ${what})`,
    ),
    ...mounts.flatMap(linesOf),
    ...absent.map((path) => `(deny file-write* (subpath ${quoted(path)}))`),
    ...(network.localBinding
      ? ['(allow network-bind (local ip "localhost:*"))', '(allow network-inbound (local ip "localhost:*"))']
      : []),
    ...(proxyPort === undefined ? [] : [`(allow network-outbound (remote ip "localhost:${proxyPort}"))`]),
    ...(network.allUnixSockets ? ['(allow network-outbound (subpath "/"))'] : []),
    ...network.unixSockets.map(({ path }) => `(allow network-outbound (literal ${quoted(path)}))`),
  ].join('\n')
}

function linesOf(mount: Mount): string[] {
  const place = `(subpath ${quoted(mount.at)})`
  switch (mount.op) {
    case 'ro':
      return [`(allow file-read* ${place})`, `(deny file-write* ${place})`]
    case 'rw':
      return [`(allow file-read* file-write* ${place})`]
    case 'seal':
      return []
    case 'blank':
      return [`(deny file-write* ${place})`]
    default:
      return [`(deny file-read* file-write* ${place})`]
  }
}

/** A string of the profile language: a path cannot end it. */
const quoted = (path: string): string => `"${path.replace(/[\\"]/g, '\\$&')}"`
