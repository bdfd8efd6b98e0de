/** What path patterns match, from which folders, and how paths are spelled. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { absolutePath, isWithin, matchesPath, pathPattern, reachesInto, resolvePaths, segmentRegex } from './pattern.ts'

const seen = { lasting: false, there: () => true, keep: <T>(_: string, work: () => T) => work() }
const places = { cwd: '/p/sub', projectDir: '/p', home: '/h' }

test('a pattern as read', () => {
  const shown = (text: string, allow = false) => {
    const { anchor, base, rest, names, globs, part } = pathPattern(text, allow)
    return `${anchor} [${base}] ${rest.source} names ${names} globs ${globs} part ${part}`
  }
  const rows: [pattern: string, is: string, allow?: boolean][] = [
    ['a', 'cwd [] ^(?:.*\\/)?a(?:\\/.*)?$ names a globs  part a'],
    ['/a', 'project [] ^a(?:\\/.*)?$ names a globs  part a'],
    ['//a/b', 'root [a] ^b(?:\\/.*)?$ names a,b globs  part b'],
    ['//a', 'root [] ^a(?:\\/.*)?$ names a globs  part a'],
    ['//', 'root [] ^ names  globs  part '],
    ['~', 'home [] ^ names  globs  part '],
    ['~/', 'home [] ^ names  globs  part '],
    ['~/a', 'home [] ^a(?:\\/.*)?$ names a globs  part a'],
    ['~a', 'cwd [] ^(?:.*\\/)?~a(?:\\/.*)?$ names ~a globs  part ~a'],
    ['./a', 'cwd [] ^a(?:\\/.*)?$ names a globs  part a'],
    ['./', 'cwd [] ^ names  globs  part '],
    ['./a/**', 'cwd [a] ^.+(?:\\/.*)?$ names a globs  part '],
    ['a/', 'cwd [] ^(?:.*\\/)?a(?:\\/.*)?$ names a globs  part a'],
    ['a//', 'cwd [] ^(?:.*\\/)?a(?:\\/.*)?$ names a globs  part a'],
    ['a/./b', 'cwd [a] ^b(?:\\/.*)?$ names a,b globs  part b'],
    ['/', 'project [] ^ names  globs  part '],
    ['a/**', 'cwd [] ^(?:.*\\/)?a\\/.+(?:\\/.*)?$ names a globs  part a'],
    ['a/**', 'cwd [a] ^.+(?:\\/.*)?$ names a globs  part ', true],
    ['a/b/**', 'cwd [a/b] ^.+(?:\\/.*)?$ names a,b globs  part '],
    ['a/**/b', 'cwd [a] ^(?:[^/]+\\/)*b(?:\\/.*)?$ names a,b globs  part b'],
    ['**/abc/d', 'cwd [] ^(?:[^/]+\\/)*abc\\/d(?:\\/.*)?$ names abc,d globs  part abc'],
    ['**/ab/cd', 'cwd [] ^(?:[^/]+\\/)*ab\\/cd(?:\\/.*)?$ names ab,cd globs  part ab'],
    ['a*b?', 'cwd [] ^(?:.*\\/)?a[^/]*b[^/\\u0000](?:\\/.*)?$ names  globs a*b* part '],
    ['\\*\\?', 'cwd [] ^(?:.*\\/)?\\*\\?(?:\\/.*)?$ names *? globs  part *?'],
    ['a/*.ts', 'cwd [a] ^[^/]*\\.ts(?:\\/.*)?$ names a globs *.ts part '],
    ['a?[bc]*', 'cwd [] ^(?:.*\\/)?a[^/\\u0000](?!\\/)[bc][^/]*(?:\\/.*)?$ names  globs a* part '],
    ['\\*', 'cwd [] ^(?:.*\\/)?\\*(?:\\/.*)?$ names * globs  part *'],
    ['x[a', 'cwd [] ^(?:.*\\/)?x\\[a(?:\\/.*)?$ names  globs x* part '],
  ]
  assert.deepEqual(
    rows.map(([text, , allow]) => [text, shown(text, allow), ...(allow ? [allow] : [])]),
    rows,
  )
})

