import assert from 'node:assert/strict'
import { endianness } from 'node:os'
import { test } from 'node:test'
import { type Arch, seccompFilter } from './seccomp.ts'

/** A call as the kernel shows it to a filter. */
interface Call {
  readonly nr: number
  readonly arch?: number
  readonly args?: readonly number[]
}

const arches = { x64: 0xc000003e, arm64: 0xc00000b7 } as const

/** Runs the program as the kernel does: 32-bit loads, forward jumps, a verdict. */
function verdict(program: Buffer, { nr, arch, args = [] }: Required<Call>): string {
  const little = endianness() === 'LE'
  const u16 = (at: number) => (little ? program.readUInt16LE(at) : program.readUInt16BE(at))
  const u32 = (at: number) => (little ? program.readUInt32LE(at) : program.readUInt32BE(at))
  const word = (offset: number) =>
    offset === 0 ? nr : offset === 4 ? arch : (args[Math.floor((offset - 16) / 8)] ?? 0) >>> 0
  let a = 0
  for (let at = 0; at < program.length / 8; at++) {
    const [code, jt, jf, k] = [u16(at * 8), program[at * 8 + 2]!, program[at * 8 + 3]!, u32(at * 8 + 4)]
    if (code === 0x20) a = word(k)
    else if (code === 0x54) a &= k
    else if (code === 0x06) return verdicts[k >>> 0] ?? `errno ${k & 0xffff}`
    else {
      const holds = code === 0x15 ? a === k : code === 0x25 ? a > k : (a & k) !== 0
      at += holds ? jt : jf
    }
  }
  return 'ran off the end'
}
const verdicts: Record<number, string> = { 2147418112: 'allow', 2147483648: 'kill' }

const EPERM = 'errno 1'
const ENOSYS = 'errno 38'
const EAFNOSUPPORT = 'errno 97'

/** What the numbers mean is in the kernel's tables; [x64, arm64]. */
const rows: readonly (readonly [string, readonly [number, number], readonly number[], string])[] = [
  ['read', [0, 63], [], 'allow'],
  ['execve', [59, 221], [], 'allow'],
  ['ptrace', [101, 117], [], EPERM],
  ['process_vm_readv', [310, 270], [], EPERM],
  ['keyctl', [250, 219], [], EPERM],
  ['mount', [165, 40], [], EPERM],
  ['chroot', [161, 51], [], EPERM],
  ['unshare', [272, 97], [], EPERM],
  ['setns', [308, 268], [], EPERM],
  ['open_by_handle_at', [304, 265], [], EPERM],
  ['bpf', [321, 280], [], EPERM],
  ['io_uring_setup', [425, 425], [], ENOSYS],
  ['clone3', [435, 435], [], ENOSYS],
  ['openat2', [437, 437], [], ENOSYS],
  ['the call after the last known', [470, 470], [], ENOSYS],
  ['clone of a thread', [56, 220], [0x3d0f00], 'allow'],
  ['clone into a user namespace', [56, 220], [0x10000011], EPERM],
  ['clone into a mount namespace', [56, 220], [0x00020011], EPERM],
  ['fchmod 755', [91, 52], [3, 0o755], 'allow'],
  ['fchmod 4755', [91, 52], [3, 0o4755], EPERM],
  ['fchmodat 2755', [268, 53], [0, 0, 0o2755], EPERM],
  ['fchmodat2 4755', [452, 452], [0, 0, 0o4755], EPERM],
  ['mknodat 4755', [259, 33], [0, 0, 0o4755], EPERM],
  ['openat for reading, anything in the mode', [257, 56], [0, 0, 0, 0o4755], 'allow'],
  ['openat creating 4755', [257, 56], [0, 0, 0o101, 0o4755], EPERM],
  ['openat O_TMPFILE 4755', [257, 56], [0, 0, 0o20200002, 0o4755], EPERM],
  ['openat creating 644', [257, 56], [0, 0, 0o101, 0o644], 'allow'],
  ['ioctl TCGETS', [16, 29], [0, 0x5401], 'allow'],
  ['ioctl TIOCSTI', [16, 29], [0, 0x5412], EPERM],
  ['ioctl TIOCLINUX', [16, 29], [0, 0x541c], EPERM],
  ['socket AF_INET', [41, 198], [2, 1, 0], 'allow'],
  ['socket AF_INET6', [41, 198], [10, 1, 0], 'allow'],
  ['socket AF_UNIX', [41, 198], [1, 1, 0], EAFNOSUPPORT],
  ['socket AF_VSOCK', [41, 198], [40, 1, 0], EAFNOSUPPORT],
  ['socket AF_ALG', [41, 198], [38, 5, 0], EAFNOSUPPORT],
  ['socket AF_PACKET', [41, 198], [17, 3, 0], EAFNOSUPPORT],
  ['socket NETLINK_ROUTE', [41, 198], [16, 3, 0], 'allow'],
  ['socket NETLINK_NETFILTER', [41, 198], [16, 3, 12], EAFNOSUPPORT],
  ['socketpair of streams', [53, 199], [1, 1, 0], 'allow'],
  ['socketpair of streams, close-on-exec', [53, 199], [1, 0o2000001, 0], 'allow'],
  ['socketpair of packets in sequence', [53, 199], [1, 5, 0], 'allow'],
  ['socketpair of datagrams', [53, 199], [1, 0o2000002, 0], EAFNOSUPPORT],
  ['socketpair of raw sockets', [53, 199], [1, 3, 0], EAFNOSUPPORT],
  ['personality of Linux', [135, 92], [0], 'allow'],
  ['personality READ_IMPLIES_EXEC', [135, 92], [0x0400000], EPERM],
]

for (const arch of ['x64', 'arm64'] as const)
  test(`the filter for ${arch} answers every row of the table`, () => {
    const program = seccompFilter(arch, { unixSockets: false })
    const got = rows.map(([name, nr, args]) => [name, answer(arch, program, { nr: nr[arch === 'x64' ? 0 : 1], args })])
    assert.deepEqual(
      got,
      rows.map(([name, , , expected]) => [name, expected]),
    )
  })

test('calls of another architecture end the process', () => {
  const program = seccompFilter('x64', { unixSockets: false })
  assert.equal(answer('x64', program, { nr: 0, arch: 0x40000003 }), 'kill')
  assert.equal(answer('x64', program, { nr: 0x40000000 + 41 }), 'kill')
  assert.equal(answer('arm64', seccompFilter('arm64', { unixSockets: false }), { nr: 0, arch: 0x40000028 }), 'kill')
})

test('Unix sockets are allowed where the settings allow them', () => {
  assert.equal(answer('x64', seccompFilter('x64', { unixSockets: true }), { nr: 41, args: [1, 1, 0] }), 'allow')
  assert.equal(answer('x64', seccompFilter('x64', { unixSockets: true }), { nr: 53, args: [1, 2, 0] }), 'allow')
})

const answer = (name: Arch, program: Buffer, call: Call): string =>
  verdict(program, { arch: arches[name], args: [], ...call })
