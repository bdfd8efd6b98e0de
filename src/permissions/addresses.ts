/** Addresses that are not the public internet: WebFetch does not reach them unless a rule names them. */

const { BlockList, isIP } = process.getBuiltinModule('node:net')

/** By the special-purpose registries of IANA (RFC 6890 and its updates). */
const ranges: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]

const blocked = new BlockList()
for (const [network, prefix] of ranges) blocked.addSubnet(network, prefix, network.includes(':') ? 'ipv6' : 'ipv4')

/**
 * True for private, loopback, link-local and other special addresses, and for what is no address at all. An IPv4 address within an
 * IPv6 one (`::ffff:10.0.0.1`) is looked up as what it is: `BlockList` does so itself.
 */
export function isPrivate(address: string): boolean {
  const plain = address.replace(/%.*/s, '')
  const version = isIP(plain)
  return version === 0 || blocked.check(plain, version === 4 ? 'ipv4' : 'ipv6')
}
