/** Ways past the kernel's walls: processes, namespaces, devices, system calls, terminals. */
import type { Case } from './cases.ts'

const nr = (x64: number, arm64: number): number => (process.arch === 'arm64' ? arm64 : x64)
/** Breaks out when the call is answered with anything but an error. */
const call = (what: string, number: number, args: string) =>
  `perl -e '$! = 0; my $b = "\\0" x 4096; my $r = syscall(${number}, ${args}); print $r == -1 ? "refused $!\\n" : "BREACH ${what}\\n"'`

export const kernelCases: readonly Case[] = [
  {
    name: 'see the processes of the host',
    run: '[ -d /proc/$HOST_PID ] && tr "\\0" " " < /proc/$HOST_PID/cmdline | grep -q node && echo BREACH; ls /proc | grep -cE "^[0-9]+$" | awk \'$1 > 20 {print "BREACH"}\'',
  },
  {
    name: 'read the memory of a process of the host',
    run: 'head -c1 /proc/$HOST_PID/mem /proc/$HOST_PID/environ && echo BREACH',
  },
  {
    name: 'read the memory of pid 1',
    run: 'dd if=/proc/1/mem bs=1 count=1 skip=4194304 2>/dev/null | grep -q . && echo BREACH; cat /proc/1/environ > /dev/null; true',
  },
  {
    name: 'signal a process of the host',
    run: 'kill -0 $HOST_PID 2>/dev/null && [ "$(cat /proc/$HOST_PID/comm)" != bash ] && echo BREACH; true',
  },
  { name: 'ptrace', run: call('ptrace', nr(101, 117), '16, 1, 0, 0') },
  { name: 'process_vm_readv', run: call('process_vm_readv', nr(310, 270), '1, $b, 1, $b, 1, 0') },
  { name: 'process_vm_writev', run: call('process_vm_writev', nr(311, 271), '1, $b, 1, $b, 1, 0') },
  { name: 'pidfd_getfd', run: call('pidfd_getfd', 438, '0, 0, 0') },
  { name: 'kcmp', run: call('kcmp', nr(312, 272), '1, 1, 0, 0, 0') },
  { name: 'keyctl', run: call('keyctl', nr(250, 219), '0, -3, 0, 0, 0') },
  { name: 'add_key', run: call('add_key', nr(248, 217), '"user", "x", "y", 1, -3') },
  { name: 'io_uring', run: call('io_uring', 425, '1, $b') },
  { name: 'bpf', run: call('bpf', nr(321, 280), '0, $b, 128') },
  { name: 'perf_event_open', run: call('perf_event_open', nr(298, 241), '$b, 0, -1, -1, 0') },
  { name: 'userfaultfd', run: call('userfaultfd', nr(323, 282), '0') },
  { name: 'name_to_handle_at', run: call('name_to_handle_at', nr(303, 264), '-100, ".", $b, $b, 0') },
  { name: 'fanotify', run: call('fanotify_init', nr(300, 262), '0, 0') },
  { name: 'memfd_secret', run: call('memfd_secret', 447, '0') },
  { name: 'process_madvise', run: call('process_madvise', 440, '0, $b, 1, 4, 0') },
  {
    name: 'an overlay with the secrets below',
    run: `mkdir -p u w m; mount -t overlay o -o lowerdir=/root:$HOME,upperdir=u,workdir=w m && echo BREACH; ${call('fsopen', 430, '"overlay", 0')}`,
  },
  {
    name: 'make the mounts shared with the host',
    run: `mount --make-rshared / && echo BREACH; ${call('mount_setattr', 442, '-100, "/", 0x8000, pack("Q4", 0, 0, 1 << 20, 0), 32')}; grep -E " shared:" /proc/self/mountinfo && echo BREACH shared; true`,
  },
  {
    name: 'device nodes and file capabilities',
    run: 'mknod disk b 8 0 && echo BREACH; mknod null c 1 3 && echo BREACH; cp /bin/true t; setcap cap_sys_admin+ep t 2>/dev/null && echo BREACH; perl -e \'my $v = pack("L5", 0x02000001, 1 << 21, 0, 0, 0); syscall(188, "t", "security.capability", $v, length $v, 0) == 0 and print "BREACH\n"\'; true',
  },
  {
    name: 'typing into a terminal with a number that is cut to size',
    run: 'perl -e \'my $b = "x"; my $r = syscall(16, 0, 0x100005412, $b); print $r == 0 ? "BREACH\n" : "refused $!\n"\'',
  },
  {
    name: 'the descriptors and memory of a sandbox that waits',
    run: 'for p in /proc/[0-9]*; do ls -l $p/fd 2>/dev/null | grep -E "agent\\.db|id_rsa|/ona-sandbox-|\\.bpf" && echo BREACH; done; true',
  },
  {
    name: 'a kernel that tells where its files are',
    run: 'for f in /proc/kcore /proc/kmem /dev/mem /dev/kmem /dev/port /dev/sda /dev/vda /dev/nvme0n1 /dev/kmsg /dev/fuse /dev/kvm /dev/net/tun /dev/loop-control /dev/vhost-vsock; do [ -e $f ] && head -c1 $f >/dev/null 2>&1 && echo "BREACH $f"; done; true',
  },
  { name: 'open_by_handle_at', run: call('open_by_handle_at', nr(304, 265), '-100, $b, 0') },
  {
    name: 'clone3 with a user namespace',
    run: call('clone3', 435, 'pack("Q11", 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), 88'),
  },
  { name: 'clone with a user namespace', run: call('clone', nr(56, 220), '0x10000000, 0, 0, 0, 0') },
  { name: 'clone with a mount namespace', run: call('clone', nr(56, 220), '0x00020000, 0, 0, 0, 0') },
  { name: 'unshare a user namespace', run: 'unshare -U true && echo BREACH; unshare -Ur true && echo BREACH; true' },
  { name: 'unshare every namespace', run: 'unshare -Urmpinuf true && echo BREACH; true' },
  { name: 'join the namespaces of another process', run: call('setns', nr(308, 268), '0, 0') },
  {
    name: 'a sandbox in the sandbox, with more mounted',
    run: 'bwrap --bind / / cat ~/.ssh/id_rsa && echo BREACH; bwrap --dev-bind / / true && echo BREACH; true',
  },
  {
    name: 'mount',
    run: `mkdir -p m; mount -t tmpfs x m && echo BREACH; mount --bind /etc m && echo BREACH; ${call('mount', nr(165, 40), '"x", "/tmp", "tmpfs", 0, 0')}`,
  },
  {
    name: 'unmount what covers a secret',
    run: `umount private && cat private/key; umount -l .env; ${call('umount2', nr(166, 39), '"private", 2')}`,
  },
  {
    name: 'the new mount calls',
    run: [
      call('fsopen', 430, '"tmpfs", 0'),
      call('open_tree', 428, '-100, "/", 1'),
      call('mount_setattr', 442, '-100, "/", 0, $b, 32'),
    ].join('; '),
  },
  {
    name: 'remount the system writable',
    run: 'mount -o remount,rw / && echo BREACH; touch /ona-escape && echo BREACH; true',
  },
  { name: 'chroot', run: `${call('chroot', nr(161, 51), '"/proc/1/root"')}; chroot / true && echo BREACH; true` },
  { name: 'pivot_root', run: call('pivot_root', nr(155, 41), '".", "."') },
  {
    name: 'setuid programs',
    run: 'su -c id </dev/null 2>&1 | grep -q uid=0 && [ "$(id -u)" != 0 ] && echo BREACH; sudo -n id 2>/dev/null && echo BREACH; grep -q "NoNewPrivs:.1" /proc/self/status || echo BREACH',
  },
  {
    name: 'capabilities',
    run: 'grep -E "^Cap(Eff|Prm|Bnd|Inh|Amb)" /proc/self/status | grep -v 0000000000000000 && echo BREACH; true',
  },
  {
    name: 'devices',
    run: 'for d in /dev/mem /dev/kmem /dev/kvm /dev/sda /dev/vda /dev/fuse /dev/net/tun /dev/vsock /dev/nvme0; do [ -e $d ] && echo BREACH $d; done; mknod dev b 8 0 2>/dev/null && echo BREACH; true',
  },
  {
    name: 'core_pattern and other switches of the kernel',
    run: 'for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/vm/overcommit_memory /proc/sysrq-trigger; do (echo "$(cat $f 2>/dev/null)" > $f) 2>/dev/null && echo BREACH $f; done; true',
  },
  {
    name: 'cgroups',
    run: 'mkdir /sys/fs/cgroup/ona-escape 2>/dev/null && echo BREACH; (echo 1 > /sys/fs/cgroup/cgroup.procs) 2>/dev/null && echo BREACH; true',
  },
  {
    name: 'the time and the name of the machine',
    run: `hostname ona-escape 2>/dev/null && echo BREACH; ${call('sethostname', nr(170, 161), '"x", 1')}; date -s 2001-01-01 >/dev/null 2>&1 && echo BREACH; true`,
  },
  {
    name: 'the log of the kernel',
    run: `dmesg >/dev/null 2>&1 && echo BREACH; ${call('syslog', nr(103, 116), '3, $b, 4096')}`,
  },
  { name: 'load a module', run: call('finit_module', nr(313, 273), '0, "", 0') },
  {
    name: 'type into the terminal',
    run: 'perl -e \'open(my $t, "+<", "/dev/tty") and print "BREACH tty\\n"; for my $f (0, 1, 2) { my $c = "x"; open(my $h, "<&=", $f) or next; ioctl($h, 0x5412, $c) and print "BREACH TIOCSTI\\n" }\'',
  },
  {
    name: 'type into a terminal of its own',
    run: 'perl -e \'open(my $t, "+<", "/dev/ptmx") or exit; my $c = "x"; ioctl($t, 0x5412, $c) and print "BREACH TIOCSTI\\n"\'',
  },
  {
    name: 'inherited descriptors',
    run: 'for f in /proc/self/fd/*; do n=${f##*/}; [ $n -gt 3 ] && [ -e $f ] && echo "BREACH $n $(readlink $f)"; done; true',
  },
  {
    name: 'a call of another architecture',
    run:
      process.arch === 'x64'
        ? 'perl -e \'my $r = syscall(0x40000000 + 39); print "BRE", "ACH x32\\n" if $r > 0\'; true'
        : 'true',
  },
  {
    name: 'shared memory and queues of the host',
    run: 'ipcs -m 2>/dev/null | grep -qE "^0x" && echo BREACH; ls /dev/shm | grep -q . && echo BREACH; true',
  },
  {
    name: 'raw and kernel sockets',
    run: 'perl -e \'use Socket; for my $f (16, 17, 38, 40, 31, 29) { for my $p (0, 9, 12, 15) { next if $f == 16 && $p == 0; socket(my $s, $f, $f == 38 ? 5 : 3, $p) and print "BREACH family $f $p\\n" } }\'',
  },
  {
    name: 'LD_PRELOAD into another program',
    run: 'echo x > p.so; LD_PRELOAD=$PWD/p.so cat ~/.ssh/id_rsa 2>/dev/null; LD_LIBRARY_PATH=. cat ~/.ssh/id_rsa',
  },
  {
    name: 'a program that is in no file',
    run: `perl -e 'my $n = "m"; my $fd = syscall(${nr(319, 279)}, $n, 0); open(my $m, ">&=", $fd); binmode $m; open(my $c, "<", "/bin/cat"); local $/; syswrite($m, <$c>); exec {"/proc/self/fd/$fd"} "cat", $ENV{SECRET_PATH}'`,
    control: true,
  },
  {
    name: 'a swarm of processes in sessions of their own',
    run: 'for i in $(seq 200); do setsid perl -e "sleep 1000" $MARKER >/dev/null 2>&1 & done; sleep 0.3',
    control: true,
  },
  {
    name: 'a signal to every process that there is',
    run: '[ "$(cat /proc/1/comm)" = bwrap ] && kill -9 -1; sleep 5',
  },
  {
    name: 'shared memory of another command',
    run: 'ls -A /dev/shm | grep -q . && echo BREACH; echo x > /dev/shm/ona-left; ipcmk -M 4096 >/dev/null 2>&1; [ "$(ipcs -m | grep -c 0x)" -gt 1 ] && echo BREACH; true',
  },
  {
    name: 'switches of the kernel, all of them',
    run: 'find /proc/sys /sys -type f -perm /222 2>/dev/null | head -3000 | perl -ne \'chomp; print "BREACH $_\\n" if open(my $f, "+<", $_)\'',
  },
  {
    name: 'leave a process behind',
    run: 'setsid nohup bash -c "sleep 1000; echo $MARKER" >/dev/null 2>&1 & disown; sleep 0.2',
    control: true,
  },
  {
    name: 'leave a daemon behind',
    run: 'perl -e \'exit if fork; use POSIX; setsid; exit if fork; $0 = $ENV{MARKER}; close STDOUT; close STDERR; exec "perl", "-e", "sleep 1000", $ENV{MARKER}\'; sleep 0.2',
    control: true,
  },
  {
    name: 'leave a tmux server behind',
    run: 'tmux -L $MARKER new-session -d "sleep 1000; echo $MARKER" 2>/dev/null; sleep 0.3',
  },
  {
    name: 'run later with at, batch or systemd',
    run: 'echo true | at now 2>/dev/null && echo BREACH; systemd-run --user true 2>/dev/null && echo BREACH; systemctl --user show-environment 2>/dev/null && echo BREACH; true',
  },
]
