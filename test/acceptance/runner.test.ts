/** The runner of the tests itself: what it prints, and that nothing outlives it. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Costs, sampleOf } from '../../scripts/test-sample.ts'
import { compileCache } from '../support/compile-cache.ts'

const root = join(import.meta.dirname, '../..')

/** Runs test files with these texts, outside of the test run that this is in. */
function start(t: TestContext, text: string | Record<string, string>, ...words: string[]) {
  return startWith(t, {}, text, ...words)
}

function startWith(t: TestContext, more: NodeJS.ProcessEnv, text: string | Record<string, string>, ...words: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-runner-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const files = Object.entries(typeof text === 'string' ? { a: text } : text).map(([name, body]) => {
    const file = join(folder, `${name}.test.ts`)
    writeFileSync(file, `import { test } from 'node:test'\nimport assert from 'node:assert/strict'\n${body}`)
    return file
  })
  const { NODE_TEST_CONTEXT: _, ...own } = process.env
  const env = { ...own, ...more }
  const child = spawn(process.execPath, [compileCache, 'scripts/test.ts', ...files, ...words], { cwd: root, env })
  let stdout = ''
  child.stdout.on('data', (piece) => {
    stdout += piece
  })
  const ended = new Promise<{ code: number | null; stdout: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, stdout })),
  )
  return { folder, child, ended }
}

test('a failure is printed with its cause and listed again at the end; --times counts what children took', async (t) => {
  const { ended } = start(
    t,
    `import { execFileSync } from 'node:child_process'
test('sums', () => assert.equal(1 + 1, 3))
test('busy', () => void execFileSync(process.execPath, ['-e', 'for (; process.cpuUsage().user < 4e5; );']))
`,
    '--times',
  )
  const { code, stdout } = await ended
  assert.equal(code, 1)
  assert.match(
    stdout,
    /✖ sums\n[\s\S]*2 !== 3[\s\S]*ℹ pass 1\nℹ fail 1\n[\s\S]*failed:\n {2}\S+a\.test\.ts:4 sums\n\n$/,
  )
  if (!existsSync('/proc/self/stat')) return
  const [, seconds] = /^ +([\d.]+) +[\d.]+ {2}\S+a\.test\.ts$/m.exec(stdout)!
  assert.ok(Number(seconds) >= 0.4, stdout)
})

