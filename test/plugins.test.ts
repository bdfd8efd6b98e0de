/** Plugins as a user meets them: installed, trusted, changed, removed, on the command line. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { packageRoot } from '../src/package-root.ts'
import { runProgram } from './support/run-program.ts'

function user(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-plugin-user-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const home = join(folder, 'home')
  const cwd = join(folder, 'work')
  for (const each of [home, cwd]) mkdirSync(each)
  const env = { PATH: process.env['PATH'], HOME: home, AGENT_SDLC_DB: join(folder, 'agent.db') }
  const ona = async (...words: string[]) => {
    const { code: status, stdout, stderr } = await runProgram(words, { cwd, env })
    return { status, stdout, stderr }
  }
  const json = async (...words: string[]) => JSON.parse((await ona(...words, '--json')).stdout)
  return { folder, home, cwd, ona, json, db: env.AGENT_SDLC_DB }
}

const push = '{"tool":"Bash","input":{"command":"git push --force"}}'

test('the example plugin guards once it is trusted, and not after its files changed', async (t) => {
  const { folder, ona, json, db } = user(t)
  const source = join(folder, 'tidy')
  cpSync(join(packageRoot, 'examples/plugins/tidy'), source, { recursive: true })
  const added = await ona('plugin', 'add', source)
  assert.deepEqual([added.status, /not trusted, so nothing of it is used/.test(added.stderr)], [0, true])
  const before = await ona('--eval', push)
  assert.doesNotMatch(before.stdout, /force-with-lease/)
  assert.match(before.stderr, /plugin tidy@local is not trusted/)
  const rows = new DatabaseSync(db, { readOnly: true })
  assert.deepEqual(
    rows
      .prepare("SELECT DISTINCT skipped_reason AS why FROM hook_invocations WHERE hook_event = 'PreToolUse'")
      .all()
      .map((row) => row['why']),
    ['untrusted_plugin'],
  )
  rows.close()
  assert.equal((await ona('plugin', 'trust', 'tidy')).status, 0)
  assert.match((await ona('--eval', push)).stdout, /Use git push --force-with-lease/)
  assert.deepEqual(
    (await json('plugin', 'list')).map(({ id, state, trust }: Record<string, string>) => [id, state, trust]),
    [['tidy@local', 'enabled', 'trusted']],
  )
  const [{ path }] = await json('plugin', 'list')
  writeFileSync(join(path, 'scripts/no-force-push.mjs'), '')
  assert.match((await ona('--eval', push)).stderr, /tidy@local has changed since you trusted it/)
  assert.equal((await ona('plugin', 'update', 'tidy')).status, 0)
  assert.equal((await ona('plugin', 'remove', 'tidy')).status, 0)
  assert.deepEqual(await json('plugin', 'list'), [])
})

test('the commands report what is wrong, with the remedy', async (t) => {
  const { folder, ona, home } = user(t)
  writeFileSync(join(folder, 'not-a-folder'), '')
  const cases: [string[], number, RegExp][] = [
    [['plugin', 'add'], 2, /name a plugin/],
    [
      ['plugin', 'add', 'x@nowhere'],
      1,
      /there is no marketplace "nowhere"; ona plugin marketplace add SOURCE adds one/,
    ],
    [['plugin', 'add', 'ext::sh'], 2, /is not a source; give owner\/repo/],
    [['plugin', 'add', join(folder, 'gone')], 1, /there is no such folder/],
    [['plugin', 'info', 'gone'], 1, /there is no plugin "gone"; none is installed/],
    [['plugin', 'enable', 'gone'], 1, /there is no plugin "gone"; ona plugin list/],
    [['plugin', 'validate', folder], 1, /is not a plugin: it has no \.claude-plugin\/plugin\.json/],
    [['plugin', 'marketplace', 'add', folder], 1, /so this is not a marketplace/],
    [['plugin', 'marketplace', 'remove', 'gone'], 1, /there is no marketplace "gone"/],
  ]
  for (const [words, status, message] of cases) {
    const ran = await ona(...words)
    assert.deepEqual([ran.status, message.test(ran.stderr)], [status, true], `${words.join(' ')}: ${ran.stderr}`)
  }
  mkdirSync(join(home, '.ona'), { recursive: true })
  writeFileSync(join(home, '.ona/settings.json'), '{"enabledPlugins":{"x@acme":true},"strictKnownMarketplaces":[]}')
  const started = await ona('--eval', '{"tool":"Glob","input":{"pattern":"*"}}')
  assert.match(started.stderr, /plugin x@acme is enabled and not installed; ona plugin add x@acme installs it/)
  assert.match(started.stderr, /strictKnownMarketplaces counts in managed settings only/)
})

test('a marketplace lists its plugins, and the examples are valid', async (t) => {
  const { ona, json, home } = user(t)
  const examples = join(packageRoot, 'examples/plugins')
  for (const path of [examples, join(examples, 'tidy')])
    assert.deepEqual(await json('plugin', 'validate', path), {
      kind: path === examples ? 'marketplace' : 'plugin',
      valid: true,
      problems: [],
      warnings: [],
    })
  assert.equal((await ona('plugin', 'marketplace', 'add', examples)).status, 0)
  assert.equal((await ona('plugin', 'add', 'tidy@examples', '--trust')).status, 0)
  assert.deepEqual(JSON.parse(readFileSync(join(home, '.ona/settings.json'), 'utf8')), {
    enabledPlugins: { 'tidy@examples': true },
  })
  const info = await json('plugin', 'info', 'tidy')
  assert.deepEqual(
    [info.state, info.runs, info.offers],
    [
      'enabled',
      ['hook PreToolUse(Bash): node "$ROOT/scripts/no-force-push.mjs"'],
      [
        'skill /tidy:changelog',
        'command /tidy:message, which allows Bash(git diff --staged *), Bash(git log *)',
        'agents in agents',
        'output styles in output-styles',
      ],
    ],
  )
})
