/** The sandbox where the product uses it: Bash calls, hooks, MCP servers, test scripts, and the command line. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { questionOf } from '../../src/agent/permission-question.ts'
import { prepareSandbox } from '../../src/agent/sandboxed.ts'
import type { Session } from '../../src/agent/session/session.ts'
import { createPlane } from '../../src/hooks/dispatch.ts'
import type { Wrap as HookWrap } from '../../src/hooks/handler.ts'
import { readHooks } from '../../src/hooks/settings.ts'
import { wayTo } from '../../src/mcp/transport.ts'
import { packageRoot } from '../../src/package-root.ts'
import type { FenceRequest } from '../../src/sandbox/fence.ts'
import { type Place, placeOf } from '../../src/sandbox/place.ts'
import type { SandboxSettings } from '../../src/sandbox/settings.ts'
import { wrapIn, wrapScript } from '../../src/sandbox/wrap.ts'
import { bench } from '../support/tool-host.ts'
import { makeWorld, permissions, untilWarm, type World } from './world.ts'

let world: World
before(async () => {
  world = await makeWorld()
})
after(() => world?.close())

const env = () => ({ PATH: process.env['PATH'], HOME: world.home, SECRET_PATH: join(world.home, '.ssh/id_rsa') })
const scope = () => ({ permissions, projectDir: world.project, home: world.home })
const request = (command: string, disable = false) => ({
  ...{ command, disable, permissions, cwd: world.project, projectDir: world.project, home: world.home, env: env() },
})
/** The same fence with other settings. */
const withSettings = (settings: SandboxSettings, availability = world.fence.availability) => ({
  settings,
  availability,
  cell: (asked: FenceRequest) => world.fence.cell(asked),
})
const placed = async (command: string, settings: SandboxSettings = {}, disable = false): Promise<string> => {
  const place = await placeOf(withSettings(settings), request(command, disable))
  return place.in === 'open' ? `open: ${place.why}${place.mustAsk ? ' (asks)' : ''}` : place.in
}

test('a command is outside only when every part of it is excluded', async () => {
  const settings = { excludedCommands: ['docker *', 'git push'] }
  assert.equal(await placed('docker ps', settings), 'open: sandbox.excludedCommands names it: Bash(docker *)')
  for (const command of [
    'docker ps; cat ~/.ssh/id_rsa',
    'docker ps && ls',
    'docker ps $(cat ~/.ssh/id_rsa)',
    'docker ps > /etc/x',
    'ls',
    'FOO=1 sh -c "docker ps; id"',
    'git push origin',
  ])
    assert.equal(await placed(command, settings), 'sandbox', command)
})

test('a call that asks to run outside is always prompted for, and stays inside where that is not allowed', async () => {
  assert.equal(await placed('ls', {}, true), 'open: the call asked to run outside the sandbox (asks)')
  assert.equal(await placed('ls', { allowUnsandboxedCommands: false }, true), 'sandbox')
})

const inSandbox = async (): Promise<Place> => placeOf(world.fence, request('true'))

