import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPrivate } from './addresses.ts'

/** The first and the last address of each range that is not the public internet, and those right beside it. */
const ranges = [
  ...['0.0.0.0 0.255.255.255 - 1.0.0.0', '10.0.0.0 10.255.255.255 9.255.255.255 11.0.0.0'],
  ...['100.64.0.0 100.127.255.255 100.63.255.255 100.128.0.0', '127.0.0.0 127.255.255.255 126.255.255.255 128.0.0.0'],
  ...['169.254.0.0 169.254.255.255 169.253.255.255 169.255.0.0', '172.16.0.0 172.31.255.255 172.15.255.255 172.32.0.0'],
  ...['192.0.0.0 192.0.0.255 191.255.255.255 192.0.1.0', '192.0.2.0 192.0.2.255 192.0.1.255 192.0.3.0'],
  ...[
    '192.88.99.0 192.88.99.255 192.88.98.255 192.88.100.0',
    '192.168.0.0 192.168.255.255 192.167.255.255 192.169.0.0',
  ],
  ...['198.18.0.0 198.19.255.255 198.17.255.255 198.20.0.0', '198.51.100.0 198.51.100.255 198.51.99.255 198.51.101.0'],
  ...['203.0.113.0 203.0.113.255 203.0.112.255 203.0.114.0', '224.0.0.0 239.255.255.255 223.255.255.255 -'],
  ...['240.0.0.0 255.255.255.255 - -'],
  ...[
    ':: ::1 - -',
    '::127.0.0.1 ::ff - -',
    '64:ff9b:: 64:ff9b::808:808 64:ff9a:: 64:ff9b:2::',
    '64:ff9b:1:: 64:ff9b:1:ffff:: - -',
  ],
  ...[
    '100:: 100::ffff - 100:0:0:1::',
    '2001:: 2001:1ff:ffff:: - 2001:200::',
    '2001:db8:: 2001:db8:ffff:: 2001:db7:: 2001:db9::',
  ],
  ...['2002:: 2002:ffff:: - 2003::', '3fff:: 3fff:fff:ffff:: 3ffe:: 3fff:1000::', '5f00:: 5f00:ffff:: 5eff:: 5f01::'],
  ...['fc00:: fdff:ffff:: fbff:: -', 'fe80:: febf:ffff:: fe7f:: -', 'fec0:: feff:ffff:: - -', 'ff00:: ffff:ffff:: - -'],
]

test('the special ranges end where the registries say', () => {
  for (const range of ranges) {
    const [first, last, before, after] = range.split(' ')
    const outside = [before, after].filter((each) => each !== '-')
    assert.deepEqual(
      [first, last].map((each) => isPrivate(each!)),
      [true, true],
      range,
    )
    assert.deepEqual(
      outside.map((each) => isPrivate(each!)),
      outside.map(() => false),
      range,
    )
  }
})

test('an IPv4 address in an IPv6 one counts as itself, a zone is no part of it, and what is no address is private', () => {
  const inside = [
    '::ffff:127.0.0.1',
    '::FFFF:10.0.0.1',
    '::ffff:7f00:1',
    '::FFFF:A00:1',
    'fe80::1%eth0',
    '::ffff:c0a8:101',
  ]
  const outside = ['::ffff:8.8.8.8', '::ffff:808:808', '::FFFF:0808:0808', '2606:4700::1%x', '8.8.8.8', '2606:4700::1']
  assert.deepEqual(
    [...inside, 'localhost', '', '1.2.3', '::ffff:999.0.0.1'].filter((each) => !isPrivate(each)),
    [],
  )
  assert.deepEqual(outside.filter(isPrivate), [])
})
