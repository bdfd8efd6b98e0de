/** Policies out of the library and out of the record: through the program alone. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { starters } from '../../src/audit/policy/starters/library.ts'
import { starterRehearsal } from '../../src/audit/policy/starters/starter.ts'
import { sampled } from '../support/campaign-size.ts'
import { type Place, place } from '../support/program.ts'

test('every policy of the library is proved by its rehearsal', async (t) => {
  const here = place(t)
  const scripts: string[] = []
  const proved = sampled(starters, 3)
  for (const { id } of proved) {
    const { code, stderr } = await here.run(['policy', 'new', id])
    assert.equal(code, 0, stderr)
    scripts.push(`.ona/policies/${id}/rehearsal.yaml`)
  }
  const { code, stdout, stderr } = await here.run(['rehearse', ...scripts], { timeoutMs: 120_000 })
  assert.equal(code, 0, `${stdout}${stderr}`)
  assert.equal(stdout.match(/^ok/gm)?.length, proved.length, stdout)
})

test('without its policy a rehearsal fails: it proves something', async (t) => {
  const here = place(t)
  // those whose calls do nothing outside the folder of the rehearsal
  const harmless = starters.filter(({ id }) => ['lock-files', 'licence-headers', 'test-before-stop'].includes(id))
  for (const { permissions: _, hook: __, ...bare } of harmless)
    writeFileSync(join(here.folder, `${bare.id}.yaml`), starterRehearsal(bare))
  const scripts = harmless.map(({ id }) => `${id}.yaml`)
  const { stdout } = await here.run(['rehearse', ...scripts], { timeoutMs: 120_000 })
  assert.deepEqual([stdout.match(/^fail/gm)?.length, stdout.match(/^ok.*/gm)], [3, null], stdout)
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
  assert.deepEqual(dropped, {
    'allow:Bash(git push *)': 'it covers more commands than were run',
    'allow:Bash(docker compose *)': 'it covers more commands than were run',
  })
  assert.equal(existsSync(join(here.folder, '.ona')), false, 'nothing is written unless told')
  const rules = found.suggestions.map(({ behavior, rule }: Record<string, string>) => `--rule=${behavior}:${rule}`)
  const replayed = JSON.parse((await here.run(['hooks', 'replay', '--against-settings', '--json', ...rules])).stdout)
  assert.equal(replayed.newly_allowed, 42)
  const { stdout: patch } = await here.run(['policy', 'suggest', '--diff', 'local'])
  assert.match(patch, /^--- \/dev\/null\n\+\+\+ b\/\.ona\/settings\.local\.json\n@@ -0,0 \+1,\d+ @@\n\+\{\n/)
  assert.match(patch, /^\+ +"Bash\(npm test \*\)",$/m)
  assert.equal(existsSync(join(here.folder, '.ona')), false, 'a patch is shown, and not applied')
  assert.equal((await here.run(['policy', 'suggest', '--diff', 'elsewhere'])).code, 2)
  assert.equal((await here.run(['policy', 'suggest', '--agent', 'cluade'])).code, 2)
  const applied = await here.run(['policy', 'suggest', '--apply', 'local'])
  assert.equal(applied.code, 0, applied.stderr)
  const settings = JSON.parse(readFileSync(join(here.folder, '.ona/settings.local.json'), 'utf8'))
  assert.ok(settings.permissions.allow.includes('Bash(npm test *)'))
  assert.ok(settings.permissions.deny.includes('Bash(deploy.sh staging)'))
})

test('what was denied becomes the hook of a role, which denies it in any agent', async (t) => {
  const here = place(t)
  history(here)
  assert.equal((await here.run(['audit', 'import', 'claude', '--all'])).code, 0)
  const { stdout: patch } = await here.run(['policy', 'suggest', '--diff', 'role=guardian'])
  assert.match(patch, /^\+\+\+ b\/\.agent\/repo=\.this\/role=guardian\/rules\.json$/m)
  assert.match(patch, /^\+ +- command: ona policy guard \.agent\/repo=\.this\/role=guardian\/rules\.json$/m)
  assert.doesNotMatch(patch, /allow/)
  assert.equal((await here.run(['policy', 'suggest', '--apply', 'role=guardian'])).code, 0)
  assert.match((await here.run(['role', 'list'])).stdout, /repo=\.this\/role=guardian {2}1 hook {2}linked/)
  assert.equal((await here.run(['policy', 'suggest', '--diff', 'role=guardian'])).stdout, 'nothing to change\n')
  const rules = '.agent/repo=.this/role=guardian/rules.json'
  const guarded = (command: string, file = rules) =>
    here.run(['policy', 'guard', file], {
      input: JSON.stringify({ tool_name: 'Bash', tool_input: { command }, cwd: here.folder }),
    })
  for (const [command, code] of [
    ['deploy.sh staging', 2],
    ['true; "deploy.sh" staging', 2],
    ['npm test', 0],
  ] as const)
    assert.deepEqual([command, (await guarded(command)).code], [command, code])
  assert.equal((await guarded('npm test', 'missing.json')).code, 2, 'a guard that cannot be read denies')
})

test('a guard whose file holds something else says what is wrong, and denies', async (t) => {
  const here = place(t)
  const event = JSON.stringify({ tool_name: 'Bash', tool_input: { command: 'ls' }, cwd: here.folder })
  const about = async (content: string) => {
    writeFileSync(join(here.folder, 'n.json'), content)
    const { code, stderr } = await here.run(['policy', 'guard', 'n.json'], { input: event })
    return [code, stderr.replace(/^denied: the rules of n\.json could not be applied: |\n$/g, '')]
  }
  const anObject = 'it must be an object, such as {"permissions":{"deny":["Bash(git push *)"]}}'
  for (const content of ['null', '[]', '3', '"x"']) assert.deepEqual(await about(content), [2, anObject], content)
  assert.deepEqual(await about('{"permissions":["x"]}'), [2, 'permissions must be an object with lists of rules'])
  assert.deepEqual(await about('{"permissions":{"deny":"x"}}'), [2, 'permissions.deny must be a list of rules'])
  assert.deepEqual(await about('{"permissions":{"ask":[3]}}'), [2, 'permissions.ask: 3 is not a text'])
  assert.deepEqual(await about('{}'), [2, 'it has no deny or ask rule under "permissions"'])
})

test('/permissions offers what the last weeks in the project suggest', async (t) => {
  const here = place(t)
  history(here, { cwd: here.folder, from: Date.now() - 86_400_000 })
  assert.equal((await here.run(['audit', 'import', 'claude', '--all'])).code, 0)
  const { stdout } = await here.run([], { input: '/permissions suggest\n', env: { ANTHROPIC_MODEL: 'rehearsal' } })
  assert.match(stdout, /^allow Bash\(npm test \*\)\n {2}removes 30 prompts \(30 approved\), allows 0 file writes$/m)
  assert.match(stdout, /^deny Bash\(deploy\.sh staging\)\n {2}would have denied 5 calls \(5 were denied\)$/m)
  assert.equal(existsSync(join(here.folder, '.ona')), false)
})
