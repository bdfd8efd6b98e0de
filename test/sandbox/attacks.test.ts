/** Attacks that need more than one command: descriptors from outside, and sandboxes made ahead under an older policy. */
import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { packageRoot } from '../../src/package-root.ts'
import type { PermissionSettings } from '../../src/permissions/question.ts'
import { Fence } from '../../src/sandbox/fence.ts'
import { placeOf } from '../../src/sandbox/place.ts'
import { bench } from '../support/tool-host.ts'
import { makeWorld, untilWarm, type World } from './world.ts'

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
    await untilWarm(world.fence)
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

test('a datagram socket of a pair reaches no socket of the host', async (t) => {
  const path = join(world.project, 'datagram.sock')
  const code = `use Socket; socket(my $s, AF_UNIX, SOCK_DGRAM, 0); bind($s, pack_sockaddr_un($ARGV[0])); $| = 1; print "up\\n"; while (defined recv($s, my $b, 100, 0)) { print "got $b\\n" }`
  const listener = spawn('perl', ['-e', code, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => listener.kill('SIGKILL'))
  let heard = ''
  const until = async (text: string) => {
    while (!heard.includes(text)) await new Promise((resolve) => listener.stdout.once('data', resolve))
  }
  listener.stdout.on('data', (chunk) => (heard += chunk))
  await until('up')
  const send = (what: string) =>
    `perl -e 'use Socket; socketpair(my $a, my $b, AF_UNIX, SOCK_DGRAM, PF_UNSPEC) or die "no pair: $!\\n"; send($a, "${what}", 0, pack_sockaddr_un("datagram.sock")) or die "$!\\n"'`
  assert.match((await world.run(send('INSIDE'))).output, /no pair: Address family not supported/)
  await world.unfenced(send('OUTSIDE'))
  await until('OUTSIDE')
  assert.doesNotMatch(heard, /INSIDE/)
})

test('when the fence closes, a command that still runs does not get the place of a protected folder', async (t) => {
  const other = await makeWorld()
  t.after(() => other.close())
  const cell = await other.fence.cell({
    ...{ permissions: {}, projectDir: other.project, cwd: other.project },
    env: { PATH: process.env['PATH'], HOME: other.home },
  })
  const plant =
    'echo up; while :; do mkdir .codex 2>/dev/null; echo x > .codex/config.toml; echo "{}" > .mcp.json; done'
  const [program, ...words] = cell.argv(['/bin/bash', '-c', plant])
  const child = spawn(program!, words, { cwd: other.project, env: cell.env, stdio: ['ignore', 'pipe', 'ignore'] })
  t.after(() => child.kill('SIGKILL'))
  const ended = new Promise((resolve) => child.once('exit', resolve))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  other.fence.guard(cell)
  other.fence.close()
  const there = () => ['.codex', '.mcp.json'].filter((name) => existsSync(join(other.project, name)))
  assert.deepEqual(there(), [])
  await ended
  assert.deepEqual(there(), [])
})

test('in a worktree, the repository that it belongs to keeps its configuration', async (t) => {
  const main = join(world.root, 'main')
  const tree = join(world.root, 'tree')
  const git = (cwd: string, ...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd, stdio: 'ignore' })
  mkdirSync(main)
  git(main, 'init', '-q')
  git(main, 'commit', '-q', '--allow-empty', '-m', 'x')
  git(main, 'worktree', 'add', '-q', tree)
  const env = { PATH: process.env['PATH'], HOME: world.home, MAIN: main }
  const fence = new Fence({ settings: {}, projectDir: tree, home: world.home, env, programs: [] })
  t.after(() => fence.close())
  const files = [
    'config',
    'config.worktree',
    'hooks/pre-commit',
    'worktrees/tree/commondir',
    'worktrees/tree/gitdir',
    'worktrees/tree/config.worktree',
  ]
  const contents = () =>
    files.map((file) => (existsSync(join(main, '.git', file)) ? readFileSync(join(main, '.git', file), 'utf8') : ''))
  const before = contents()
  const cell = await fence.cell({ permissions: {}, projectDir: tree, cwd: tree, env })
  const script = `
    git -c user.name=a -c user.email=a@b commit -q --allow-empty -m y && git log --oneline | wc -l
    for f in ${files.join(' ')}; do echo evil > "$MAIN/.git/$f"; rm -f "$MAIN/.git/$f"; mv "$MAIN/.git/$f" x; done
    echo "gitdir: /x" > .git; mv .git y; echo x > "$MAIN/new.txt"`
  const [program, ...words] = cell.argv(['/bin/bash', '-c', script])
  const output = await new Promise<string>((resolve) => {
    execFile(program!, words, { cwd: tree, env: cell.env, timeout: 60_000 }, (_, stdout, stderr) =>
      resolve(stdout + stderr),
    )
  })
  assert.deepEqual(cell.breaches(), [], output)
  assert.match(output, /^2$/m)
  assert.deepEqual(contents(), before, output)
  assert.match(readFileSync(join(tree, '.git'), 'utf8'), /^gitdir: .*worktrees\/tree$/m)
  assert.equal(existsSync(join(main, 'new.txt')), false)
})
