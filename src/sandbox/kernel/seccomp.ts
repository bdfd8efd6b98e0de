/**
 * The system calls that a sandboxed command cannot make: a seccomp filter as the bytes that bubblewrap loads. Mounts and
 * namespaces decide what a command sees; this closes the kernel's side doors.
 */
import { endianness } from 'node:os'

export type Arch = 'x64' | 'arm64'

export interface SeccompOptions {
  /** Whether a command may open AF_UNIX sockets. A pair of stream sockets is always allowed: it reaches nobody else. */
  readonly unixSockets: boolean
}

/** The architectures that have a filter; a sandbox elsewhere is not available. */
export const hasFilter = (arch: string): arch is Arch => Object.hasOwn(audit, arch)

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64. */
const audit: Record<Arch, number> = { x64: 0xc000003e, arm64: 0xc00000b7 }

/** Denied with EPERM: [x64, arm64]; -1 where the architecture has no such call. */
const denied: Readonly<Record<string, readonly [number, number]>> = {
  // other processes: their memory, their descriptors, their state
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  // keys of the session, which no namespace separates
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // mounts and namespaces
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  move_mount: [429, 429],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  unshare: [272, 97],
  setns: [308, 268],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  // large parts of the kernel that a build or a test does not need
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  fanotify_init: [300, 262],
  memfd_secret: [447, 447],
  lookup_dcookie: [212, 18],
  // the machine as a whole
  acct: [163, 89],
  adjtimex: [159, 171],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  settimeofday: [164, 170],
  create_module: [174, -1],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  ioperm: [173, -1],
  iopl: [172, -1],
  modify_ldt: [154, -1],
  nfsservctl: [180, 42],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  swapon: [167, 224],
  swapoff: [168, 225],
  syslog: [103, 116],
  uselib: [134, -1],
  vhangup: [153, 58],
}

/**
 * Answered with ENOSYS, so that programs take the older call, whose arguments a filter can read. io_uring would make the
 * other calls past the filter.
 */
const missing: Readonly<Record<string, readonly [number, number]>> = {
  clone3: [435, 435],
  openat2: [437, 437],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
}

/** The last call that this table was checked against (file_setattr, Linux 6.17); newer ones do not exist inside. */
const lastKnown = 469

/** CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const namespaces = 0x7e020080
const clone = [56, 220] as const
/** A setuid or setgid bit outlives the sandbox: which argument holds the mode. */
const modes: readonly { readonly nr: readonly [number, number]; readonly argument: number }[] = [
  { nr: [90, -1], argument: 1 }, // chmod
  { nr: [91, 52], argument: 1 }, // fchmod
  { nr: [268, 53], argument: 2 }, // fchmodat
  { nr: [452, 452], argument: 2 }, // fchmodat2
  { nr: [85, -1], argument: 1 }, // creat
  { nr: [133, -1], argument: 1 }, // mknod
  { nr: [259, 33], argument: 2 }, // mknodat
]
/** Only a call that creates a file has a mode; otherwise the register holds anything. */
const opens: readonly { readonly nr: readonly [number, number]; readonly flags: number }[] = [
  { nr: [2, -1], flags: 1 }, // open
  { nr: [257, 56], flags: 2 }, // openat
]
/** O_CREAT and O_TMPFILE. */
const createFlags = 0o20000100
const setIds = 0o6000
const ioctl = [16, 29] as const
/** TIOCSTI and TIOCLINUX type into a terminal, TIOCSETD changes its line discipline. */
const terminalCommands = [0x5412, 0x541c, 0x5423]
const socket = [41, 198] as const
const socketpair = [53, 199] as const
/** SOCK_STREAM and SOCK_SEQPACKET stay with their peer; a datagram socket of a pair can send to any address. */
const pairedTypes = [1, 5]
const typeMask = 0xf
const families = { unix: 1, inet: 2, inet6: 10, netlink: 16 }
const netlinkRoute = 0
const personality = [135, 92] as const
/** PER_LINUX, ADDR_NO_RANDOMIZE (debuggers, fuzzers), and asking for the present one. */
const personalities = [0, 0x0040000, 0xffffffff]