test('one part of a path as a regular expression', () => {
  const matching = (part: string, ...texts: string[]) =>
    texts.filter((text) => new RegExp(`^${segmentRegex(part)}$`).test(text))
  assert.deepEqual(matching('a*', 'a', 'ab', 'a/b', 'b'), ['a', 'ab'])
  assert.deepEqual(matching('a**b', 'ab', 'axb', 'a/b'), ['ab', 'axb'])
  assert.equal(segmentRegex('a**b'), 'a[^/]*b')
  assert.deepEqual(matching('a?', 'a', 'ab', 'abc', 'a/'), ['ab'])
  assert.deepEqual(matching('[a-c]', 'a', 'b', 'c', 'd', '-'), ['a', 'b', 'c'])
  assert.deepEqual(matching('[!a-c]', 'a', 'd', '/', '-'), ['d', '-'])
  assert.deepEqual(matching('[^a]', 'a', 'd', '^'), ['d', '^'])
  assert.deepEqual(matching('[b-b]', 'a', 'b', 'c', '-'), ['b'])
  assert.deepEqual(matching('[\\^-a]', '^', '_', 'a', 'b', '-'), ['^', '_', 'a'])
  assert.deepEqual(matching('[a-cx]', 'c', 'd', 'x', '-'), ['c', 'x'])
  assert.deepEqual(matching('[\\a\\b]', 'a', 'b', '\\'), ['a', 'b'])
  assert.deepEqual(matching('[c-a]', 'a', 'b', 'c', '-'), [])
  assert.deepEqual(matching('[]a]', ']', 'a', 'b'), [']', 'a'])
  assert.deepEqual(matching('[a-]', 'a', '-', 'b'), ['a', '-'])
  assert.deepEqual(matching('[.-0]', '.', '/', '0'), ['.', '0'])
  assert.deepEqual(matching('[\\]]', ']', '\\]', '\\'), ['\\]'])
  assert.deepEqual(matching('[ab]c', 'ac', 'bc', 'c'), ['ac', 'bc'])
  assert.deepEqual(matching('[a', '[a', 'a'), ['[a'])
  assert.deepEqual(matching('\\*', '*', 'a', '\\'), ['*'])
  assert.deepEqual(matching('a\\', 'a\\', 'a'), ['a\\'])
  assert.deepEqual(matching('a.b', 'a.b', 'axb'), ['a.b'])
  assert.deepEqual(matching('[x^]', 'x', '^', 'y'), ['x', '^'])
})

test('where a pattern is looked for', () => {
  const rows: [pattern: string, path: string, deny: boolean, allow: boolean][] = [
    ['a', '/p/sub/a', true, true],
    ['a', '/p/sub/x/a', true, true],
    ['a', '/p/sub/a/x', true, true],
    ['a', '/p/a', true, false],
    ['a', '/p/sub/ab', false, false],
    ['a', '/q/a', false, false],
    ['z', '/p/sub/a', false, false],
    ['./a', '/p/a', true, false],
    ['./a', '/p/sub/x/a', false, false],
    ['/a', '/p/a', true, true],
    ['/a', '/p/sub/a', false, false],
    ['//q/a', '/q/a', true, true],
    ['//q', '/q/a', true, true],
    ['//q', '/qa', false, false],
    ['~/a', '/h/a', true, true],
    ['~/a', '/hx/a', false, false],
    ['~', '/h/a', true, true],
    ['a/b', '/p/sub/a/b', true, true],
    ['a/b', '/p/sub/x/a/b', false, false],
    ['a/**', '/p/sub/a', false, false],
    ['a/**', '/p/sub/a/b', true, true],
    ['a/**', '/p/sub/x/a/b', true, false],
    ['**', '/p/sub/a', true, true],
    ['//', '/q', true, true],
    ['?', '/p/sub/𝄞', true, true],
  ]
  assert.deepEqual(
    rows.map(([text, path]) => [
      text,
      path,
      matchesPath(pathPattern(text, false), path, places, false),
      matchesPath(pathPattern(text, true), path, places, true),
    ]),
    rows,
  )
  const other = { ...places, cwd: '/p', origins: ['/o'], directories: ['/d'] }
  const denied = (text: string, path: string, allow = false) =>
    matchesPath(pathPattern(text, allow), path, other, allow)
  assert.deepEqual(
    [denied('a', '/o/a'), denied('a', '/d/a'), denied('/a', '/o/a'), denied('/a', '/d/a'), denied('/a', '/o/a', true)],
    [true, true, true, false, false],
  )
  const [home, more, from] = [{ ...places, cwd: '/p' }, { directories: ['/d'] }, { origins: ['/o'] }]
  const at = (path: string, where: object) => matchesPath(pathPattern('a', false), path, { ...home, ...where }, false)
  assert.deepEqual(
    [at('/d/a', more), at('/d/a', from), at('/o/a', from), at('/o/a', more), at('/d/a', {}), at('/p/a', more)],
    [true, false, true, false, false, true],
  )
  assert.deepEqual(
    ['/p/a', '/p/x/a', '/x/a', '/pxa'].map((path) => denied('/a', path)),
    [true, false, false, false],
  )
  assert.deepEqual(
    [denied('a', '/o/a', true), matchesPath(pathPattern('a', false), '/p/a', { ...places, cwd: '/x' }, false)],
    [false, true],
  )
})

test('a pattern is looked for in the folder that it names, and where that leads', () => {
  const files = { ...seen, real: (path: string) => path.replace(/^\/link(?=\/|$)/, '/real') }
  const matched = (path: string, allow: boolean) =>
    matchesPath(pathPattern('//link/a', allow), path, { ...places, files }, allow)
  for (const allow of [false, true])
    assert.deepEqual(
      ['/link/a', '/real/a', '/other/a'].map((path) => matched(path, allow)),
      [true, true, false],
    )
})

