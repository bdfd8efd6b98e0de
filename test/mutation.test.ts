/** `npm run test:mutation`: what it changes, and that it tells a test that notices from one that does not. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
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

test('a mutant that a test notices is caught, another is named with its line, and the checkout stays as it is', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'ona-mutation-test-'))
  t.after(() => rmSync(root, { recursive: true }))
  const checkout = join(import.meta.dirname, '..')
  symlinkSync(join(checkout, 'node_modules'), join(root, 'node_modules'))
  mkdirSync(join(root, 'src'))
  mkdirSync(join(root, 'dist'))
  const source = "export const sign = (n: number): string => (n < 0 ? 'minus' : 'plus')\n"
  writeFileSync(join(root, 'src/sign.ts'), source)
  writeFileSync(
    join(root, 'src/sign.test.ts'),
    "import assert from 'node:assert'\nimport { test } from 'node:test'\nimport { sign } from './sign.ts'\ntest('minus', () => assert.equal(sign(-4), 'minus'))\n",
  )
  execFileSync('git', ['init', '-q'], { cwd: root })
  execFileSync('git', ['add', 'src'], { cwd: root })
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(checkout, 'scripts/test-mutation.ts'), 'src', '--all', '--json', '--jobs', '1', '--at-least', '95'],
    { cwd: root, encoding: 'utf8' },
  )
  const { survivors, ...counts } = JSON.parse(stdout)
  assert.deepEqual([status, counts], [1, { mutants: 5, caught: 2, score: 40 }])
  assert.deepEqual(
    survivors.map(({ line, kind, replacement }: Record<string, unknown>) => [line, kind, replacement]),
    [
      [1, 'operator', '<='],
      [1, 'number', '1'],
      [1, 'text', "''"],
    ],
  )
})
