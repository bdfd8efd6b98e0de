/** Hosts that no list mentions: the user at a terminal is prompted once, everybody else gets the host and the rule. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { placeOf } from '../../src/sandbox/place.ts'
import { call, testModel } from '../support/model/model.ts'
import { place as programPlace } from '../support/program.ts'
import { hasTmux, newPlace, openOna, stopTmux } from '../support/terminal.ts'
import { bench } from '../support/tool-host.ts'
import { makeWorld } from './world.ts'

after(stopTmux)

/** Asks the proxy for a host, and prints its answer. */
const get = (host: string) =>
  `perl -e 'use IO::Socket::INET; my ($p) = $ENV{HTTP_PROXY} =~ /(\\d+)$/; my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $p) or exit; $s->autoflush(1); print $s "GET http://${host}/ HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n"; local $/; print <$s> =~ /(ona sandbox: .*)/, "\\n"'`

test('one prompt a host and command; denied hosts, addresses and local names are never prompted for', async (t) => {
  const asked: string[] = []
  const world = await makeWorld(
    { network: { deniedDomains: ['denied.example'] } },
    async () => ['127.0.0.1'],
    async (host) => {
      asked.push(host)
      return host === 'yes.example'
    },
  )
  t.after(() => world.close())
  const env = { PATH: process.env['PATH'], HOME: world.home }
  const places = { cwd: world.project, projectDir: world.project, home: world.home, env }
  const use = async (command: string) => {
    const place = await placeOf(world.fence, { command, disable: false, permissions: {}, ...places })
    return (await bench(t).use('Bash', { command }, { cwd: world.project, home: world.home, place })).content
  }
  const hosts = ['yes.example', 'no.example', 'no.example', 'YES.example.', 'denied.example', '127.0.0.1', 'localhost']
  const output = await use([...hosts, '2130706433', '[::1]', 'printer.local'].map(get).join('; '))
  assert.deepEqual(asked, ['yes.example', 'no.example'])
  const lines = output.split('\n').filter((line) => line.startsWith('ona sandbox: '))
  assert.deepEqual(lines.slice(0, 5), [
    'ona sandbox: yes.example resolves to 127.0.0.1, which is a private, loopback or special address',
    ...Array(2).fill(
      'ona sandbox: no.example is not an allowed host; sandbox.network.allowedDomains or WebFetch(domain:no.example) adds it',
    ),
    'ona sandbox: yes.example resolves to 127.0.0.1, which is a private, loopback or special address',
    'ona sandbox: denied.example is denied: sandbox.network.deniedDomains "denied.example"',
  ])
  assert.match(output, /\[sandbox\] no\.example is not an allowed host; sandbox\.network\.allowedDomains or WebFetch/)
  await use(get('yes.example'))
  assert.deepEqual(asked, ['yes.example', 'no.example', 'yes.example'], 'the answer held for one command')
  await use(Array.from({ length: 30 }, (_, at) => get(`h${at}.example`)).join('; '))
  assert.ok(asked.length < 15, `${asked.length} prompts`)
})

const settings = JSON.stringify({ sandbox: { enabled: true, network: { httpProxyPort: 1, allowedHosts: ['x'] } } })

test('at a terminal: the prompt names the host, and a rule can be saved', {
  skip: hasTmux() ? false : 'tmux is not installed',
}, async (t) => {
  const place = newPlace({ '~/.ona/settings.json': settings })
  t.after(() => place.remove())
  const two = (name: string) => call('Bash', { command: `${get(name)}; ${get(name)}` })
  const { env } = await testModel(t, [two('first.invalid'), two('second.invalid'), two('second.invalid')])
  const ona = openOna(place, { env, words: ['--trust'], columns: 120 })
  await ona.until(
    /sandbox\.network\.httpProxyPort is not supported[\s\S]*sandbox\.network\.allowedHosts is an unknown key/,
  )
  await ona.until(/❯ ask/)
  ona.type('go')
  ona.keys('Enter')
  await ona.until(
    /Network access[\s\S]*reach first\.invalid\?[\s\S]*1\. Yes[\s\S]*always allow WebFetch\(domain:first\.invalid\)/,
  )
  ona.type('4')
  await ona.until(/enter to send/)
  ona.type('not that one')
  ona.keys('Enter')
  await ona.until(/reach second\.invalid\?/)
  ona.type('2')
  await ona.until(/Done\.[\s\S]*❯ ask/)
  const saved = JSON.parse(readFileSync(join(place.project, '.ona/settings.local.json'), 'utf8'))
  assert.deepEqual(saved, { permissions: { allow: ['WebFetch(domain:second.invalid)'] } })
  const rows = place.query<{ detail: string }>(
    "SELECT detail FROM events WHERE event_type = 'sandbox_host' ORDER BY id",
  )
  assert.deepEqual(
    rows.map(({ detail }) => JSON.parse(detail)),
    [
      { host: 'first.invalid', allowed: false, by: 'person' },
      { host: 'second.invalid', allowed: true, by: 'person' },
    ],
  )
  ona.keys('C-c')
  ona.type('/exit')
  ona.keys('Enter')
  await ona.until(/LEFT WITH 0/)
})