test('the Bash tool names the path and the rule that a command ran into', async (t) => {
  world.reset()
  const use = async (command: string, more = {}) =>
    (
      await bench(t).use(
        'Bash',
        { command, ...more },
        { cwd: world.project, home: world.home, place: await inSandbox() },
      )
    ).content.replace(/^\(A process it started still runs.*\n/m, '') // on a busy machine, of the sandbox's own
  assert.equal(
    await use('cat private/key'),
    `\n--- stderr ---\ncat: private/key: Permission denied\n\n[sandbox] ${world.project}/private/key cannot be read: the deny rule "Read(./private/**)"\nExit code 1`,
  )
  assert.match(
    await use('echo x > locked.txt'),
    /\[sandbox\] .*\/locked\.txt cannot be written: the deny rule "Edit\(\.\/locked\.txt\)"/,
  )
  assert.match(
    await use(`echo x > ${world.outside}/file.txt`),
    /\[sandbox\] .*outside the folders that commands may write/,
  )
  assert.match(
    await use('cat ~/.ssh/id_rsa'),
    /\[sandbox\] .*\.ssh\/id_rsa cannot be read: it is not part of the sandbox/,
  )
  assert.match(
    await use('git config a.b c'),
    /\[sandbox\] .*\.git\/config.* cannot be written: it decides which programs git runs/,
  )
  const socket = 'cannot be reached: commands use no Unix sockets; sandbox\\.network\\.allowUnixSockets adds one'
  assert.match(
    await use(`node -e 'require("net").connect("${world.project}/host.sock")'`),
    new RegExp(`\\[sandbox\\] (?:a socket|.*/host\\.sock) ${socket}`),
  )
  assert.match(
    await use('echo "Cannot connect to the Docker daemon at unix:///var/run/docker.sock." >&2; exit 1'),
    new RegExp(`\\[sandbox\\] /var/run/docker\\.sock ${socket}`),
  )
  assert.match(
    await use('echo "{}" > .mcp.json; sleep 20'),
    /\.mcp\.json is protected and the command created it; it was moved to/,
  )
  assert.equal(existsSync(join(world.project, '.mcp.json')), false)
})

test('a sandbox that was made ahead of time is not used when files have changed since', async (t) => {
  world.reset()
  const b = bench(t)
  const use = async (command: string) =>
    (await b.use('Bash', { command }, { cwd: world.project, home: world.home, place: await inSandbox() })).content
  const warm = async () => {
    await use('true')
    await untilWarm(world.fence)
  }
  await warm()
  assert.equal(await use('echo "$0 $#"; echo "${REPLY-unset}"'), '/bin/bash 0\nunset\n')
  await warm()
  writeFileSync(join(world.project, 'late.env'), world.secret)
  assert.match(await use('cat late.env'), /Permission denied/)
  await warm()
  const config = join(world.project, '.git/config')
  writeFileSync(`${config}.new`, readFileSync(config))
  renameSync(`${config}.new`, config)
  assert.match(await use('echo x >> .git/config'), /Read-only file system/)
})

test('while the model answers a sandbox is made, and commands in a row find more', async (t) => {
  const other = await makeWorld()
  t.after(() => other.close())
  const own = { PATH: process.env['PATH'], HOME: other.home }
  const runtime = {
    ...{ sandbox: async () => other.fence, home: other.home, childEnv: own, settings: {}, plugins: [] },
    db: { path: join(other.home, '.ona/agent.db') },
  }
  const session = { runtime, rules: {}, cwd: other.project, projectDir: other.project } as unknown as Session
  await prepareSandbox(session)
  await untilWarm(other.fence)
  const { protect } = questionOf(session)
  const asked = { permissions: {}, projectDir: other.project, cwd: other.project, env: own, approved: false, protect }
  const take = async () => (await other.fence.cell(asked)).spare('true')
  assert.ok(await take(), 'the first command finds one')
  assert.equal(await take(), undefined)
  ;(await other.fence.cell(asked)).prepareSpare('now')
  await untilWarm(other.fence)
  assert.ok((await take()) && (await take()), 'after a miss there are two')
})

test('a sandboxed command that runs out of time leaves nothing behind, and its working directory carries over', async (t) => {
  world.reset()
  mkdirSync(join(world.project, 'sub'), { recursive: true })
  const b = bench(t)
  const context = { cwd: world.project, home: world.home, place: await inSandbox() }
  const { content } = await b.use('Bash', { command: `echo before; sleep 1000 & sleep 1000`, timeout: 500 }, context)
  assert.match(content, /was ended after 500 ms.*\nbefore/s)
  await b.use('Bash', { command: 'cd sub' }, context)
  assert.deepEqual(b.told, [`move ${join(world.project, 'sub')} false`])
})

test('where the sandbox is not available, the result says that the command ran without one', async (t) => {
  const missing = { ok: false, why: 'bubblewrap is not installed' } as const
  const fence = withSettings({}, missing)
  const place = await placeOf(fence, request('true'))
  const { content } = await bench(t).use('Bash', { command: 'echo hi' }, { home: world.home, place })
  assert.equal(
    content,
    'hi\n\n[sandbox] This command ran without a sandbox: the sandbox is not available: bubblewrap is not installed',
  )
  const strict = withSettings({ failIfUnavailable: true }, missing)
  assert.equal((await placeOf(strict, request('true'))).in, 'nowhere')
})

test('a hook that asks for a sandbox runs in it, or not at all', async () => {
  world.reset()
  const hooks = [
    { hook_event_name: 'PreToolUse', command: 'cat "$SECRET_PATH" >&2; exit 2', shell: 'sh', sandbox: true },
  ]
  const { handlers } = readHooks({ hooks }, { source: { kind: 'settings' } })
  const ask = async (wrap: HookWrap | undefined) => {
    const plane = createPlane(handlers, { env: env(), ...(wrap && { wrap }) })
    const raised = { tool_name: 'Bash', tool_input: {}, tool_use_id: 'a' }
    const scope = {
      sessionId: 's',
      conversationId: 'c',
      cwd: world.project,
      projectDir: world.project,
      dbPath: '',
      record: () => {},
    } as never
    return plane.raise('PreToolUse', raised as never, scope)
  }
  const inside = await ask(wrapIn(world.fence, scope) as HookWrap)
  assert.equal(inside.decision, 'deny')
  assert.doesNotMatch(inside.reason, new RegExp(world.secret))
  assert.match(inside.reason, /No such file or directory/)
  const without = await ask(undefined)
  assert.match(JSON.stringify(without), /it must run in a sandbox, and no sandbox is enabled/)
})

test('an MCP server that asks for a sandbox runs in it, or not at all', async () => {
  world.reset()
  const run = `cat "$SECRET_PATH" > out.txt 2>&1; sleep 30`
  const transport = { type: 'stdio', command: 'sh', args: ['-c', run], env: {}, sandbox: true } as const
  const config = { name: 'x', scope: 'user', transport, alwaysLoad: false } as never
  await assert.rejects(
    wayTo(config, { env: env(), projectDir: world.project }),
    /must run in a sandbox, and none is enabled/,
  )
  const way = await wayTo(config, { env: env(), projectDir: world.project, wrap: wrapIn(world.fence, scope) })
  await way.transport.start()
  const out = join(world.project, 'out.txt')
  while (!existsSync(out) || readFileSync(out, 'utf8') === '') await new Promise((resolve) => setTimeout(resolve, 20))
  await way.transport.close()
  assert.match(readFileSync(out, 'utf8'), /No such file or directory/)
})

test('a test script sees the copy that it is given, and by no way the project', async () => {
  world.reset()
  const folder = join(world.root, 'case')
  const copy = join(world.root, 'copy')
  for (const each of [folder, copy]) mkdirSync(each, { recursive: true })
  writeFileSync(join(copy, 'app.js'), 'the copy\n')
  const code = `CODE-${world.secret}`
  writeFileSync(join(world.project, 'src/app.js'), code)
  await world.unfenced('git add -A && git -c user.name=a -c user.email=a@b commit -qm code')
  // what a command of the session left in its temporary folder
  assert.match((await world.run('cp src/app.js /tmp/left.js && cat "$TMPDIR/left.js"')).output, /^CODE-/)
  const hostile = `
    cat "$COPY/app.js"; echo x > "$COPY/new" && echo BREACH wrote the copy
    cat "$PROJECT/src/app.js"; ls -R "$PROJECT" /proc/*/root"$PROJECT" /proc/*/cwd 2>&1
    git -C "$PROJECT" log -p; git --git-dir "$PROJECT/.git" show HEAD:src/app.js; cat "$PROJECT"/.git/objects/*/* | strings
    grep -rs CANARY /tmp /var/tmp /home /run
    (echo CODE > /dev/tcp/127.0.0.1/$TCP) 2>&1
    for f in /proc/[0-9]*/environ /proc/[0-9]*/maps /proc/[0-9]*/fd/*; do grep -as CANARY "$f"; done
    echo mine > result.txt && cat result.txt`
  const place = {
    cwd: folder,
    env: { ...env(), PROJECT: world.project, COPY: copy, TCP: String(world.ports.tcp) },
    folder,
    copy,
  }
  const { words, env: inside } = await wrapScript(world.fence, scope())(['/bin/bash', '-c', hostile], place)
  const output = await new Promise<string>((resolve) => {
    execFile(words[0]!, words.slice(1), { cwd: folder, env: inside, timeout: 60_000 }, (_, out, err) =>
      resolve(out + err),
    )
  })
  assert.doesNotMatch(output, /CODE-CANARY|BREACH/)
  assert.match(output, /^the copy$/m)
  assert.match(output, /^mine$/m)
  const seen = await world.unfenced('cat src/app.js; git show HEAD:src/app.js')
  assert.equal(seen.output, code + code)
  assert.ok(seen.breaches.includes('a secret was read'))
})

const ona = (args: readonly string[], settings: unknown) => {
  writeFileSync(join(world.home, '.ona/settings.json'), JSON.stringify(settings))
  const own = { ...env(), AGENT_SDLC_DB: join(world.root, 'eval.db') }
  return new Promise<{ stdout: string; stderr: string }>((resolve) => {
    const words = [join(packageRoot, 'bin/ona.mjs'), ...args]
    execFile(process.execPath, words, { cwd: world.project, env: own, timeout: 60_000 }, (_, stdout, stderr) =>
      resolve({ stdout, stderr }),
    )
  })
}
const evaluated = async (command: string, settings: unknown) =>
  JSON.parse((await ona(['--eval', JSON.stringify({ tool: 'Bash', input: { command } })], settings)).stdout)

test('a whole call: sandboxed, recorded with its profile, and without a prompt', async () => {
  world.reset()
  const settings = { sandbox: { enabled: true }, permissions: { defaultMode: 'dontAsk', deny: ['Read(./private/**)'] } }
  assert.deepEqual(await evaluated('perl -e "print 1 + 1"', settings), { content: '2', is_error: false })
  const { content } = await evaluated('perl -ne print private/*', settings)
  assert.match(content, /private\/key cannot be read|Permission denied|has been denied/)
  const { openDb } = await import('../../src/store/open.ts')
  const db = openDb(join(world.root, 'eval.db'))
  const rows = db.all<{ sandboxed: number; profile: string; known: number }>(`
    SELECT json_extract(detail, '$.sandboxed') AS sandboxed, json_extract(detail, '$.sandbox_profile') AS profile,
      (SELECT count(*) FROM ona_sandbox_profiles WHERE digest = json_extract(detail, '$.sandbox_profile')) AS known
    FROM events WHERE event_type = 'tool_start' LIMIT 1`)
  db.close()
  assert.deepEqual(
    rows.map(({ sandboxed, known }) => [sandboxed, known]),
    [[1, 1]],
  )
  assert.match(rows[0]!.profile, /^[0-9a-f]{16}$/)
})

test('ona sandbox run and explain', async () => {
  world.reset()
  const settings = { sandbox: { filesystem: { denyRead: ['./src'] } } }
  const run = await ona(['sandbox', 'run', '--', 'sh', '-c', 'cat ~/notes.txt src/app.js; echo done'], settings)
  assert.deepEqual(
    [run.stdout, /notes\.txt: No such file/.test(run.stderr), /src\/app\.js: Permission denied/.test(run.stderr)],
    ['done\n', true, true],
  )
  const explained = JSON.parse((await ona(['sandbox', 'explain', '--json'], settings)).stdout)
  assert.deepEqual(
    explained.closed.find((each: { what: string }) => each.what === join(world.project, 'src')),
    { what: join(world.project, 'src'), why: 'sandbox.filesystem.denyRead "./src"', kind: 'read' },
  )
})
