/** The acceptance script itself: what it does with rows that pass and rows that fail. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

const root = join(import.meta.dirname, '../..')
const script = join(root, 'scripts/sdlc-acceptance.sh')

const rows = `
group g 'A group' <<'X'
echo prepared >prepared
X
row good 1 'it holds' 'it does' <<'X'
same prepared "$(cat prepared)"
X
row bad 1 'it does not hold' 'it would' <<'X'
false
true
X
row other 1 'another' 'it does' <<'X'
true
X
rollup both 1 'good and bad' good bad
`

/** The last word may be rows, in place of those above. */
async function run(t: TestContext, ...words: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-rows-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, '1.sh'), words.at(-1)?.startsWith('group') ? words.pop()! : rows)
  const scratch = join(folder, 'scratch')
  spawnSync('mkdir', [scratch])
  const child = spawn('bash', [script, ...words], { env: { ...process.env, ACCEPTANCE_ROWS: folder, TMPDIR: scratch } })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (piece) => {
    stdout += piece
  })
  child.stderr.on('data', (piece) => {
    stderr += piece
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  // what Node has compiled is for the next run of ona
  const left = readdirSync(scratch).filter((name) => name !== 'node-compile-cache')
  assert.deepEqual(left, [], 'it leaves something behind')
  return { code, stdout, stderr }
}

const skip = existsSync(join(root, 'dist/main.cjs')) ? false : 'there is no build'

test('it ends at the first row that fails, also when a later line of it would pass, and names it', {
  skip,
}, async (t) => {
  const { code, stdout, stderr } = await run(t)
  assert.deepEqual([code, stdout], [1, '[good] it holds PASS\n[bad] it does not hold FAIL\n1 passed, 1 failed\n'])
  assert.match(stderr, /^FAIL bad$/m)
})

test('--keep-going runs them all, and a rollup fails with its rows', { skip }, async (t) => {
  const { code, stdout, stderr } = await run(t, '--keep-going')
  assert.equal(code, 1)
  assert.match(stdout, /\[other\] another PASS\n\[both\] good and bad FAIL\n2 passed, 2 failed\n$/)
  assert.match(stderr, /row bad did not pass[\s\S]*^FAIL both$/m)
})

test('--only runs one row; one that is not there is a failure', { skip }, async (t) => {
  assert.equal((await run(t, '--only', 'good')).stdout, '[good] it holds PASS\n1 passed, 0 failed\n')
  const missing = await run(t, '--only', 'nothing')
  assert.deepEqual([missing.code, missing.stderr], [1, 'FAIL nothing: there is no such row\n'])
})

test('--jobs runs files of rows side by side and prints the same in the same order', { skip }, async (t) => {
  for (const words of [[], ['--keep-going'], ['--only', 'both']])
    assert.deepEqual(await run(t, ...words, '--jobs', '2'), await run(t, ...words), words.join(' '))
})

test('a row that names a test waits for it in the run that still goes on, and fails with it', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-results-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const results = join(folder, 'results.jsonl')
  writeFileSync(results, '{"file":"a.test.ts","name":"holds","passed":true}\n')
  const more = `group h 'More' <<'X'
X
row tested 1 'a test' 'it passes' <<'X'
unit a.test.ts --test-name-pattern='^holds'
unit b.test.ts
X
`
  const said = run(t, '--jobs', '1', '--tested', results, '--testing', String(process.pid), more)
  for (const line of [
    '{"file":"a.test.ts","ms":1}',
    '{"file":"b.test.ts","name":"other","passed":false}',
    '{"ended":true}',
  ])
    appendFileSync(results, `${line}\n`)
  const { code, stdout, stderr } = await said
  assert.deepEqual([code, stdout], [1, '[tested] a test FAIL\n0 passed, 1 failed\n'])
  assert.match(stderr, /b\.test\.ts: failed: other[\s\S]*^FAIL tested$/m)
})

test('--shared runs ona in one process, each time with its own words, folder, environment, streams and exit code', {
  skip: skip || (!existsSync('/proc/self/environ') && 'only Linux shows the environment of a process'),
}, async (t) => {
  const steps = `group s 'Steps' <<'X'
X
row steps 1 'ona' 'as in a process of its own' <<'X'
home
parent() { tool Bash '{"command":"echo $PPID $MARK in \${PWD##*/}"}' | json .content; }
first=$(MARK=one parent)
mkdir below && cd below
same "\${first/one in project/two in below}" "$(MARK=two parent)"
said=$(exits 2 ona --nowhere 'two words' '')
has "$said" nowhere
same '' "$(ona --nowhere 2>/dev/null || true)"
has "$(printf 'a prompt on stdin' | ona -p --model rehearsal --output-format json)" '"session_id"'
X
`
  const { stdout, stderr } = await run(t, '--jobs', '1', '--shared', steps)
  assert.deepEqual([stderr, stdout], ['', '[steps] ona PASS\n1 passed, 0 failed\n'])
  const alone = await run(t, '--jobs', '1', steps)
  assert.match(alone.stderr, /^ +wanted: \d+ two in below\n +found: {2}\d+ two in below$/m)
})

test('a flag that it does not know is wrong usage', async (t) => assert.equal((await run(t, '--sideways')).code, 2))
