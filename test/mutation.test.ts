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
import { type Mutant, mutantsOf, mutated, sample } from '../scripts/mutation/mutants.ts'
import { nearTestsOf } from '../scripts/mutation/related-tests.ts'
import { withoutTypeErrors } from '../scripts/mutation/type-check.ts'
import { compileCache } from './support/compile-cache.ts'

test('each edit changes what the program does, and never a type, an import or a key', () => {
  const text = [
    "import { log } from './log.ts'",
    "type Word = 'a' | 'b'",
    'export async function f(list: readonly string[], limit = 1): Promise<Word> {',
    "  if (!list) return 'a'",
    "  if (list.some((one) => !one) && limit < 2) log({ why: 'it is empty', at: limit ?? 0 })",
    '  try {',
    '    await log(`in ${limit} of it`)',
    '  } catch (cause) {',
    "    throw new Error('no', { cause })",
    '  } finally {',
    '    limit = 60',
    '  }',
    "  return /^(?:a|b)$/i.test(list.filter(Boolean).join()) ? ('a' as const) : 'b'",
    '}',
  ].join('\n')
  const mutants = mutantsOf('f.ts', text)
  assert.deepEqual(
    mutants.map(({ line, kind, after }) => [line, kind, after]),
    [
      [3, 'number', 'export async function f(list: readonly string[], limit = 2): Promise<Word> {'],
      [4, 'guard', ';'],
      [4, 'negation', "if (list) return 'a'"],
      [4, 'text', 'if (!list) return ""'],
      ...[
        ['condition', "if (!(list.some((one) => !one) && limit < 2)) log({ why: 'it is empty', at: limit ?? 0 })"],
        ['operator', "if (list.some((one) => !one) || limit < 2) log({ why: 'it is empty', at: limit ?? 0 })"],
        ['operand', "if (limit < 2) log({ why: 'it is empty', at: limit ?? 0 })"],
        ['operand', "if (list.some((one) => !one)) log({ why: 'it is empty', at: limit ?? 0 })"],
        ['method', "if (list.every((one) => !one) && limit < 2) log({ why: 'it is empty', at: limit ?? 0 })"],
        ['negation', "if (list.some((one) => one) && limit < 2) log({ why: 'it is empty', at: limit ?? 0 })"],
        ['operator', "if (list.some((one) => !one) && limit <= 2) log({ why: 'it is empty', at: limit ?? 0 })"],
        ['number', "if (list.some((one) => !one) && limit < 3) log({ why: 'it is empty', at: limit ?? 0 })"],
        ['call', 'if (list.some((one) => !one) && limit < 2) ;'],
        ['field', 'if (list.some((one) => !one) && limit < 2) log({ at: limit ?? 0 })'],
        ['field', "if (list.some((one) => !one) && limit < 2) log({ why: 'it is empty' })"],
        ['text', 'if (list.some((one) => !one) && limit < 2) log({ why: "it is", at: limit ?? 0 })'],
        ['default', "if (list.some((one) => !one) && limit < 2) log({ why: 'it is empty', at: limit })"],
        ['number', "if (list.some((one) => !one) && limit < 2) log({ why: 'it is empty', at: limit ?? 1 })"],
      ].map(([kind, after]) => [5, kind, after]),
      [10, 'finally', '} finally {}'],
      [7, 'call', ';'],
      [7, 'await', 'log(`in ${limit} of it`)'],
      [7, 'text', 'await log(`${limit} of it`)'],
      [7, 'text', 'await log(`in ${limit} of`)'],
      [8, 'catch', '} catch (cause) {} finally {'],
      [9, 'throw', ';'],
      [9, 'text', 'throw new Error("", { cause })'],
      [11, 'assignment', ';'],
      [11, 'number', 'limit = 6'],
      ...[
        ['condition', "return !(/^(?:a|b)$/i.test(list.filter(Boolean).join())) ? ('a' as const) : 'b'"],
        ['pattern', "return /(?:a|b)$/i.test(list.filter(Boolean).join()) ? ('a' as const) : 'b'"],
        ['pattern', "return /^(?:a|b)/i.test(list.filter(Boolean).join()) ? ('a' as const) : 'b'"],
        ['pattern', "return /^(?:a|b)$/.test(list.filter(Boolean).join()) ? ('a' as const) : 'b'"],
        ['pattern', "return /^(?:b)$/i.test(list.filter(Boolean).join()) ? ('a' as const) : 'b'"],
        ['pattern', "return /^(?:a)$/i.test(list.filter(Boolean).join()) ? ('a' as const) : 'b'"],
        ['chain', "return /^(?:a|b)$/i.test(list.join()) ? ('a' as const) : 'b'"],
        ['text', 'return /^(?:a|b)$/i.test(list.filter(Boolean).join()) ? ("" as const) : \'b\''],
        ['text', 'return /^(?:a|b)$/i.test(list.filter(Boolean).join()) ? (\'a\' as const) : ""'],
      ].map(([kind, after]) => [13, kind, after]),
    ],
  )
  assert.equal(mutated(text, mutants[0]!), text.replace('limit = 1', 'limit = 2'))
})

