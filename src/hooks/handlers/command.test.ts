import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../../test/support/until.ts'
import { argvOf, type CommandRun, type Exit, outputLimit, runCommand, truncationMark } from './command.ts'
import { hookEnv } from './hook-env.ts'

const folder = mkdtempSync(join(tmpdir(), 'ona-command-'))
after(() => rmSync(folder, { recursive: true }))

/** A home without a profile: what a login of the developer's does is no matter of the tests. */
const env = { ...process.env, HOME: folder }

const run = (command: string, more: Partial<CommandRun> = {}): Promise<Exit> =>
  runCommand({ command, shell: 'sh', cwd: folder, input: '{"a":1}', env, timeoutMs: 20_000, ...more })
const runs = (pid: number) => {
  try {
    // a child that nobody has waited for yet is still there, but it runs no more
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
const pidIn = (file: string) => Number(readFileSync(join(folder, file), 'utf8'))

test('bash is a login shell that gets the command, sh a plain one', async () => {
  const [login, plain] = await Promise.all([
    run('shopt -q login_shell && echo login; echo "$0 $BASH_VERSION"', { shell: 'bash' }),
    run('echo "$0 $-"'),
  ])
  assert.match(login.stdout, /^login\n\/(usr\/)?bin\/bash \d/m)
  assert.match(plain.stdout, /^\/(usr\/)?bin\/sh/)
})

test('the input is one line, and then the end', async () => {
  const { stdout } = await run('cat; echo "|end"')
  assert.equal(stdout, '{"a":1}\n|end\n')
})

test('without a PowerShell on the PATH, nothing is started and that is said', async () => {
  assert.deepEqual(await run('1', { shell: 'powershell', env: { PATH: folder } }), {
    end: 'not-started',
    exitCode: null,
    stdout: '',
    stderr: '',
    note: 'not started: neither pwsh nor powershell is on the PATH',
  })
})

test('the first of pwsh and powershell on the PATH is started, without a profile', async () => {
  writeFileSync(join(folder, 'powershell'), '#!/bin/sh\nprintf "%s|" "$0" "$@"', { mode: 0o755 })
  const { stdout } = await run('Get-Date', { shell: 'powershell', env: { PATH: `/nowhere:${folder}` } })
  assert.equal(stdout, `${folder}/powershell|-NoProfile|-NonInteractive|-Command|Get-Date|`)
})

test('a missing working directory is a failure that names it, and no sandbox is made for it', async () => {
  const wrap: CommandRun['wrap'] = async () => assert.fail('asked for a sandbox')
  for (const more of [{}, { wrap }]) {
    const { end, note } = await run('true', { cwd: join(folder, 'gone'), ...more })
    assert.deepEqual([end, note], ['not-started', `not started: its working directory ${folder}/gone does not exist`])
  }
})

test('a command that the system cannot take is a failure, not a crash', async () => {
  assert.equal((await run('true\0')).end, 'not-started')
  assert.equal((await run(`: ${'x'.repeat(3_000_000)}`)).end, 'not-started')
})

test('bytes that are no UTF-8 become replacement characters; a byte order mark goes', async () => {
  assert.equal((await run(String.raw`printf '\357\273\277a\377b\342\202'`)).stdout, 'a�b�')
})

test('output is kept up to 4 MiB, marked, and the hook still ends by itself', async () => {
  const { stdout, stderr, exitCode } = await run('head -c 5000000 /dev/zero | tr "\\0" x; echo why >&2; exit 2')
  assert.equal(stdout.length, outputLimit + truncationMark.length)
  assert.ok(stdout.endsWith(`x${truncationMark}`))
  assert.deepEqual([stderr, exitCode], ['why\n', 2])
})

test('a hook that never stops printing loses its pipe', async () => {
  const { stdout, end } = await run('yes')
  assert.ok(stdout.endsWith(truncationMark))
  assert.ok(end === 'killed' || end === 'exited')
})

test('a hook may leave its input unread, or close it', async () => {
  const input = JSON.stringify({ text: 'x'.repeat(2_000_000) })
  assert.equal((await run('exit 0', { input })).exitCode, 0)
  assert.equal((await run('exec 0<&-; echo ok', { input })).stdout, 'ok\n')
})

test('what a hook leaves running does not hold it up', async () => {
  const { end, stdout } = await run('sleep 30 & echo $! > left; echo done')
  assert.deepEqual([end, stdout], ['exited', 'done\n'])
  process.kill(pidIn('left'))
})

test('a hook ended by a signal has no exit code, and the signal is named', async () => {
  const { end, exitCode, note } = await run('echo half; kill -9 $$')
  assert.deepEqual([end, exitCode, note], ['killed', null, 'ended by SIGKILL'])
})

test('at its time limit a hook ends with all that it started', async () => {
  const { end, note } = await run(
    '(trap "" TERM; sh -c "echo \\$\\$ > deep; sleep 60") & sleep 60 & echo $! > child; wait',
    {
      timeoutMs: 300,
    },
  )
  assert.deepEqual([end, note], ['timed-out', 'timed out after 300 ms'])
  for (const pid of ['child', 'deep'].map(pidIn))
    for (let look = 0; runs(pid); look++) {
      assert.ok(look < 4000, `${pid} still runs`)
      await wait(5) // killed, and about to go
    }
})

test('a hook that does not heed the first signal is killed half a second later', async (t) => {
  const timers = t.mock.method(globalThis, 'setTimeout')
  const { end } = await run('trap "" TERM; sleep 30 & wait; sleep 30', { timeoutMs: 50 })
  const delays = timers.mock.calls.map(({ arguments: [, ms] }) => ms)
  assert.deepEqual([end, delays.slice(0, 2)], ['timed-out', [50, 500]])
})

test('an interrupt ends a hook, and one that is interrupted already is not started', async () => {
  const controller = new AbortController()
  const running = run('touch begun; sleep 30', { signal: controller.signal })
  await until(() => existsSync(join(folder, 'begun')))
  controller.abort()
  assert.equal((await running).end, 'interrupted')
  assert.equal((await run('touch never', { signal: controller.signal })).end, 'interrupted')
  assert.equal(existsSync(join(folder, 'never')), false)
})

test('a hook has the whole environment, where the database is, and a UTF-8 locale', () => {
  const where = { dbPath: '/db', projectDir: '/p' }
  const own = { source: { kind: 'settings' } } as const
  assert.deepEqual(hookEnv({ A: '1' }, where, own), {
    A: '1',
    AGENT_SDLC_DB: '/db',
    SDLC_HOOK: '1',
    LANG: 'C.UTF-8',
    CLAUDE_PROJECT_DIR: '/p',
  })
  assert.equal(hookEnv({ LANG: 'de_DE.UTF-8' }, where, own).LANG, 'de_DE.UTF-8')
  assert.equal(hookEnv({ LC_ALL: 'C' }, where, own).LANG, undefined)
})

test("a hook written for Claude Code finds Claude Code's variables, and a plugin's hook its folder", () => {
  const where = { dbPath: '/db', projectDir: '/p' }
  const common = { AGENT_SDLC_DB: '/db', SDLC_HOOK: '1', LANG: 'C', CLAUDE_PROJECT_DIR: '/p', CLAUDECODE: '1' }
  const env = { LANG: 'C' }
  assert.deepEqual(hookEnv(env, where, { source: { kind: 'settings' }, profile: 'claude' }), common)
  assert.deepEqual(
    hookEnv(env, where, { source: { kind: 'plugin', pluginId: 'a', root: '/plugins/a' }, profile: 'claude' }),
    { ...common, CLAUDE_PLUGIN_ROOT: '/plugins/a' },
  )
  const plugin = { kind: 'plugin', pluginId: 'a', env: { TOKEN_FILE: '/t' } } as const
  assert.deepEqual(hookEnv(env, where, { source: plugin, profile: 'claude' }), { ...common, TOKEN_FILE: '/t' })
  const settings = { kind: 'settings', root: '/x', env: { TOKEN_FILE: '/t' } } as never
  assert.deepEqual(hookEnv(env, { dbPath: '/db' }, { source: settings }), {
    AGENT_SDLC_DB: '/db',
    SDLC_HOOK: '1',
    LANG: 'C',
  })
})

test('how a command ended is reported in full', async () => {
  const printed = { stdout: 'a\n', stderr: 'b\n' }
  const says = 'echo a; echo b >&2; '
  const none = { exitCode: null, stdout: '', stderr: '' }
  const rows: [Promise<Exit>, Exit][] = [
    [run(`${says}exit 3`), { end: 'exited', exitCode: 3, ...printed, note: '' }],
    [run(`${says}kill -HUP $$`), { end: 'killed', exitCode: null, ...printed, note: 'ended by SIGHUP' }],
    [
      run(`${says}exec sleep 30`, { timeoutMs: 1500 }),
      { end: 'timed-out', exitCode: null, ...printed, note: 'timed out after 1500 ms' },
    ],
    [
      run('true', { signal: AbortSignal.abort() }),
      { end: 'interrupted', ...none, note: 'was interrupted before it started' },
    ],
    [
      run('/no/such/program', { args: [] }),
      { end: 'not-started', ...none, note: 'not started: there is no program /no/such/program' },
    ],
  ]
  for (const [exit, expected] of rows) assert.deepEqual(await exit, expected)
})

test('the exec form: words as they are, with variables of Claude Code filled in where they are set', () => {
  const env = { CLAUDE_PROJECT_DIR: '/a b', PATH: folder, HOME: '/h' }
  const argv = (command: string, more: Partial<CommandRun> = {}) => argvOf({ command, shell: 'sh', env, ...more })
  writeFileSync(join(folder, 'pwsh'), '', { mode: 0o755 })
  const both = ['-NoProfile', '-NonInteractive', '-Command', 'x']
  assert.deepEqual(
    [
      argv('${CLAUDE_PROJECT_DIR}/run', {
        args: ['${CLAUDE_PROJECT_DIR}:${CLAUDE_OTHER}', '$CLAUDE_PROJECT_DIR', '${HOME}'],
      }),
      argv('x', { args: [], shell: 'bash' }),
      argv('x y')?.slice(1),
      argv('x y', { shell: 'bash' })?.slice(1),
      argv('x', { shell: 'powershell' }),
      argv('x', { shell: 'powershell', env: {} }),
    ],
    [
      ['/a b/run', '/a b:${CLAUDE_OTHER}', '$CLAUDE_PROJECT_DIR', '${HOME}'],
      ['x'],
      ['-c', 'x y'],
      ['-lc', 'x y'],
      [join(folder, 'pwsh'), ...both],
      undefined,
    ],
  )
  rmSync(join(folder, 'pwsh'))
})

test('a sandbox gets the words and gives those that run; one that cannot be made, or has no folder, runs nothing', async () => {
  const asked: unknown[] = []
  const wrap: CommandRun['wrap'] = async (words, { cwd, env }) => {
    asked.push(words.slice(1), cwd, env['A'])
    return { words: ['/bin/sh', '-c', 'printf "%s|" "$B" "$@"', 'inside', ...words.slice(1)], env: { B: 'b' } }
  }
  const more = { env: { A: 'a' }, wrap }
  assert.equal((await run('true', more)).stdout, 'b|-c|true|')
  assert.deepEqual(asked, [['-c', 'true'], folder, 'a'])
  const none = { end: 'not-started', exitCode: null, stdout: '', stderr: '' }
  const broken = async () => Promise.reject(new Error('there is none'))
  assert.deepEqual(await run('touch never', { wrap: broken }), {
    ...{ ...none, note: 'not started: it must run in a sandbox, and there is none' },
  })
  const gone = join(folder, 'gone')
  assert.deepEqual(await run('true', { ...more, cwd: gone }), {
    ...{ ...none, note: `not started: its working directory ${gone} does not exist` },
  })
  const file = join(folder, 'a-file')
  writeFileSync(file, '')
  assert.equal((await run('true', { cwd: file })).note, `not started: its working directory ${file} does not exist`)
  assert.equal(existsSync(join(folder, 'never')), false)
})

test('the first line is heard once, as soon as it is whole', async () => {
  const heard = async (command: string) => {
    const lines: string[] = []
    const { stdout } = await run(command, { onFirstLine: (line) => lines.push(line) })
    return [lines, stdout]
  }
  assert.deepEqual(
    [
      await heard('printf a; sleep 0.05; printf "b\\nc\\n"; sleep 0.05; printf "d\\n"'),
      await heard('printf abc'),
      await heard('printf "\\nx\\n"'),
    ],
    [
      [['ab'], 'ab\nc\nd\n'],
      [[], 'abc'],
      [[''], '\nx\n'],
    ],
  )
})

test('4 MiB are kept whole and without a mark', async () => {
  const { stdout } = await run(`head -c ${outputLimit} /dev/zero | tr "\\0" x`)
  assert.deepEqual([stdout.length, outputLimit], [4 * 1024 * 1024, 4 * 1024 * 1024])
  const more = await run(`head -c ${outputLimit + 1} /dev/zero | tr "\\0" x`)
  assert.equal(more.stdout, `${'x'.repeat(outputLimit)}\n[SDLC_OUTPUT_TRUNCATED]\n`)
})

test('a hook that prints twice as much as is kept can print it all, and ends by itself', async () => {
  const script = `head -c ${2 * outputLimit} /dev/zero | tr '\\0' x && echo whole >&2; exit 3`
  const { end, exitCode, stdout, stderr } = await run(script)
  assert.deepEqual(
    [end, exitCode, stderr, stdout.length],
    ['exited', 3, 'whole\n', outputLimit + truncationMark.length],
  )
})
