/** What a failed command ran into: the path or host that its output names, and the rule behind it. */
import { existsSync } from 'node:fs'
import { isAbsolute, join, normalize } from 'node:path'
import { isWithin } from '../permissions/paths/pattern.ts'
import type { Cell } from './fence.ts'

/** One line each, for the model and for the user; none when the output names nothing that the sandbox keeps away. */
export function fenceNotes(output: string, cell: Cell, cwd: string, home: string): string[] {
  const notes = new Map<string, string>()
  for (const line of output.split('\n').slice(0, mostLines)) {
    for (const host of hostsIn(line)) notes.set(host, networkNote(host, cell))
    const socket = socketIn(line, cell)
    if (socket !== undefined)
      notes.set(
        socket,
        `${socket} cannot be reached: commands use no Unix sockets; sandbox.network.allowUnixSockets adds one`,
      )
    const kind = kindOf(line)
    if (kind === undefined) continue
    const told = pathsIn(line.replace(speaker, ''), cwd, home)
    for (const path of told.length > 0 || program.test(line) ? told : pathsIn(line, cwd, home)) {
      const why = reason(path, kind, cell)
      if (why !== undefined)
        notes.set(path, `${path} cannot be ${isWrite(path, kind, cell) ? 'written' : 'read'}: ${why}`)
    }
  }
  return [...notes.values()].slice(0, mostNotes)
}

/** Who speaks: `/bin/bash: line 1:`, `cat:`. */
const speaker = /^\S+: (?:line \d+: )?/
/** Where a path comes first that is no program, the line is about it: `/home/ada/x: Permission denied`. */
const program = /^(?:[^/\s]*|\/(?:usr|bin|sbin|opt|nix)\/\S*): |: line \d+: /
const mostLines = 400
const mostNotes = 5

/** `EPERM` and `EROFS` speak of writing; `EACCES` and `ENOENT` of a place that is closed or not there. */
function kindOf(line: string): 'read' | 'write' | 'any' | undefined {
  if (/Read-only file system|EROFS|Operation not permitted|EPERM|Device or resource busy|EBUSY/i.test(line))
    return 'write'
  if (/Permission denied|EACCES/i.test(line)) return 'any'
  if (/No such file or directory|ENOENT|not found/i.test(line)) return 'read'
  return undefined
}

/** Where a path is only not there, permission is denied to whoever creates it; a closed one cannot be read either. */
const isWrite = (path: string, kind: 'read' | 'write' | 'any', { plan }: Cell): boolean =>
  kind === 'write' || (kind === 'any' && !plan.mounts.some(({ op, at }) => op === 'deny' && isWithin(path, at)))

function reason(path: string, kind: 'read' | 'write' | 'any', { plan, profile }: Cell): string | undefined {
  const fence = plan.fences
    .filter((each) => isWithin(path, each.path) && (kind === 'any' || kind === each.kind || each.kind === 'read'))
    .sort((a, b) => b.path.length - a.path.length)[0]
  const root = profile.write.some((each) => isWithin(path, each.path))
  if (fence && (fence.kind === 'write' || !root || fence.path.length > 1)) {
    // not there outside either: the sandbox is not the reason
    if (kind === 'read' && !existsSync(path)) return undefined
    if (
      !plan.mounts.some(
        ({ op, at }) => op === 'rw' && isWithin(path, at) && isWithin(at, fence.path) && at !== fence.path,
      )
    )
      return fence.why
  }
  if (kind === 'write' && !root)
    return `it is outside the folders that commands may write (${profile.write.map((each) => each.path).join(', ')}); sandbox.filesystem.allowWrite adds one`
  return undefined
}

/** Paths as error messages write them: quoted, after a colon, or as a word with a slash. */
function pathsIn(line: string, cwd: string, home: string): string[] {
  const words = [
    ...[...line.matchAll(/['"‘`]([^'"’`]+)['"’`]/g)].map((match) => match[1]!),
    ...line.split(/[\s:=,()[\]]+/).map((word) => word.replace(/^['"‘`]+|['"’`.]+$/g, '')),
  ]
  const paths = words
    .filter((word) => word.length > 1 && word.length < 4096 && /[/.]/.test(word) && !word.includes('\0'))
    .map((word) => (word.startsWith('~/') ? join(home, word.slice(2)) : isAbsolute(word) ? word : join(cwd, word)))
    .map((path) => normalize(path).replace(/(.)\/$/, '$1'))
  return [...new Set(paths)]
}

/** The Unix socket that a line complains about: the filter refuses the family, or the socket is not part of the sandbox. */
function socketIn(line: string, { profile: { network } }: Cell): string | undefined {
  if (network.allUnixSockets || network.unixSockets.length > 0) return undefined
  const path = /(?:unix:\/\/)?(\/[\w./@-]*sock(?:et)?)\b/.exec(line)?.[1]
  if (/Address family not supported|EAFNOSUPPORT/i.test(line)) return path ?? 'a socket'
  return /cannot connect|failed to connect|could not connect|connect E[A-Z]+/i.test(line) ? path : undefined
}

const hostPatterns = [
  /Could not resolve host: ([\w.-]+)/i,
  /Could not resolve hostname ([\w.-]+)/i,
  /unable to resolve host address ['‘]?([\w.-]+)/i,
  /getaddrinfo (?:ENOTFOUND|EAI_AGAIN) ([\w.-]+)/,
  /Failed to resolve '([\w.-]+)'/,
  /Failed to connect to ([\w.-]+)/i,
  /connect to host ([\w.-]+) port/i,
  /Could not resolve ['"]?([\w.-]+\.\w+)/i,
  /x-ona-sandbox-denied: ([\w.:-]+)/i,
  /lookup ([\w.-]+\.\w+)(?: on|:)/,
]

const hostsIn = (line: string): string[] =>
  hostPatterns.flatMap((pattern) => pattern.exec(line)?.[1] ?? []).filter((host) => !/^(localhost|127\.)/.test(host))

function networkNote(host: string, { profile: { network } }: Cell): string {
  const denied = network.denied.find((each) => each.host === host || each.host === '*')
  if (denied) return `${host} cannot be reached: ${denied.why}`
  const rest =
    network.allowed.length === 0
      ? 'no host is allowed'
      : `allowed are ${network.allowed.map((each) => each.host).join(', ')}`
  return `${host} cannot be reached: ${rest}; sandbox.network.allowedDomains or an allow rule WebFetch(domain:${host}) adds it`
}
