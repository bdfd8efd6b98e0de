/** `npm run test:mutation`: what it changes, and that it tells a test that notices from one that does not. */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { mutantsOf, mutated } from '../scripts/mutation/mutants.ts'

test('each edit changes what the program does, and never a type, an import or a key', () => {
  const text = [
    "import { log } from './log.ts'",
    "type Word = 'a' | 'b'",
    'export function f(list: readonly string[], limit = 1): Word {',
    "  if (list.some((one) => !one) && limit < 2) log({ why: 'empty' })",
    "  return list.length > 200 ? ('a' as const) : 'b'",
    '}',
  ].join('\n')
  const changed = mutantsOf('f.ts', text).map((mutant) => {
    const line = mutated(text, mutant).split('\n')[mutant.line - 1]!.trim()
    return [mutant.kind, line]
  })
  assert.deepEqual(changed, [
    ['number', 'export function f(list: readonly string[], limit = 2): Word {'],
    ['condition', "if (!(list.some((one) => !one) && limit < 2)) log({ why: 'empty' })"],
    ['operator', "if (list.some((one) => !one) || limit < 2) log({ why: 'empty' })"],
    ['quantifier', "if (list.every((one) => !one) && limit < 2) log({ why: 'empty' })"],
    ['negation', "if (list.some((one) => one) && limit < 2) log({ why: 'empty' })"],
    ['operator', "if (list.some((one) => !one) && limit <= 2) log({ why: 'empty' })"],
    ['number', "if (list.some((one) => !one) && limit < 3) log({ why: 'empty' })"],
    ['call', 'if (list.some((one) => !one) && limit < 2) ;'],
    ['text', "if (list.some((one) => !one) && limit < 2) log({ why: '' })"],
    ['condition', "return !(list.length > 200) ? ('a' as const) : 'b'"],
    ['operator', "return list.length >= 200 ? ('a' as const) : 'b'"],
    ['text', "return list.length > 200 ? ('' as const) : 'b'"],
    ['text', "return list.length > 200 ? ('a' as const) : ''"],
  ])
})

const checkout = join(import.meta.dirname, '..')

/** A checkout with one source file and these tests. */
function project(t: TestContext, tests: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'ona-mutation-test-'))
  t.after(() => rmSync(root, { recursive: true }))
  symlinkSync(join(checkout, 'node_modules'), join(root, 'node_modules'))
  for (const folder of ['src', 'dist', 'tmp']) mkdirSync(join(root, folder))
  writeFileSync(join(root, 'src/sign.ts'), "export const sign = (n: number): string => (n < 0 ? 'minus' : 'plus')\n")
  const head = "import assert from 'node:assert'\nimport { test } from 'node:test'\nimport { sign } from './sign.ts'\n"
  for (const [name, body] of Object.entries(tests)) writeFileSync(join(root, `src/${name}.test.ts`), `${head}${body}\n`)
  execFileSync('git', ['init', '-q'], { cwd: root })
  execFileSync('git', ['add', 'src'], { cwd: root })
  return root
}

const script = join(checkout, 'scripts/test-mutation.ts')
const minus = "test('minus', () => assert.equal(sign(-4), 'minus'))"
const mutate = (root: string, ...words: string[]) =>
  spawnSync(process.execPath, [script, ...words], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: join(root, 'tmp') },
  })

test('a mutant that a test notices is caught, another is named with its line, and the checkout stays as it is', (t) => {
  const root = project(t, { sign: minus, broken: "test('broken', () => assert.equal(sign(4), 'minus'))" })
  const { status, stdout, stderr } = mutate(root, 'src', '--all', '--json', '--jobs', '1', '--bar', '95')
  const { survivors, files, ...counts } = JSON.parse(stdout)
  assert.deepEqual([status, counts], [1, { mutants: 5, caught: 2, score: 40 }])
  assert.deepEqual(files, [{ file: 'src/sign.ts', mutants: 5, survived: 3, score: 40 }])
  assert.deepEqual(
    survivors.map(({ line, kind, replacement }: Record<string, unknown>) => [line, kind, replacement]),
    [
      [1, 'operator', '<='],
      [1, 'number', '1'],
      [1, 'text', "''"],
    ],
  )
  assert.match(stderr, /^src\/broken\.test\.ts fails without a mutant too, and is left out$/m)
  assert.match(stderr, /^1\/5 caught by src\/sign\.test\.ts: src\/sign\.ts:1 condition: n < 0 → !\(n < 0\)$/m)
  assert.deepEqual(readdirSync(join(root, 'tmp')), [])
})

test('the table has a line per file and the total; enough caught is exit code 0', (t) => {
  const root = project(t, { sign: minus })
  const { status, stdout } = mutate(root, 'src/sign.ts', '--all', '--jobs', '1', '--bar', '40', '--units')
  assert.equal(status, 0)
  assert.match(
    stdout,
    /^file +mutants +caught +survived +%\nsrc\/sign\.ts +5 +2 +3 +40\ntotal +5 +2 +3 +40\.0\nsurvived: /,
  )
})

test('--help has an example; what is unknown or missing is wrong usage', (t) => {
  const root = project(t, {})
  assert.match(mutate(root, '--help').stdout, /--bar N[\s\S]*npm run test:mutation -- src\/permissions --bar 95/)
  for (const words of [[], ['src/none.ts'], ['src', '--bar', 'high'], ['src', '--at-most', '1']]) {
    const { status, stderr } = mutate(root, ...words)
    assert.deepEqual([status, /--help shows how\n$/.test(stderr)], [2, true], stderr)
  }
})

test('Ctrl-C prints what is known, ends the test that runs and removes the copy', async (t) => {
  const root = project(t, {
    sign: "import fs from 'node:fs'\nfs.writeFileSync(process.env.TMPDIR + '/pid', String(process.pid))\ntest('long', async () => { await new Promise((done) => setTimeout(done, 600_000)) })",
  })
  const env = { ...process.env, TMPDIR: join(root, 'tmp') }
  const child = spawn(process.execPath, [script, 'src', '--jobs', '1'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let printed = ''
  child.stdout.on('data', (piece) => {
    printed += piece
  })
  const ended = new Promise((resolve) => child.on('close', resolve))
  const pid = await contentOf(join(root, 'tmp/pid'))
  child.kill('SIGINT')
  assert.equal(await ended, 130)
  assert.match(printed, /^total +0 /m)
  assert.deepEqual(readdirSync(join(root, 'tmp')), ['pid'])
  assert.equal(await hasEnded(pid), true)
})

async function contentOf(path: string): Promise<number> {
  for (;;) {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
    if (text !== '') return Number(text)
    await wait(20)
  }
}

/** Killed at once, but not waited for by the one that killed it. */
async function hasEnded(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 500; tries++) {
    const state = existsSync(`/proc/${pid}/stat`)
      ? readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]![0]
      : 'gone'
    if (state === 'gone' || state === 'Z') return true
    await wait(20)
  }
  return false
}
