/** Which hosts a sandboxed command may reach, and at which addresses. Pure, except for the resolver it is given. */
import { isPrivate } from '../../permissions/addresses.ts'
import { plainHost } from '../../permissions/rules/rule.ts'
import type { NamedHost, NetworkProfile } from '../profile.ts'

export type HostVerdict =
  | { readonly ok: true; readonly by: NamedHost }
  /** `unlisted`: a name that no list mentions, so that the user may be prompted for it. */
  | { readonly ok: false; readonly why: string; readonly unlisted?: string }

type Lists = Pick<NetworkProfile, 'allowed' | 'denied'>

/** A denial wins; `*.x` covers what is below `x`, `*` every name. An address counts only where it is listed itself. */
export function judgeHost(host: string, { allowed, denied }: Lists): HostVerdict {
  const name = plainHost(host)
  if (name === '' || /[^a-z0-9.:_-]/.test(name)) return { ok: false, why: `"${host}" is not a host name` }
  const no = denied.find((each) => covers(each.host, name))
  if (no) return { ok: false, why: `${name} is denied: ${no.why}` }
  const yes = allowed.find((each) => covers(each.host, name) && (!isAddress(name) || plainHost(each.host) === name))
  if (yes) return { ok: true, by: yes }
  return {
    ok: false,
    why: `${name} is not an allowed host; sandbox.network.allowedDomains or WebFetch(domain:${name}) adds it`,
    ...(!isAddress(name) && !localName.test(name) && { unlisted: name }),
  }
}

function covers(pattern: string, name: string): boolean {
  if (pattern === '*') return true
  if (pattern.startsWith('*.')) return name.endsWith(plainHost(pattern.slice(1))) && name.length > pattern.length - 1
  return plainHost(pattern) === name
}

const isAddress = (name: string): boolean => /^[\d.]+$/.test(name) || name.includes(':') || /^0x/.test(name)

/** Names that mean a place in the local network: only these may lead to a private address, and only when listed themselves. */
const localName = /^(?:[^.]+|(?:.+\.)?(?:localhost|local|internal|intranet|lan|corp|home|home\.arpa))$/

/**
 * The addresses to connect to. A public name that resolves to a private address is refused: whoever runs its name server
 * would otherwise reach this machine and its network.
 */
export async function addressesOf(
  host: string,
  { by }: { readonly by: NamedHost },
  lookup: (host: string) => Promise<readonly string[]>,
): Promise<{ ok: true; addresses: readonly string[] } | { ok: false; why: string }> {
  const name = plainHost(host)
  let addresses: readonly string[]
  try {
    addresses = await lookup(name)
  } catch (error) {
    return { ok: false, why: `${name} cannot be resolved: ${(error as Error).message}` }
  }
  const mayBePrivate = plainHost(by.host) === name && (isAddress(name) || localName.test(name))
  const inside = addresses.find(isPrivate)
  if (inside !== undefined && !mayBePrivate)
    return { ok: false, why: `${name} resolves to ${inside}, which is a private, loopback or special address` }
  return addresses.length > 0 ? { ok: true, addresses } : { ok: false, why: `${name} has no address` }
}