/** Answers for some hosts; nothing for the others. */
const decides = `read -r line; case "$line" in
  *hook-yes.invalid*) echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}' ;;
  *hook-no.invalid*) echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny"}}}' ;;
esac`

test('at a terminal: a PermissionRequest hook answers for a host, and the user widens once, for a host and for a path', {
  skip: hasTmux() ? false : 'tmux is not installed',
}, async (t) => {
  const hooks = [{ hook_event_name: 'PermissionRequest', matcher: 'WebFetch', command: decides }]
  const place = newPlace({ '~/.ona/settings.json': JSON.stringify({ sandbox: { enabled: true }, hooks }) })
  t.after(() => place.remove())
  const outside = join(place.home, 'outside.txt')
  const write = { command: `echo x > ${outside}` }
  const { env, chats } = await testModel(t, [
    call('Bash', { command: ['hook-yes.invalid', 'hook-no.invalid', 'once.invalid'].map(get).join('; ') }),
    call('Bash', { command: get('once.invalid') }),
    call('Bash', write),
    call('Bash', { ...write, dangerouslyDisableSandbox: true }),
  ])
  const ona = openOna(place, { env, words: ['--trust'], columns: 120 })
  await ona.until(/❯ ask/)
  ona.type('go')
  ona.keys('Enter')
  await ona.until(/reach once\.invalid\?/)
  ona.type('1')
  await ona.until(/● Bash[\s\S]*● Bash[\s\S]*reach once\.invalid\?[\s\S]*1\. Yes/) // that of the second call
  ona.type('1')
  await ona.until(/the call asked to run outside the sandbox/)
  assert.equal(existsSync(outside), false)
  ona.type('1')
  await ona.until(/Done\.[\s\S]*❯ ask/)
  assert.equal(readFileSync(outside, 'utf8'), 'x\n')
  assert.equal(existsSync(join(place.project, '.ona/settings.local.json')), false, 'no rule was saved')
  assert.match(JSON.stringify(chats), /outside\.txt cannot be written: it is not part of the sandbox/)
  const rows = place.query<{ detail: string }>(
    "SELECT detail FROM events WHERE event_type = 'sandbox_host' ORDER BY id",
  )
  assert.deepEqual(
    rows.map(({ detail }) => JSON.parse(detail)),
    [
      { host: 'hook-yes.invalid', allowed: true, by: 'hook' },
      { host: 'hook-no.invalid', allowed: false, by: 'hook' },
      { host: 'once.invalid', allowed: true, by: 'person' },
      { host: 'once.invalid', allowed: true, by: 'person' },
    ],
  )
  ona.keys('C-c')
  ona.type('/exit')
  ona.keys('Enter')
  await ona.until(/LEFT WITH 0/)
})

test('without a terminal: refused, with the host and the rule', async (t) => {
  const place = programPlace(t)
  place.write('../home/.ona/settings.json', settings)
  const { env, chats } = await testModel(t, [
    call('Bash', {
      command: 'curl -sS http://some.invalid/; getent hosts some.invalid; git ls-remote https://some.invalid/x',
    }),
  ])
  const { stderr } = await place.run(['-p', 'go', '--trust'], { env })
  assert.match(stderr, /sandbox\.network\.httpProxyPort is not supported and has no effect/)
  const result = JSON.stringify(chats.at(-1))
  assert.match(
    result,
    /\[sandbox\] some\.invalid cannot be reached: no host is allowed; sandbox\.network\.allowedDomains or an allow rule WebFetch\(domain:some\.invalid\) adds it/,
  )
})