const allow = 0x7fff0000
const kill = 0x80000000
const errno = (code: number) => 0x00050000 | code
const EPERM = 1
const EAFNOSUPPORT = 97
const ENOSYS = 38

/** Classic BPF: load a word of `seccomp_data`; jump on equality, order or bits; return. */
const load = (offset: number): Instruction => ({ code: 0x20, k: offset })
const give = (k: number): Instruction => ({ code: 0x06, k })
const skipUnless = (code: number, k: number, skip: number): Instruction => ({ code, k, jf: skip })
const equal = 0x15
const greater = 0x25
const anyBit = 0x45
const and = 0x54

interface Instruction {
  readonly code: number
  readonly k: number
  readonly jt?: number
  readonly jf?: number
}

const number = 0
const arch = 4
/** The low half of an argument; the flags and modes that matter all fit in it. */
const argument = (index: number) => 16 + 8 * index + (endianness() === 'BE' ? 4 : 0)

export function seccompFilter(name: Arch, { unixSockets }: SeccompOptions): Buffer {
  const nr = ([x64, arm64]: readonly [number, number]) => (name === 'x64' ? x64 : arm64)
  const program: Instruction[] = [load(arch), { code: equal, k: audit[name], jt: 1 }, give(kill), load(number)]
  // x32 calls on x64 have this bit; on arm64 no call is that large
  program.push(skipUnless(anyBit, 0x40000000, 1), give(kill))
  program.push(skipUnless(greater, lastKnown, 1), give(errno(ENOSYS)))
  const when = (call: number, body: readonly Instruction[]) => {
    if (call >= 0) program.push(skipUnless(equal, call, body.length), ...body)
  }
  for (const call of Object.values(denied)) when(nr(call), [give(errno(EPERM))])
  for (const call of Object.values(missing)) when(nr(call), [give(errno(ENOSYS))])
  when(nr(clone), ifBits(0, namespaces))
  for (const { nr: call, argument } of modes) when(nr(call), ifBits(argument, setIds))
  for (const { nr: call, flags } of opens) {
    const body = ifBits(flags + 1, setIds)
    when(nr(call), [load(argument(flags)), skipUnless(anyBit, createFlags, body.length), ...body, give(allow)])
  }
  when(nr(ioctl), [
    load(argument(1)),
    ...terminalCommands.flatMap((command) => [skipUnless(equal, command, 1), give(errno(EPERM))]),
    give(allow),
  ])
  when(nr(personality), [
    load(argument(0)),
    ...personalities.flatMap((each) => [skipUnless(equal, each, 1), give(allow)]),
    give(errno(EPERM)),
  ])
  const domains = [families.inet, families.inet6, ...(unixSockets ? [families.unix] : [])]
  when(nr(socket), [
    load(argument(0)),
    ...domains.flatMap((family) => [skipUnless(equal, family, 1), give(allow)]),
    skipUnless(equal, families.netlink, 3),
    load(argument(2)),
    skipUnless(equal, netlinkRoute, 1),
    give(allow),
    give(errno(EAFNOSUPPORT)),
  ])
  if (!unixSockets)
    when(nr(socketpair), [
      load(argument(1)),
      { code: and, k: typeMask },
      ...pairedTypes.flatMap((type) => [skipUnless(equal, type, 1), give(allow)]),
      give(errno(EAFNOSUPPORT)),
    ])
  program.push(give(allow))
  return assemble(program)
}

const ifBits = (index: number, bits: number): Instruction[] => [
  load(argument(index)),
  skipUnless(anyBit, bits, 1),
  give(errno(EPERM)),
  give(allow),
]

/** `struct sock_filter`: u16 code, u8 jt, u8 jf, u32 k, in the machine's own byte order. */
function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8)
  const little = endianness() === 'LE'
  for (const [at, { code, jt = 0, jf = 0, k }] of program.entries()) {
    const offset = at * 8
    if (little) bytes.writeUInt16LE(code, offset)
    else bytes.writeUInt16BE(code, offset)
    bytes.writeUInt8(jt, offset + 2)
    bytes.writeUInt8(jf, offset + 3)
    if (little) bytes.writeUInt32LE(k >>> 0, offset + 4)
    else bytes.writeUInt32BE(k >>> 0, offset + 4)
  }
  return bytes
}
