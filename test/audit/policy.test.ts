/** Policies out of the library and out of the record: through the program alone. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { starters } from '../../src/audit/policy/starters/library.ts'
import { type Place, place } from '../support/program.ts'

test('every policy of the library is proved by its rehearsal', async (t) => {
  const here = place(t)
  const scripts: string[] = []
  for (const { id } of starters) {
    const { code, stderr } = await here.run(['policy', 'new', id])
    assert.equal(code, 0, stderr)
    scripts.push(`.ona/policies/${id}/rehearsal.yaml`)
  }
  const { code, stdout, stderr } = await here.run(['rehearse', ...scripts], { timeoutMs: 120_000 })
  assert.equal(code, 0, `${stdout}${stderr}`)
  assert.equal(stdout.match(/^ok/gm)?.length, starters.length, stdout)
})

test('without its rules the rehearsal of a policy fails: it proves something', async (t) => {
  const here = place(t)
  await here.run(['policy', 'new', 'no-secrets', '--out', 'p'])
  const file = join(here.folder, 'p/rehearsal.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('"Read(.env)"', '"Read(other)"'))
  assert.equal((await here.run(['rehearse', 'p/rehearsal.yaml'])).code, 1)
})

test('plain words find a policy; what is there is not overwritten', async (t) => {
  const here = place(t)
  for (const [words, id] of [
    ['no force pushes to main', 'no-force-push'],
    ['keep secrets out', 'no-secrets'],
    ['nobody edits lockfiles', 'lock-files'],
    ['run the tests before you stop', 'test-before-stop'],
    ['never terraform destroy', 'cloud-destroy'],
  ] as const) {
    const { stdout, code } = await here.run(['policy', 'new', words, '--out', id, '--json'])
    assert.equal(code, 0)
    assert.equal(JSON.parse(stdout).policy, id, words)
  }
  assert.equal((await here.run(['policy', 'new', 'lock-files', '--out', 'lock-files'])).code, 1)
  assert.match((await here.run(['policy', 'new', 'zzz'])).stderr, /no policy in the library matches "zzz"/)
  assert.equal((await here.run(['policy', 'new'])).code, 2)
})

/** A month of Claude Code: what was approved again and again, what was denied, what ran by rule. */
function history(here: Place, { cwd = '/p', from = 1_794_000_000_000 } = {}): void {
  const file = join(here.home, '.claude/projects/-p/m.jsonl')
  mkdirSync(dirname(file), { recursive: true })
  const approved = { permissionDecision: { decision: 'accept', source: 'user_temporary' } }
  const rejected = {
    permissionDecision: { decision: 'reject', source: 'user_reject' },
    toolDenialKind: 'user-rejected',
  }
  const calls: [string, object][] = [
    ...Array.from({ length: 30 }, (_, n): [string, object] => [`npm test -- part-${n}`, approved]),
    ...Array.from({ length: 12 }, (_, n): [string, object] => [`git commit -m "step ${n}"`, approved]),
    ...Array.from({ length: 9 }, (): [string, object] => ['git push origin main', approved]),
    ...Array.from({ length: 8 }, (_, n): [string, object] => [`docker compose up svc${n}`, approved]),
    ['docker compose down', rejected],
    ...Array.from({ length: 5 }, (): [string, object] => ['deploy.sh staging', rejected]),
  ]
  const lines = calls.flatMap(([command, decision], n) => {
    const about = {
      sessionId: 'm',
      cwd,
      version: '1',
      timestamp: new Date(from + n * 1000).toISOString(),
    }
    const use = { type: 'tool_use', id: `t${n}`, name: 'Bash', input: { command } }
    const result = { type: 'tool_result', tool_use_id: `t${n}`, content: 'ok' }
    return [
      { ...about, type: 'assistant', uuid: `a${n}`, message: { id: `m${n}`, content: [use] } },
      { ...about, ...decision, type: 'user', uuid: `u${n}`, message: { content: [result] } },
    ]
  })
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

test('suggestions remove prompts, and never allow what was denied or destroys', async (t) => {
  const here = place(t)
  history(here)
  assert.equal((await here.run(['audit', 'import', 'claude', '--all'])).code, 0)
  const { stdout, code } = await here.run(['policy', 'suggest', '--json'])
  assert.equal(code, 0)
  const found = JSON.parse(stdout)
  assert.deepEqual(
    found.suggestions.map(({ behavior, rule, calls, answered }: Record<string, unknown>) => [
      behavior,
      rule,
      calls,
      answered,
    ]),
    [
      ['allow', 'Bash(npm test *)', 30, 30],
      ['allow', 'Bash(git commit *)', 12, 12],
      ['deny', 'Bash(deploy.sh staging)', 5, 5],
      ['deny', 'Bash(docker compose down)', 1, 1],
    ],
  )
  const dropped = Object.fromEntries(found.dropped.map(({ rule, why }: Record<string, string>) => [rule, why]))
  assert.match(dropped['allow:Bash(git push *)'], /destructive/)
  assert.match(dropped['allow:Bash(docker compose *)'], /would allow a call that was denied: Bash docker compose down/)
  assert.equal(existsSync(join(here.folder, '.ona')), false, 'nothing is written unless told')
  const rules = found.suggestions.map(({ behavior, rule }: Record<string, string>) => `--rule=${behavior}:${rule}`)
  const replayed = JSON.parse((await here.run(['hooks', 'replay', '--against-settings', '--json', ...rules])).stdout)
  assert.equal(replayed.newly_allowed, 42)
  const applied = await here.run(['policy', 'suggest', '--apply', 'local'])
  assert.equal(applied.code, 0, applied.stderr)
  const settings = JSON.parse(readFileSync(join(here.folder, '.ona/settings.local.json'), 'utf8'))
  assert.ok(settings.permissions.allow.includes('Bash(npm test *)'))
  assert.ok(settings.permissions.deny.includes('Bash(deploy.sh staging)'))
})

test('/permissions offers what the last weeks in the project suggest', async (t) => {
  const here = place(t)
  history(here, { cwd: here.folder, from: Date.now() - 86_400_000 })
  assert.equal((await here.run(['audit', 'import', 'claude', '--all'])).code, 0)
  const { stdout } = await here.run([], { input: '/permissions suggest\n', env: { ANTHROPIC_MODEL: 'rehearsal' } })
  assert.match(stdout, /^allow Bash\(npm test \*\)\n {2}removes 30 prompts \(30 approved\), allows 0 file writes$/m)
  assert.match(stdout, /^deny Bash\(deploy\.sh staging\)\n {2}would have denied 5 calls \(5 denied\)$/m)
  assert.equal(existsSync(join(here.folder, '.ona')), false)
})
