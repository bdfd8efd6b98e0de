/** What a sandbox would let a command do, and why: for people. */
import type { Cell } from './fence.ts'

export interface Summary {
  readonly writable: readonly Line[]
  readonly closed: readonly (Line & { readonly kind: 'read' | 'write' })[]
  readonly opened: readonly Line[]
  readonly hosts: readonly Line[]
  readonly denied: readonly Line[]
  readonly sockets: readonly Line[]
  /** What must not come into being while a command runs. */
  readonly watched: readonly string[]
  /** Why a command is prompted for although it is sandboxed. */
  readonly prompts: readonly string[]
  /** Settings without effect. */
  readonly ignored: readonly string[]
  readonly profile: string
}
interface Line {
  readonly what: string
  readonly why: string
}

export function summaryOf({ profile, plan, digest }: Cell): Summary {
  const { network } = profile
  const named = (each: { path: string; why: string }): Line => ({ what: each.path, why: each.why })
  const host = (each: { host: string; why: string }): Line => ({ what: each.host, why: each.why })
  return {
    writable: profile.write.map(named),
    closed: plan.fences.map((each) => ({ ...named(each), kind: each.kind })),
    opened: profile.read.map(named),
    hosts: network.allowed.map(host),
    denied: network.denied.map(host),
    sockets: network.allUnixSockets
      ? [{ what: 'every Unix socket that can be seen', why: 'sandbox.network.allowAllUnixSockets' }]
      : network.unixSockets.map(named),
    watched: plan.absent,
    prompts: plan.prompts,
    ignored: profile.ignored,
    profile: digest,
  }
}

export function summaryText(summary: Summary): string {
  const section = (title: string, lines: readonly Line[], none?: string): string[] =>
    lines.length > 0
      ? [title, ...lines.map(({ what, why }) => `  ${what}  (${why})`)]
      : none === undefined
        ? []
        : [title, `  ${none}`]
  const closed = (kind: 'read' | 'write') => summary.closed.filter((each) => each.kind === kind)
  return [
    ...section('writable', summary.writable),
    ...section('not writable', closed('write')),
    ...section('not readable', closed('read')),
    ...section('readable all the same', summary.opened),
    ...section('hosts', summary.hosts, 'none'),
    ...section('denied hosts', summary.denied),
    ...section('Unix sockets', summary.sockets),
    ...section(
      'ends a command that creates it',
      summary.watched.map((what) => ({ what, why: 'it is protected' })),
    ),
    ...section(
      'prompted for',
      summary.prompts.map((what) => ({ what, why: 'a profile cannot express it' })),
    ),
    ...(summary.ignored.length > 0 ? ['without effect', ...summary.ignored.map((each) => `  ${each}`)] : []),
    `profile ${summary.profile}`,
  ].join('\n')
}
