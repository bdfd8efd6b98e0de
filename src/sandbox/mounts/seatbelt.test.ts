import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seatbeltProfile } from './seatbelt.ts'

const network = { allowed: [], denied: [], unixSockets: [], allUnixSockets: false, localBinding: false, asks: false }

test('a plan as a Seatbelt profile: the narrower line comes later', () => {
  const text = seatbeltProfile({
    mounts: [
      { op: 'ro', at: '/', from: '/' },
      { op: 'empty', at: '/Users' },
      { op: 'rw', at: '/Users/ada/shop', from: '/Users/ada/shop' },
      { op: 'ro', at: '/Users/ada/shop/.git/config', from: '/Users/ada/shop/.git/config' },
      { op: 'deny', at: '/Users/ada/shop/.env', folder: false },
      { op: 'blank', at: '/Users/ada/shop/.ona' },
      { op: 'seal', at: '/Users' },
    ],
    absent: ['/Users/ada/shop/.mcp.json'],
    network: { ...network, unixSockets: [{ path: '/var/x.sock', why: '' }] },
    proxyPort: 3128,
  })
  assert.equal(
    text,
    `(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup)
(allow file-read* (subpath "/"))
(deny file-write* (subpath "/"))
(deny file-read* file-write* (subpath "/Users"))
(allow file-read* file-write* (subpath "/Users/ada/shop"))
(allow file-read* (subpath "/Users/ada/shop/.git/config"))
(deny file-write* (subpath "/Users/ada/shop/.git/config"))
(deny file-read* file-write* (subpath "/Users/ada/shop/.env"))
(deny file-write* (subpath "/Users/ada/shop/.ona"))
(deny file-write* (subpath "/Users/ada/shop/.mcp.json"))
(allow network-outbound (remote ip "localhost:3128"))
(allow network-outbound (literal "/var/x.sock"))`,
  )
})

test('a path cannot end the string that it stands in', () => {
  const text = seatbeltProfile({
    mounts: [{ op: 'deny', at: '/a") (allow default) ("\\', folder: true }],
    absent: [],
    network,
  })
  assert.match(text, /\(deny file-read\* file-write\* \(subpath "\/a\\"\) \(allow default\) \(\\"\\\\"\)\)$/)
})
