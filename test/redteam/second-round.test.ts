/**
 * A second round of attacks by other ways: a command that hides who started it, names the record or the project otherwise,
 * and git in a repository that an agent or a stranger configured. The canary is the act itself.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { commitChanges, makeCheckout } from '../../src/fleet/jobs/checkout.ts'
import { type Place, place } from '../support/program.ts'
import { initDb } from '../support/workflow.ts'

const ona = `${process.execPath} ${join(import.meta.dirname, '../../bin/ona.mjs')}`

/** A plan that waits for the operator, and another conversation for the tools. */
async function planning(t: TestContext): Promise<Place> {
  const at = place(t)
  await initDb(at)
  const db = new DatabaseSync(at.db)
  db.prepare("INSERT INTO conversations(id, project_dir, phase) VALUES ('c', ?, 'planning')").run(at.folder)
  db.prepare("INSERT INTO conversations(id, project_dir, last_active) VALUES ('tools', ?, '2099-01-01')").run(at.folder)
  db.exec(
    "INSERT INTO plans(conversation_id, content, hash) VALUES ('c', '# P\n\n## Success criteria\n- it works\n', 'x')",
  )
  db.close()
  return at
}

/** Alone: what a command may do depends on the process that started it. */
const bash = async (at: Place, command: string) => {
  const call = JSON.stringify({ tool: 'Bash', input: { command } })
  const words = ['--eval', call, '--conversation', 'tools', '--permission-mode', 'bypassPermissions']
  return (await at.run(words, { alone: true })).stdout
}
const refused = /(?:is for the operator|exit 1\b.*is for the operator)/s
const approve = `${ona} plan approve --conversation c --as Mallory`
/** Whether this machine lets a command make a namespace. */
const mayUnshare = spawnSync('unshare', ['-mpf', '--mount-proc', 'true']).status === 0

test('a command that hides its ancestors, or names the record otherwise, approves nothing', async (t) => {
  const at = await planning(t)
  const other = join(at.folder, 'other.db')
  const link = `python3 -c "import os; os.link(os.environ['HOME'] + '/.o' + 'na/agent.db', '${other}')"`
  const hidden = [
    `${link}; AGENT_SDLC_DB=${other} env -u ONA_GOVERNED ${approve} 2>&1`,
    ...(mayUnshare
      ? [
          `env -u ONA_GOVERNED unshare -pf --mount-proc ${approve} 2>&1`,
          `env -u ONA_GOVERNED unshare -m bash -c "mount -t tmpfs none /proc; ${approve}" 2>&1`,
        ]
      : []),
  ]
  for (const command of hidden) assert.match(await bash(at, command), refused, command)
  assert.deepEqual(
    at.rows('SELECT status FROM plans').map((row) => ({ ...row })),
    [{ status: 'draft' }],
  )
})

test('another HOME does not make the configuration of this project the own', async (t) => {
  const at = await planning(t)
  const home = `HOME=${at.folder}-other`
  for (const unset of ['', 'env -u ONA_GOVERNED '])
    assert.match(await bash(at, `${home} ${unset}${ona} mcp add --scope project evil evil 2>&1`), refused)
  assert.equal(existsSync(join(at.folder, '.mcp.json')), false)
  const ran = await at.run(['mcp', 'add', '--scope', 'project', 'good', 'good'])
  assert.deepEqual([ran.code, existsSync(join(at.folder, '.mcp.json'))], [0, true]) // control
})

test('every command that changes what governs refuses inside a tool', async (t) => {
  const at = await planning(t)
  at.write('policy.yaml', 'permissions:\n  deny: ["Read(.env)"]\n')
  mkdirSync(join(at.folder, '.ai/tmp'), { recursive: true })
  const acts = [
    ...['dispatcher install', 'dispatcher uninstall', 'init --hooks claudecode', 'hooks import claudecode'],
    ...['mcp reset-project-choices', 'mcp logout x', 'mcp login x', 'audit import .ai/tmp'],
    ...[
      'enforce apply --rules policy.yaml --root .',
      'enforce remove --root .',
      'audit archive --older-than 1d',
      'audit unarchive c',
      'audit erase --session c',
    ],
    ...['plugin marketplace add ./x', 'logout', 'fleet up', 'fleet enrol http://127.0.0.1:1 --token x'],
  ]
  const lines = acts.map((act) => `echo "== ${act}"; ${ona} ${act} 2>&1`).join('; ')
  const said = JSON.parse(await bash(at, lines)) as { content: string }
  const passed = said.content
    .split('== ')
    .slice(1)
    .filter((part) => !refused.test(part))
  assert.deepEqual(passed, [])
})

