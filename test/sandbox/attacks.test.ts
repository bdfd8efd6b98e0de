/** Attacks that need more than one command: descriptors from outside, and sandboxes made ahead under an older policy. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { packageRoot } from '../../src/package-root.ts'
import type { PermissionSettings } from '../../src/permissions/question.ts'
import { placeOf } from '../../src/sandbox/place.ts'
import { bench } from '../support/tool-host.ts'
import { makeWorld, type World } from './world.ts'

let world: World
before(async () => {
  world = await makeWorld({ network: { allowedDomains: ['service.internal'] } }, async () => ['127.0.0.1'])
})
after(() => world?.close())

test('descriptors that ona was started with do not reach a command, whatever their numbers', async () => {
  const secret = join(world.home, '.ssh/id_rsa')
  const look = 'for f in 3 4 5 6 7 8 9 30; do timeout 2 cat /proc/self/fd/$f; done'
  const stdio = (): ('ignore' | 'pipe' | number)[] => {
    const all: ('ignore' | 'pipe' | number)[] = ['ignore', 'pipe', 'pipe']
    for (const fd of [3, 4, 5, 9, 30]) all[fd] = openSync(secret, 'r')
    return Array.from(all, (each) => each ?? 'ignore')
  }
  const env = { PATH: process.env['PATH'], HOME: world.home, AGENT_SDLC_DB: join(world.root, 'fd.db') }
  const ran = (words: string[]) =>
    new Promise<string>((resolve, reject) => {
      const child = spawn(words[0]!, words.slice(1), { cwd: world.project, env, stdio: stdio() })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) stream!.on('data', (chunk) => (output += chunk))
      child.on('error', reject)
      child.on('close', () => resolve(output))
    })
  const ona = [process.execPath, join(packageRoot, 'bin/ona.mjs')]
  assert.match(await ran(['bash', '-c', look]), new RegExp(world.secret), 'without a sandbox they are there')
  const inside = await ran([...ona, 'sandbox', 'run', '--', 'bash', '-c', `${look}; echo done`])
  assert.match(inside, /done/)
  assert.doesNotMatch(inside, new RegExp(world.secret))
  writeFileSync(join(world.home, '.ona/settings.json'), JSON.stringify({ sandbox: { enabled: true } }))
  const call = JSON.stringify({ tool: 'Bash', input: { command: `cd src; ${look}; echo done` } })
  const evaluated = await ran([...ona, '--eval', call])
  assert.match(evaluated, /done/)
  assert.doesNotMatch(evaluated, new RegExp(world.secret))
})

test('a sandbox that was made ahead under an older policy is not used', async (t: TestContext) => {
  world.reset()
  const b = bench(t)
  const use = async (command: string, permissions: PermissionSettings, cwd = world.project) => {
    const env = { PATH: process.env['PATH'], HOME: world.home }
    const places = { cwd, projectDir: world.project, home: world.home, env }
    const place = await placeOf(world.fence, { command, disable: false, permissions, ...places })
    return (await b.use('Bash', { command }, { cwd, home: world.home, place })).content
  }
  const warm = async () => {
    await use('true', {})
    while (!world.fence.isWarm) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const read = 'cat src/app.js'
  await warm()
  assert.match(await use(read, {}), /console\.log/)
  await warm()
  assert.match(await use(read, { deny: ['Read(./src/**)'] }), /Permission denied/)
  await warm()
  assert.match(await use('echo x > src/app.js', { deny: ['Edit(./src/**)'] }), /Read-only file system/)
  await warm()
  assert.match(await use('pwd', {}, join(world.project, 'src')), new RegExp(`^${world.project}/src`))
  const asks = 'perl -e \'print $ENV{HTTP_PROXY} ? "proxy\\n" : "none\\n"\''
  assert.match(await use(asks, {}), /^proxy/)
  await warm()
  assert.match(
    await use(
      `P=\${HTTP_PROXY##*:}; perl -e 'use IO::Socket::INET; my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0]); print $s "GET http://service.internal:${world.ports.service}/ HTTP/1.0\\r\\n\\r\\n"; $s->flush; local $/; print <$s>' $P`,
      { deny: ['WebFetch(domain:service.internal)'] },
    ),
    /service\.internal is denied: the deny rule "WebFetch\(domain:service\.internal\)"/,
  )
})