test('on macOS and Windows a capital is like its small letter', async (t) => {
  const { value } = Object.getOwnPropertyDescriptor(process, 'platform')!
  t.after(() => Object.defineProperty(process, 'platform', { value }))
  const read = async (platform: string) => {
    Object.defineProperty(process, 'platform', { value: platform })
    const there = (await import(`${import.meta.resolve('./pattern.ts')}?${platform}`)) as typeof import('./pattern.ts')
    const { rest, part } = there.pathPattern('A', false)
    return [there.foldsCase, rest.flags, part]
  }
  assert.deepEqual(
    [await read('darwin'), await read('win32'), await read('linux')],
    [
      [true, 'isu', ''],
      [true, 'isu', ''],
      [false, 'su', 'A'],
    ],
  )
})

test('which folders a pattern reaches into', () => {
  const reach = (text: string, folder: string) => reachesInto(pathPattern(text, false), folder, places)
  assert.deepEqual(
    [
      reach('/a/b', '/p/a'),
      reach('/a/b', '/p/a/b'),
      reach('/a/b', '/p/c'),
      reach('/a/b', '/p'),
      reach('//q/r/s', '/q/r'),
    ],
    [true, true, false, true, true],
  )
  // as a deny rule reads it: also from the folders above, up to where the session began
  const below = { ...places, cwd: '/p/x/y' }
  const relative = (folder: string) => reachesInto(pathPattern('a/b', false), folder, below)
  assert.deepEqual(['/p/x/y/a', '/p/x/a', '/p/a', '/q/a'].map(relative), [true, true, true, false])
})

test('a path within a folder', () => {
  const rows: [path: string, folder: string, is: boolean][] = [
    ['/a/b', '/a', true],
    ['/a', '/a', true],
    ['/ab', '/a', false],
    ['/A/b', '/a', false],
    ['/a/b', '/a/', true],
    ['/x', '/', true],
    ['/a', '/a/b', false],
  ]
  assert.deepEqual(
    rows.map(([path, folder]) => [path, folder, isWithin(path, folder)]),
    rows,
  )
})

test('a path made absolute, and its spellings', () => {
  const rows: [path: string, is: string][] = [
    ['a', '/c/a'],
    ['/a', '/a'],
    ['~', '/h'],
    ['~/a', '/h/a'],
    ['~a', '/c/~a'],
    ['a/../b', '/c/b'],
    ['./a', '/c/a'],
    ['a//b', '/c/a/b'],
    ['a/', '/c/a'],
    ['', '/c'],
    ['..', '/'],
    ['.', '/c'],
    ['.a', '/c/.a'],
    ['a.', '/c/a.'],
    ['..a', '/c/..a'],
    ['a/.', '/c/a'],
    ['/', '/'],
  ]
  assert.deepEqual(
    rows.map(([path]) => [path, absolutePath(path, '/c', '/h')]),
    rows,
  )
  assert.deepEqual([absolutePath('a', '/c/../d', '/h'), absolutePath('./a', '/c/../d', '/h')], ['/d/a', '/d/a'])
  assert.equal(absolutePath('a', 'c', '/h'), join(process.cwd(), 'c/a'))
  const files = {
    ...seen,
    real: (path: string) => path.replace(/^\/link(?=\/|$)/, '/real').replace('/real/..', '/up'),
  }
  const spelled = (path: string, cwd = '/c') => resolvePaths(path, cwd, '/h', files)
  assert.deepEqual(
    [
      spelled('a'),
      spelled('/link/a'),
      spelled('~'),
      spelled('~/a'),
      spelled('a/'),
      spelled('/link/'),
      spelled('a', '/link'),
    ],
    [['/c/a'], ['/link/a', '/real/a'], ['/h'], ['/h/a'], ['/c/a'], ['/link', '/real'], ['/link/a', '/real/a']],
  )
  assert.deepEqual(
    [
      spelled('/link/../x'),
      spelled('../x', '/link'),
      spelled('x', '/link/..'),
      spelled('a/../b'),
      spelled('/link/a/../b'),
    ],
    [
      ['/x', '/up/x'],
      ['/x', '/up/x'],
      ['/x', '/up/x'],
      ['/c/b', '/c/a/../b'],
      ['/link/b', '/real/a/../b', '/real/b'],
    ],
  )
})

test('a pattern that both permits and forbids is anchored for each on its own', () => {
  const known = { ...places, bases: { allow: new Map(), forbid: new Map(), reach: new Map() } }
  const pattern = pathPattern('./a', true)
  for (const _ of [1, 2])
    assert.deepEqual(
      [true, false].map((allow) => [
        matchesPath(pattern, '/p/sub/a', known, allow),
        matchesPath(pattern, '/p/a', known, allow),
        reachesInto(pattern, '/p', known),
      ]),
      [
        [true, false, true],
        [true, true, true],
      ],
    )
})
