import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bwrapArgs } from './bwrap.ts'

test('the root comes first, then /dev and /proc, then the other mounts in their order', () => {
  const args = bwrapArgs({
    state: '/s',
    cwd: '/w',
    filterFd: 9,
    mounts: [
      { op: 'ro', at: '/', from: '/' },
      { op: 'empty', at: '/home' },
      { op: 'rw', at: '/w', from: '/w' },
      { op: 'deny', at: '/w/.env', folder: false },
      { op: 'deny', at: '/w/keys', folder: true },
      { op: 'blank', at: '/w/.ona' },
      { op: 'seal', at: '/home' },
    ],
  })
  assert.equal(
    args.join(' '),
    '--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --unshare-net --hostname sandbox ' +
      '--die-with-parent --new-session --cap-drop ALL --ro-bind / / --dev /dev --proc /proc --tmpfs /home --bind /w /w ' +
      '--ro-bind /s/deny-file /w/.env --ro-bind /s/deny-folder /w/keys --perms 0555 --tmpfs /w/.ona --remount-ro /home ' +
      '--chdir /w --seccomp 9 --',
  )
})

test('for root, the switches of the kernel are read-only', () => {
  const args = bwrapArgs({ state: '/s', cwd: '/w', filterFd: 9, mounts: [], asRoot: true }).join(' ')
  assert.match(args, /--proc \/proc --remount-ro \/proc /)
})

test('a shared network namespace is not left again', () => {
  const args = bwrapArgs({ state: '/s', cwd: '/w', filterFd: 9, mounts: [], sharedNetwork: true })
  assert.equal(args.includes('--unshare-net'), false)
})
