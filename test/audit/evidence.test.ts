/** Proof: the chain and attestations through the program alone, and the workflow that a pull request runs. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { parse } from 'yaml'
import { place } from '../support/program.ts'

const root = join(import.meta.dirname, '../..')

test('verify names the row that another program changed; a checkpoint shows what was cut off', async (t) => {
  const here = place(t)
  const call = JSON.stringify({ tool: 'Glob', input: { pattern: '*' } })
  for (let n = 0; n < 3; n++) await here.run(['--eval', call])
  const whole = await here.run(['audit', 'verify'])
  assert.equal(whole.code, 0, whole.stderr)
  assert.match(whole.stdout, /^\d+ rows in \d+ links are as they were written\nhead [0-9a-f]{64}\n$/)
  assert.equal((await here.run(['audit', 'checkpoint', '--out', 'c.jsonl'])).code, 0)
  assert.equal((await here.run(['audit', 'verify', '--checkpoint', 'c.jsonl'])).code, 0)
  const db = new DatabaseSync(here.db)
  db.exec(
    "UPDATE tool_permission_log SET decision = 'allow' WHERE id = 1; UPDATE transcript_entries SET payload_json = replace(payload_json, 'Glob', 'Grep') WHERE id = 1",
  )
  db.close()
  const changed = await here.run(['audit', 'verify', '--json'])
  const { ok, fault } = JSON.parse(changed.stdout)
  assert.deepEqual([changed.code, ok, fault.kind, fault.row], [1, false, 'changed', 1])
})

test('export, retention and erasure', async (t) => {
  const here = place(t)
  await here.run(['--eval', JSON.stringify({ tool: 'Bash', input: { command: 'echo personal-data' } })])
  const exported = await here.run(['audit', 'export', '--format', 'ocsf'])
  assert.equal(exported.code, 0)
  for (const line of exported.stdout.trim().split('\n')) assert.equal(JSON.parse(line).class_uid, 6003)
  assert.ok(!exported.stdout.includes('personal-data'))
  assert.match((await here.run(['audit', 'export', '--format', 'csv', '--content'])).stdout, /personal-data/)
  assert.match((await here.run(['audit', 'retain', '--days', '1', '--dry-run'])).stdout, /^0 sessions/)
  const [{ id }] = here.rows<{ id: string }>('SELECT session_id AS id FROM sessions') as [{ id: string }]
  assert.equal((await here.run(['audit', 'erase', '--session', id])).code, 0)
  assert.deepEqual(here.rows("SELECT 1 FROM transcript_entries WHERE payload_json LIKE '%personal-data%'"), [])
  const verified = await here.run(['audit', 'verify'])
  assert.equal(verified.code, 0, verified.stderr)
  assert.match(verified.stdout, /erased on purpose/)
  for (const [words, code] of [
    [['retain'], 2],
    [['retain', '--days', 'x'], 2],
    [['erase'], 2],
    [['erase', '--session', 'none'], 1],
    [['export', '--format', 'xml'], 2],
  ] as const)
    assert.equal((await here.run(['audit', ...words])).code, code, words.join(' '))
})

test('work that was planned, tested and signed off is attested, verified offline, and cannot be altered', async (t) => {
  const here = place(t)
  const demo = await here.run(['demo', '--yes', '--keep'], { timeoutMs: 300_000 })
  const [, project, db] = /The project is in (.+), its database (.+)/.exec(demo.stdout)!
  t.after(() => rmSync(dirname(project!), { recursive: true, force: true }))
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
      cwd: project,
      encoding: 'utf8',
    }).trim()
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'work')
  const env = { AGENT_SDLC_DB: db! }
  const made = await here.run(['attest', '--repo', project!, '--out', 'a.json'], { env, timeoutMs: 120_000 })
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stdout, /3 criteria, 3 of 3 cases passed/)
  const verify = (file: string, more: Record<string, string> = {}) =>
    here.run(['attest', 'verify', file, '--repo', project!, '--json'], { env: { ...env, ...more } })
  const checked = await verify('a.json')
  assert.equal(checked.code, 0, checked.stderr)
  const { ok, predicate } = JSON.parse(checked.stdout)
  assert.equal(ok, true)
  assert.deepEqual(
    [
      predicate.signOff.by,
      predicate.coverage.ready,
      predicate.criteria.every((each: { cases: { blind: boolean }[] }) => each.cases.every(({ blind }) => blind)),
    ],
    ['you', true, true],
  )
  assert.equal(predicate.range.to, git('rev-parse', 'HEAD'))
  const elsewhere = await verify('a.json', { AGENT_SDLC_DB: join(here.folder, 'none.db') })
  assert.equal(elsewhere.code, 0)
  assert.match(elsewhere.stdout, /the record is not on this machine/)
  const text = readFileSync(join(here.folder, 'a.json'), 'utf8')
  const envelope = JSON.parse(text)
  const payload = Buffer.from(envelope.payload, 'base64').toString().replace('"passed":3', '"passed":9')
  here.write('b.json', { ...envelope, payload: Buffer.from(payload).toString('base64') })
  for (const bad of ['b.json', here.write('c.json', 'not json')]) {
    const refused = await verify(bad)
    assert.equal(refused.code, 1, bad)
  }
  const words = ['attest', 'verify', 'b.json', '--repo', project!, '--sarif', 'b.sarif']
  assert.equal((await here.run(words, { env })).code, 1)
  const [{ results }] = JSON.parse(readFileSync(join(here.folder, 'b.sarif'), 'utf8')).runs
  assert.deepEqual(
    results.map(({ level, message }: { level: string; message: { text: string } }) => [level, message.text]),
    [['error', 'the signature does not match: it was changed']],
  )
  const unsigned = await here.run(['attest', '--repo', project!, '--sigstore'], { env, timeoutMs: 120_000 })
  assert.equal(unsigned.code, 1)
  assert.match(unsigned.stderr, /Sigstore did not sign it: /)
  here.write('bundle.json', { mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json' })
  assert.match((await verify('bundle.json')).stderr, /say whose signature counts with --identity/)
  git('commit', '-q', '--allow-empty', '--amend', '-m', 'other')
  assert.match((await verify('a.json')).stdout, /is not part of HEAD/)
  const lines = JSON.parse((await here.run(['attest', 'lines', '--repo', project!], { env })).stdout)
  assert.ok(lines.files.length > 0 && lines.files[0].conversations[0].ranges[0].start_line >= 1)
})

test('the workflow of the example runs step by step', async (t) => {
  const here = place(t)
  const workflow = parse(readFileSync(join(root, 'examples/ci/ona.yml'), 'utf8'))
  const action = parse(readFileSync(join(root, 'action/action.yml'), 'utf8'))
  assert.equal(action.runs.using, 'composite')
  const bin = join(here.home, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'ona'), `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'bin/ona.mjs')}" "$@"\n`)
  chmodSync(join(bin, 'ona'), 0o755)
  execFileSync('git', ['init', '-q'], { cwd: here.folder })
  await here.run(['policy', 'new', 'no-secrets', '--out', 'policies/no-secrets'])
  await here.run(['--eval', JSON.stringify({ tool: 'Glob', input: { pattern: '*' } })])
  const used = workflow.jobs.policies.steps.find((step: { uses?: string }) => step.uses === './action')
  const inputs: Record<string, string> = {
    ...Object.fromEntries(
      Object.entries<{ default?: string }>(action.inputs).map(([key, value]) => [key, value.default ?? '']),
    ),
    ...used.with,
    database: here.db,
  }
  const summary = join(here.folder, 'summary.md')
  const ran: string[] = []
  for (const step of action.runs.steps as { name: string; run?: string; if?: string; env?: Record<string, string> }[]) {
    if (step.run === undefined || step.name.startsWith('Install')) continue
    const filled = (text: string) => text.replaceAll(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, key) => inputs[key] ?? '')
    const wanted =
      step.if === undefined ||
      /inputs\.([\w-]+) != ''/.exec(step.if)?.[1] === undefined ||
      inputs[/inputs\.([\w-]+) != ''/.exec(step.if)![1]!] !== ''
    if (!wanted) continue
    const env = Object.fromEntries(Object.entries(step.env ?? {}).map(([key, value]) => [key, filled(String(value))]))
    execFileSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', filled(step.run)], {
      cwd: here.folder,
      env: { PATH: `${bin}:${process.env['PATH']}`, HOME: here.home, GITHUB_STEP_SUMMARY: summary, ...env },
    })
    ran.push(step.name)
  }
  assert.deepEqual(ran, ['Rehearse the policies', 'Replay the policies over the record', 'Verify the record'])
  assert.match(readFileSync(summary, 'utf8'), /## ona/)
  assert.match(readFileSync(join(here.folder, 'ona-replay.xml'), 'utf8'), /<testsuites/)
  const { version, runs } = JSON.parse(readFileSync(join(here.folder, 'ona-replay.sarif'), 'utf8'))
  assert.deepEqual([version, runs[0].tool.driver.name], ['2.1.0', 'ona hooks replay'])
})