test('files of units share a process, and each is named for what it leaves behind, breaks or ends', async (t) => {
  const { folder, ended } = start(
    t,
    {
      sets: `test('a variable', () => { process.env.ONA_LEFT = 'here' })`,
      serves: `import { createServer } from 'node:http'
test('a port', (t, done) => { createServer().listen(0, '127.0.0.1', done) })`,
      wrong: `test('sums', () => assert.equal(1 + 1, 3))\ntest('right', () => {})`,
      broken: `import './not-there.ts'`,
      shared: `test('pid', () => assert.equal(process.argv[1].endsWith('a.test.ts'), false))`,
      alone: `// in a process of its own: it says so\ntest('argv', () => assert.ok(process.argv[1].endsWith('alone.test.ts')))`,
      ends: `test('exits', () => process.exit(0))\ntest('goes on', () => {})`,
      later: `test('reads all of the file first', () => assert.equal(late, 1))\nconst late = 1`,
      crashes: `test('aborts', async () => { await new Promise((done) => setTimeout(done, 300)); process.abort() })`,
      lost: `test('never runs', () => {})`,
    },
    '--results',
    join(tmpdir(), `ona-runner-${process.pid}.jsonl`),
  )
  const { code, stdout } = await ended
  const results = join(tmpdir(), `ona-runner-${process.pid}.jsonl`)
  t.after(() => rmSync(results, { force: true }))
  assert.equal(code, 1)
  const [, list = ''] = stdout.split('\nfailed:\n')
  const failed = list
    .replaceAll(/\S*\//g, '')
    .trim()
    .split('\n')
    .map((line) => line.trim())
  assert.deepEqual(failed.toSorted(), [
    "broken.test.ts Cannot find module not-there.ts' imported from broken.test.ts",
    'crashes.test.ts did not end: the process that it shares with other files ended before it',
    'ends.test.ts:3 exits',
    'lost.test.ts did not end: the process that it shares with other files ended before it',
    'serves.test.ts the tests of this file leave open: TCPServerWrap',
    'sets.test.ts the tests of this file leave changed: process.env.ONA_LEFT',
    'wrong.test.ts:3 sums',
  ])
  assert.match(stdout, /ℹ tests 12\n[\s\S]*ℹ pass 7\nℹ fail 5\n/)
  const lines = readFileSync(results, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    lines
      .filter(({ name }) => name)
      .map(({ file, name, passed }) => `${relative(folder, join(root, file))} ${name} ${passed}`)
      .toSorted(),
    [
      'alone.test.ts argv true',
      'ends.test.ts exits false',
      'ends.test.ts goes on true',
      'later.test.ts reads all of the file first true',
      'serves.test.ts a port true',
      'sets.test.ts a variable true',
      'shared.test.ts pid true',
      'wrong.test.ts right true',
      'wrong.test.ts sums false',
    ],
  )
})

test('a sampled run leaves out tests by name, other ones each day, and none that a row names or whose topic changed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-sample-'))
  try {
    const file = join(folder, 'a.test.ts')
    const body = "import { after, test } from 'node:test'\nafter(() => {})\n"
    const tests = ['zero', 'one', 'two']
    writeFileSync(file, `${body}${tests.map((name) => `test('${name}', () => console.log('ran ${name}'))`).join('\n')}`)
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const run = (query: string) => {
      const preload = `--import=${new URL(`../../scripts/in-sample.ts?${query}`, import.meta.url)}`
      return spawnSync(process.execPath, [compileCache, preload, file], { cwd: root, env, encoding: 'utf8' }).stdout
    }
    writeFileSync(join(folder, 'left.json'), JSON.stringify({ [relative(root, file)]: ['one'] }))
    const stdout = run(`left=${join(folder, 'left.json')}`)
    assert.deepEqual(stdout.match(/(?<=^ran ).*/gm), ['zero', 'two'])
    assert.match(stdout, /ℹ pass 2\n[\s\S]*ℹ skipped 1\n/)
    run(`costs=${folder}`)
    const costs = readFileSync(join(folder, 'costs.jsonl'), 'utf8').trim().split('\n')
    assert.deepEqual(
      costs.map((line) => JSON.parse(line).name),
      tests,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const [workflow, replay] = ['test/workflow.test.ts', 'test/replay.test.ts']
  const tests: Costs['tests'] = {
    [workflow]: { 'killed at any moment of': 9000, twice: 7000 },
    [replay]: { much: 90_000, more: 300 },
  }
  const sampled = (seed: number, ...changed: string[]) => sampleOf([workflow, replay], seed, changed, { tests })
  // a row names what is killed at any moment
  assert.deepEqual(
    [0, 1, 6, 7].map((seed) => sampled(seed)),
    [
      { [workflow]: ['twice'], [replay]: ['much', 'more'] },
      { [workflow]: ['twice'], [replay]: ['much'] },
      { [workflow]: ['twice'], [replay]: ['more'] },
      { [replay]: ['much', 'more'] },
    ],
  )
  assert.deepEqual(sampled(0, 'docs/x.md', 'src/page.ts'), sampled(0))
  assert.deepEqual(sampled(0, 'src/workflow/plan.ts'), { [replay]: ['much', 'more'] })
  assert.deepEqual(sampled(0, 'src/workflow/plan.ts', replay), {})
})

test('a signal ends the test files and what they started', async (t) => {
  const { folder, child, ended } = start(
    t,
    `import { spawn } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
test('waits', () => {
  const { pid } = spawn('sleep', ['600'], { detached: true })
  writeFileSync(import.meta.dirname + '/new', String(pid))
  renameSync(import.meta.dirname + '/new', import.meta.dirname + '/pid')
  return new Promise(() => setInterval(() => {}, 1000))
})
`,
  )
  const at = join(folder, 'pid')
  while (!existsSync(at)) await sleep(20)
  child.kill('SIGTERM')
  assert.equal((await ended).code, 130)
  const pid = Number(readFileSync(at, 'utf8'))
  const isThere = () => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  while (isThere()) await sleep(20)
})

test('a file that a failed test keeps from ending is ended, and named', async (t) => {
  const { ended } = startWith(
    t,
    { ONA_TEST_STALL_MS: '3000' },
    `import { spawn } from 'node:child_process'
test('leaves a child behind', () => {
  spawn('sleep', ['600'])
  assert.fail()
})
`,
  )
  const { code, stdout } = await ended
  const listed = stdout.slice(stdout.indexOf('\nfailed:')).replaceAll(/\S*a\.test\.ts/g, 'a.test.ts')
  assert.deepEqual(
    [code, listed],
    [
      130,
      '\nfailed:\n  a.test.ts:4 leaves a child behind\n  no test started or ended for 0.05 minutes; not ended: a.test.ts\n\n',
    ],
  )
})
