/** What git is given: seen by a program of that name, first on the PATH. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { git } from './quiet-git.ts'

test('before trust git gets settings that name no program, and nothing that points it elsewhere', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-git-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const log = join(folder, 'log')
  // it says which drivers the repository has, and keeps the variables of every other call
  writeFileSync(
    join(folder, 'git'),
    `#!/bin/sh\ncase "$*" in *--get-regexp*) printf 'filter.a=b.clean\\0diff.x.textconv\\0' ;; *) { echo "args $*"; env | grep '^GIT_\\|_API_KEY=' | sort; } > '${log}' ;; esac\n`,
    { mode: 0o755 },
  )
  const before = { ...process.env }
  t.after(() => {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
    Object.assign(process.env, before)
  })
  for (const name of Object.keys(process.env)) if (name.startsWith('GIT_')) delete process.env[name]
  process.env['PATH'] = `${folder}:${before['PATH']}`
  process.env['ANTHROPIC_API_KEY'] = 'not for git'
  for (const name of ['DIR', 'WORK_TREE', 'INDEX_FILE', 'COMMON_DIR', 'CONFIG_GLOBAL', 'EXTERNAL_DIFF', 'EXEC_PATH'])
    process.env[`GIT_${name}`] = '/elsewhere'
  for (const name of ['SSH', 'SSH_COMMAND', 'PROXY_COMMAND', 'TEMPLATE_DIR']) process.env[`GIT_${name}`] = '/program'
  const ofTheUser = {
    ...{ GIT_ALLOW_PROTOCOL: 'ext', GIT_NO_LAZY_FETCH: '0', GIT_OPTIONAL_LOCKS: '1', GIT_TERMINAL_PROMPT: '1' },
  }
  Object.assign(process.env, ofTheUser)

  const seen = async (args: readonly string[], trusted: boolean) => {
    assert.deepEqual(await git(folder, args, { trusted }), { ok: true, text: '' })
    const [first, ...variables] = readFileSync(log, 'utf8').trim().split('\n')
    const env = Object.fromEntries(variables.map((line) => line.split(/=(.*)/s).slice(0, 2)))
    const settings = Object.fromEntries(
      Array.from({ length: Number(env['GIT_CONFIG_COUNT'] ?? 0) }, (_, at) => [
        env[`GIT_CONFIG_KEY_${at}`],
        env[`GIT_CONFIG_VALUE_${at}`],
      ]),
    )
    const others = Object.entries(env).filter(([name]) => !name.startsWith('GIT_CONFIG_'))
    return [first, settings, Object.fromEntries(others)]
  }
  const settings = {
    'core.askPass': 'false',
    'core.fsmonitor': 'false',
    'core.hooksPath': '/dev/null',
    'core.pager': 'cat',
    'core.sshCommand': 'false',
    'credential.helper': '',
    'diff.external': '',
    'diff.x.textconv': '',
    'filter.a=b.clean': '',
    'filter.a=b.required': 'false',
    'protocol.allow': 'never',
    'safe.bareRepository': 'explicit',
    'submodule.recurse': 'false',
  }
  const variables = {
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
  }
  assert.deepEqual(await seen(['diff', '--stat'], false), [
    'args diff --no-ext-diff --no-textconv --ignore-submodules=all --stat',
    settings,
    variables,
  ])
  assert.deepEqual(await seen(['status'], false), ['args status --ignore-submodules=all', settings, variables])
  assert.deepEqual(await seen(['status'], true), ['args status', {}, ofTheUser])
})

test('a git that fails, or is not there, is an answer', async (t) => {
  const path = process.env['PATH']
  t.after(() => {
    process.env['PATH'] = path
  })
  const failed = await git(tmpdir(), ['no-such-verb'])
  assert.deepEqual([failed.ok, failed.text.includes('no-such-verb')], [false, true])
  process.env['PATH'] = '/nowhere'
  assert.deepEqual(await git(tmpdir(), ['status']), { ok: false, text: 'spawn git ENOENT' })
})

test('what git answers: much of it, why it failed, and that it took too long', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-git-'))
  const { PATH } = process.env
  t.after(() => {
    process.env['PATH'] = PATH
    rmSync(folder, { recursive: true })
  })
  writeFileSync(
    join(folder, 'git'),
    `#!/bin/sh\ncase "$*" in\n*much*) head -c 20000000 /dev/zero | tr '\\0' x ;;\n*fails*) echo out; echo why >&2; exit 3 ;;\n*silent*) exit 3 ;;\n*slow*) exec sleep 5 ;;\nesac\n`,
    { mode: 0o755 },
  )
  process.env['PATH'] = `${folder}:${PATH}`
  const answer = (word: string, timeoutMs?: number) =>
    git(folder, [word], { trusted: true, ...(timeoutMs !== undefined && { timeoutMs }) })
  const much = await answer('much')
  assert.deepEqual([much.ok, much.text.length], [true, 20_000_000])
  assert.deepEqual(await answer('fails'), { ok: false, text: 'why\n' })
  const silent = await answer('silent')
  assert.deepEqual([silent.ok, /^Command failed: git .*silent/.test(silent.text)], [false, true])
  assert.equal((await answer('slow', 200)).ok, false)
})