test('the same seed draws the same mutants, another seed others', () => {
  const mutants = mutantsOf('f.ts', Array.from({ length: 50 }, (_, at) => `f(${at}, 'text ${at}')`).join('\n'))
  const lines = (seed: number) => sample(mutants, 5, seed).map(({ line, kind }) => `${line} ${kind}`)
  assert.deepEqual(lines(1), lines(1))
  assert.notDeepEqual(lines(1), lines(2))
  assert.equal(new Set(lines(3)).size, 5)
})

test('the nearest tests are tried, and all of the same folder of src however far', () => {
  const importers = new Map([
    ['src/a/x.ts', ['src/b/near.test.ts', 'src/b/y.ts']],
    ['src/b/y.ts', ['src/b/far.test.ts', 'src/a/deep/far.test.ts', 'src/ab/far.test.ts']],
  ])
  assert.deepEqual(nearTestsOf('src/a/x.ts', importers, 1), ['src/b/near.test.ts', 'src/a/deep/far.test.ts'])
  assert.equal(nearTestsOf('src/a/x.ts', importers, 9).length, 4)
})

const checkout = join(import.meta.dirname, '..')

/** A checkout with one source file and these tests. */
function project(t: TestContext, tests: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'ona-mutation-test-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const folder of ['src', 'dist', 'tmp', 'node_modules']) mkdirSync(join(root, folder))
  for (const name of ['.bin', '@types', '@typescript', 'typescript', 'undici-types'])
    symlinkSync(join(checkout, 'node_modules', name), join(root, 'node_modules', name))
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
  spawnSync(process.execPath, [compileCache, script, ...words], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: join(root, 'tmp') },
  })

test('--kinds draws from faults of these kinds alone', (t) => {
  const root = project(t, {})
  const { stdout } = mutate(root, 'src', '--all', '--list', '--kinds', 'operator,text')
  assert.deepEqual(
    [...stdout.matchAll(/^src\/sign\.ts:1 (\w+)$/gm)].map(([, kind]) => kind),
    ['operator', 'text', 'text'],
  )
})

