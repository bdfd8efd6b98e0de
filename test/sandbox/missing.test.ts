/** Protected paths that are not there yet: they cannot be created, or what was created is gone before anything runs it. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { replaceFile } from '../../src/files/atomic-write.ts'
import { placeOf } from '../../src/sandbox/place.ts'
import { wrapIn } from '../../src/sandbox/wrap.ts'
import { bench } from '../support/tool-host.ts'
import { makeWorld, type World } from './world.ts'

let world: World
before(async () => {
  world = await makeWorld({ filesystem: { denyWrite: ['sealed/**', './vault/'] } })
})
after(() => world?.close())

const env = () => ({ PATH: process.env['PATH'], HOME: world.home, OUTSIDE: world.outside, PROJECT: world.project })
const rules = { deny: ['Edit(locked/**)', 'Edit(./a/b/**)', 'Read(./hidden/**)', 'Edit(**/*.lock)', 'Edit(./one.txt)'] }
const use = async (t: TestContext, command: string) => {
  const places = { cwd: world.project, projectDir: world.project, home: world.home, env: env() }
  const place = await placeOf(world.fence, { command, disable: false, permissions: rules, ...places })
  return (await bench(t).use('Bash', { command }, { cwd: world.project, home: world.home, place })).content
}

test('a folder that a rule locks cannot be created, and what stands in for it goes with the session', async (t) => {
  world.reset()
  for (const folder of ['locked', 'sealed', 'vault', 'hidden', '.vscode', '.husky', '.devcontainer']) {
    const output = await use(
      t,
      `mkdir -p ${folder} && echo x > ${folder}/x; rmdir ${folder}; mv ${folder} other; ls ${folder}`,
    )
    assert.match(output, /Read-only file system|Permission denied/, folder)
    assert.deepEqual(existsSync(join(world.project, folder)) && readdirSync(join(world.project, folder)), [], folder)
  }
})

test('what a rule locks by name or pattern is moved away, and the result names the rule', async (t) => {
  world.reset()
  assert.match(await use(t, 'echo x > one.txt'), /one\.txt is protected and the command created it; it was moved to/)
  assert.match(await use(t, 'mkdir -p a/b && echo x > a/b/c'), /a\/b is protected and the command created it/)
  assert.match(
    await use(t, 'mkdir -p deep/er; echo x > deep/er/new.lock'),
    /new\.lock is covered by the deny rule "Edit\(\*\*\/\*\.lock\)" and the command created it; it was moved to/,
  )
  for (const path of ['one.txt', 'a/b/c', 'deep/er/new.lock'])
    assert.equal(existsSync(join(world.project, path)), false, path)
  replaceFile(join(world.project, 'ours.lock'), 'written by a tool of ona')
  assert.doesNotMatch(await use(t, 'true'), /moved to/)
})

/** Ways to have git or a shell run a program of the command's, by a file that is not there yet. */
const planted = [
  'mkdir -p evil/hooks; cp hook evil/hooks/post-index-change; cp hook evil/hooks/reference-transaction; cp -r .git/objects .git/refs evil/; echo "$PROJECT/evil" > .git/commondir',
  'ln -s "$PROJECT/hook" .envrc',
  'mkdir n; echo "{}" > n/.mcp.json; mv n/.mcp.json .mcp.json',
]

test('what a later git, hook or shell would run is gone before it can', async (t) => {
  for (const plant of planted) {
    world.reset()
    rmSync(join(world.project, '.git/commondir'), { force: true })
    writeFileSync(join(world.project, 'hook'), `#!/bin/sh\ntouch "${world.outside}/RAN"\n`, { mode: 0o755 })
    // it goes on planting as long as it lives
    const output = await use(t, `while :; do ${plant}; done 2>/dev/null`)
    assert.match(output, /is protected and the command created it/, plant)
    execFileSync('git', ['status'], { cwd: world.project, env: env(), stdio: 'ignore' })
    assert.equal(existsSync(join(world.outside, 'RAN')), false, plant)
    for (const path of ['.git/commondir', '.envrc', '.mcp.json'])
      assert.equal(lstatSync(join(world.project, path), { throwIfNoEntry: false }), undefined, path)
  }
})

