import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { globInside, globMatches, isRepoWide } from './glob.ts'

test('patterns match as the dialect says', () => {
  const table: [string, string, boolean][] = [
    ['src/**', 'src/a/b.ts', true],
    ['src/**', 'srcs/a', false],
    ['src/', 'src/a/b', true],
    ['**/*.ts', 'a.ts', true],
    ['**/*.ts', 'x/y/a.ts', true],
    ['src/*.ts', 'src/x/a.ts', false],
    ['src/?.ts', 'src/a.ts', true],
    ['src/[ab].ts', 'src/b.ts', true],
    ['src/[!ab].ts', 'src/b.ts', false],
    ['{src,lib}/**', 'lib/a', true],
    ['./src/a.ts', 'src/a.ts', true],
    ['**', '.git/config', true],
    ['src/**/test/*', 'src/test/a', true],
    ['a+b(c).ts', 'a+b(c).ts', true],
    ['a[b', 'a[b', true],
    ['a{b', 'a{b', true],
    ['src\\a.ts', 'src/a.ts', true],
  ]
  for (const [pattern, path, matches] of table)
    assert.equal(globMatches(pattern, path), matches, `${pattern} ~ ${path}`)
})

test('any text can be a pattern', () => {
  fc.assert(fc.property(fc.string(), fc.string(), (pattern, path) => typeof globMatches(pattern, path) === 'boolean'))
})

test('letters, nested braces and classes match in any combination', () => {
  const table: [string, string, boolean][] = [
    ['{a,b{c,d}}x', 'bdx', true],
    ['{a,b{c,d}}x', 'bx', false],
    ['{,a}b', 'b', true],
    ['*{.ts,.js}', 'a.js', true],
    ['**/{a,b}/*', 'x/y/b/z', true],
    ['a[z-a]', 'a[z-a]', true],
    ['{a,b', '{a,b', true],
    ['a**b', 'ax/yb', true],
    ['**/b', 'ab', false],
    ['?', 'é', true],
    ['?', '/', false],
  ]
  assert.deepEqual(
    table.map(([pattern, path]) => [pattern, path, globMatches(pattern, path)]),
    table,
  )
})

test('a pattern with many wildcards is held against a long path in no time', () => {
  const patterns = ['*a'.repeat(40), '**/a/'.repeat(40), '{a,a}'.repeat(40), '?*'.repeat(40), '[ab]*'.repeat(40)]
  const matched = patterns.map((pattern) => globMatches(`${pattern}b`, 'a/a'.repeat(400)))
  assert.deepEqual(matched, [false, false, false, false, false])
})

test('a pattern is inside another only when it surely is', () => {
  assert.ok(globInside('src/app/*.ts', 'src/**'))
  assert.ok(globInside('src/app/a.ts', 'src/app/**'))
  assert.ok(!globInside('**/*.ts', 'src/**'))
  assert.ok(!globInside('srcs/*.ts', 'src/**'))
  assert.ok(!globInside('src/../x/*.ts', 'src/**'))
  for (const inner of ['src/{a,b}', 'src/[abcd', 'src/*****', 'src/a?bcd'])
    assert.ok(!globInside(inner, 'src/?????'), inner) // its letters fit, and what it matches need not
  assert.deepEqual(['*', '**', '**/*', '*.*', ' ', './**', 'src/**'].map(isRepoWide), [
    true,
    true,
    true,
    true,
    true,
    true,
    false,
  ])
})