test('a mutant that a test notices is caught, another is named with its line, and the checkout stays as it is', (t) => {
  const root = project(t, { sign: minus, broken: "test('broken', () => assert.equal(sign(4), 'minus'))" })
  const { status, stdout, stderr } = mutate(root, 'src', '--all', '--json', '--jobs', '1', '--bar', '95')
  const { survivors, files, ...counts } = JSON.parse(stdout)
  assert.deepEqual([status, counts], [1, { mutants: 5, caught: 2, score: 40, typeErrors: 0, equivalent: 0 }])
  assert.deepEqual(files, [{ file: 'src/sign.ts', mutants: 5, survived: 3, score: 40 }])
  assert.deepEqual(
    survivors.map(({ line, kind, replacement }: Record<string, unknown>) => [line, kind, replacement]),
    [
      [1, 'operator', '<='],
      [1, 'number', '1'],
      [1, 'text', '""'],
    ],
  )
  assert.match(stderr, /^src\/broken\.test\.ts fails without a mutant too, and is left out$/m)
  assert.match(
    stderr,
    /^1\/5 caught by src\/sign\.test\.ts: src\/sign\.ts:1 condition\n {2}- (.* \()n < 0 (\? .*)\n {2}\+ \1!\(n < 0\) \2$/m,
  )
  assert.deepEqual(readdirSync(join(root, 'tmp')), [])
})

test('the table has a line per file and the total; enough caught is exit code 0', (t) => {
  const root = project(t, { sign: minus })
  const { status, stdout } = mutate(root, 'src/sign.ts', '--all', '--jobs', '1', '--bar', '40', '--units')
  assert.equal(status, 0)
  assert.match(
    stdout,
    /^file +mutants +caught +survived +%\nsrc\/sign\.ts +5 +2 +3 +40\ntotal +5 +2 +3 +40\.0\nnot counted: 0 that do not compile, 0 listed in scripts\/mutation\/equivalents\.json\nsurvived: src\/sign\.ts:1 operator\n {2}- /,
  )
})

test('what does not compile or is listed as equivalent is not counted; --resume goes on where a run ended', (t) => {
  const root = project(t, { sign: minus })
  const text = readFileSync(join(root, 'src/sign.ts'), 'utf8').trim()
  mkdirSync(join(root, 'scripts/mutation'), { recursive: true })
  const equivalent = { file: 'src/sign.ts', before: text, after: text.replace('<', '<='), reason: 'zero has no sign' }
  writeFileSync(join(root, 'scripts/mutation/equivalents.json'), JSON.stringify([equivalent]))
  const compilerOptions = { target: 'es2024', lib: ['es5'], module: 'nodenext', strict: true, types: [] }
  const settings = { compilerOptions, include: ['src/sign*.ts'], exclude: ['src/*.test.ts'] }
  writeFileSync(join(root, 'tsconfig.json'), JSON.stringify(settings))
  writeFileSync(join(root, 'src/sign.ts'), text.replace('string =>', "'minus' | 'plus' =>"))
  execFileSync('git', ['add', 'tsconfig.json'], { cwd: root })
  const first = JSON.parse(mutate(root, 'src/sign.ts', '--all', '--json', '--jobs', '1').stdout)
  assert.deepEqual(
    [first.mutants, first.caught, first.typeErrors, first.equivalent],
    [3, 1, 2, 0],
    'the texts do not fit the type; the line is no longer the one that is listed',
  )
  writeFileSync(join(root, 'src/sign.ts'), `${text}\n`)
  const second = mutate(root, 'src/sign.ts', '--all', '--json', '--jobs', '1')
  assert.deepEqual([JSON.parse(second.stdout).mutants, JSON.parse(second.stdout).equivalent], [4, 1])
  writeFileSync(join(root, 'src/sign.test.ts'), "throw new Error('is not run again')")
  const third = JSON.parse(mutate(root, 'src/sign.ts', '--all', '--json', '--jobs', '1', '--resume').stdout)
  assert.deepEqual([third.mutants, third.caught], [4, 2])
})

test('a mutant that is no TypeScript at all hides no type error of another', (t) => {
  const root = project(t, {})
  const text = readFileSync(join(root, 'src/sign.ts'), 'utf8')
  writeFileSync(join(root, 'tsconfig.json'), JSON.stringify({ compilerOptions: { strict: true, types: [] } }))
  const mutant = (from: string, replacement: string): Mutant => {
    const start = text.indexOf(from)
    const place = { file: 'src/sign.ts', line: 1, start, end: start + from.length }
    return { ...place, replacement, kind: 'text', before: '', after: '' }
  }
  const [broken, mistyped, sound] = [mutant('?', '?? ?'), mutant("'plus'", '1'), mutant('<', '<=')]
  assert.deepEqual(withoutTypeErrors([broken, mistyped, sound], root), [sound])
  assert.deepEqual(readdirSync(join(root, 'src')), ['sign.ts'])
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
  const child = spawn(process.execPath, [compileCache, script, 'src', '--jobs', '1'], {
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

test('a process that a test leaves behind, in a session of its own, is ended with the test', async (t) => {
  const sleeper = `'sleep 600 & echo $! > "$TMPDIR/pid"'`
  const root = project(t, {
    sign: `import { spawnSync } from 'node:child_process'\nspawnSync('setsid', ['sh', '-c', ${sleeper}], { stdio: 'ignore' })\n${minus}`,
  })
  assert.equal(mutate(root, 'src', '--sample', '1', '--jobs', '1').status, 0)
  assert.equal(await hasEnded(await contentOf(join(root, 'tmp/pid'))), true)
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