test('an empty stand-in keeps git configuration, and folders in a missing folder, from being created', async (t) => {
  const other = await makeWorld()
  t.after(() => other.close())
  const paths = ['.git/config', '.git/config.worktree', '.github/hooks/x.json', '.github/copilot/x.json']
  rmSync(join(other.project, '.git/config'))
  const { output, quarantined } = await other.run(
    `${paths.map((path) => `mkdir -p ${path}/..; echo evil > ${path}; rm -f ${path}; mv ${path} moved`).join('; ')}; mv .github elsewhere; mkdir -p .github/workflows && echo x > .github/workflows/ci.yml && git status --short && git log --oneline`,
  )
  assert.deepEqual(quarantined, [], output)
  for (const path of paths) assert.match(readIf(join(other.project, path)), /^$/, `${path}: ${output}`)
  assert.match(output, /\?\? \.github\/\n/, 'git sees what is there, and no stand-in')
  assert.match(output, / x\n/)
  rmSync(join(other.project, '.github/workflows'), { recursive: true })
  other.fence.close()
  for (const path of ['.git/config', '.git/config.worktree', '.github'])
    assert.equal(existsSync(join(other.project, path)), false, path)
})

test('a writable home: start-up files and folders that are missing cannot be created', async (t) => {
  const other = await makeWorld({ filesystem: { allowWrite: ['~'] } })
  t.after(() => other.close())
  const files = ['.zshrc', '.profile', '.zshenv', '.ssh/authorized_keys', '.config/autostart/x.desktop']
  rmSync(join(other.home, '.ssh'), { recursive: true })
  const { output, quarantined } = await other.run(
    `cd ~; ${files.map((file) => `mkdir -p $(dirname ${file}); echo evil > ${file}`).join('; ')}; echo x > .bash_profile; echo mine > plain.txt && cat plain.txt`,
  )
  assert.match(output, /^mine$/m)
  for (const file of files) assert.equal(readIf(join(other.home, file)), '', `${file}: ${output}`)
  // an empty one would hide .profile: it is watched for
  assert.deepEqual(
    quarantined.map((text) => /\/([^/]+) is protected/.exec(text)?.[1]),
    ['.bash_profile'],
  )
})

const readIf = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '')

test('a flood of events and a folder that is new do not hide what appears', async (t) => {
  world.reset()
  const flood = 'for i in $(seq 1 20000); do : > f; done'
  assert.match(
    await use(t, `(${flood}); mkdir -p a; ${flood}; mkdir a/b; sleep 60`),
    /a\/b is protected and the command created it/,
  )
})

test('a server or hook in the sandbox, which lives on, has what it plants taken away', async (t) => {
  const told: string[] = []
  const other = await makeWorld({}, undefined, undefined, (text) => told.push(text))
  t.after(() => other.close())
  const scope = () => ({ permissions: {}, projectDir: other.project, home: other.home })
  const { words, env: inside } = await wrapIn(other.fence, scope)(
    ['/bin/sh', '-c', 'echo "{}" > .mcp.json; echo /x > .git/commondir; echo up; sleep 60'],
    { cwd: other.project, env: { PATH: process.env['PATH'], HOME: other.home } },
  )
  const child = spawn(words[0]!, words.slice(1), {
    cwd: other.project,
    env: inside,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(() => child.kill('SIGKILL'))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  const there = () => ['.mcp.json', '.git/commondir'].filter((path) => existsSync(join(other.project, path)))
  while (there().length > 0) await new Promise((resolve) => setTimeout(resolve, 10))
  assert.deepEqual(told.map((text) => /\/([^/]+) is protected/.exec(text)?.[1]).sort(), ['.mcp.json', 'commondir'])
  assert.equal(readFileSync(join(other.project, '.git/HEAD'), 'utf8').startsWith('ref:'), true)
  mkdirSync(join(other.project, 'free'))
})