test('a detached command cannot trust a folder when its parents are gone', async (t) => {
  const at = await planning(t)
  const seen = join(at.folder, 'seen')
  const trust = `${ona} --trust --eval "{\\"tool\\":\\"Glob\\",\\"input\\":{\\"pattern\\":\\"*\\"}}"`
  const later = `sleep 1; ${trust} > ${seen}.part 2>&1; mv ${seen}.part ${seen}`
  await bash(at, `setsid --fork env -i HOME=${at.home} PATH="$PATH" bash -c '${later}' > /dev/null 2>&1 < /dev/null`)
  for (let tries = 0; tries < 600 && !existsSync(seen); tries++) await wait(100)
  assert.match(readFileSync(seen, 'utf8'), /trusting a folder is for the operator/)
  assert.equal(existsSync(join(at.home, '.ona/trust.json')), false)
})

const git = (cwd: string, ...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd, stdio: 'pipe', encoding: 'utf8' })

test('ona doctor and ona hooks brains run no monitor of an untrusted repository', async (t) => {
  const at = place(t)
  const canary = join(at.home, 'ran')
  const evil = at.write('evil', `#!/bin/sh\necho x >> ${canary}\n`)
  at.write('.agent/repo=.this/role=any/hooks.yml', 'hooks: []\n')
  at.write('.agent/repo=x/role=y/readme.md', 'x')
  at.write('.claude/settings.json', { hooks: {} })
  git(at.folder, 'init', '-q')
  git(at.folder, 'add', '.')
  git(at.folder, 'commit', '-qm', 'x')
  appendFileSync(join(at.folder, '.git/config'), `[core]\n\tfsmonitor = ${evil}\n`)
  for (const words of [
    ['doctor'],
    ['hooks', 'brains'],
    ['hooks', 'list'],
    ['role', 'list'],
    ['init', '--hooks', '--check'],
  ])
    await at.run(words)
  assert.equal(existsSync(canary), false)
  git(at.folder, 'ls-files', '-m') // control
  assert.equal(existsSync(canary), true)
})

test('what a job wrote into the configuration of its checkout does not run in the worker', async (t) => {
  const at = place(t)
  const canary = join(at.home, 'ran')
  const evil = at.write('evil', `#!/bin/sh\necho x >> ${canary}\ncat\n`)
  const repo = join(at.folder, 'repo')
  mkdirSync(repo)
  git(repo, 'init', '-q', '-b', 'main')
  writeFileSync(join(repo, 'a.txt'), 'one\n')
  git(repo, 'add', '.')
  git(repo, 'commit', '-qm', 'x')
  const checkout = await makeCheckout(join(at.home, 'job'), repo, 'main', 'job')
  const config = `[core]\n\tfsmonitor = ${evil}\n\tsshCommand = ${evil}\n[filter "x"]\n\tclean = ${evil}\n\trequired = true\n[remote "origin"]\n\tpushurl = ${at.home}/elsewhere\n`
  appendFileSync(join(checkout.folder, '.git/config'), config)
  writeFileSync(join(checkout.folder, '.gitattributes'), '* filter=x\n')
  writeFileSync(join(checkout.folder, 'a.txt'), 'two\n')
  const commit = await commitChanges(checkout, 'work', true)
  assert.equal(existsSync(canary), false)
  assert.equal(git(repo, 'rev-parse', 'job').trim(), commit)
  appendFileSync(join(checkout.folder, '.git/config'), config)
  git(checkout.folder, 'status') // control
  assert.equal(existsSync(canary), true)
})
