import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { sized } from '../../../test/support/campaign-size.ts'
import { type Bench, bench } from '../../../test/support/tool-host.ts'
import { grepFiles, type Searcher } from './grep-files.ts'
import { findRipgrep, searchRipgrep } from './ripgrep.ts'
import { type Search, splitGlobs } from './search.ts'
import { types } from './search-types.ts'
import { searchWalk } from './search-walk.ts'

const ripgrep = findRipgrep({})!
const limits = { timeLimitMs: 30_000, signal: new AbortController().signal }

/** A small repository with what searches stumble over. */
function repository(b: Bench): void {
  mkdirSync(join(b.folder, '.git'))
  b.file('.git/config', 'needle in git\n')
  b.file('.gitignore', 'dist/\n*.log\n!keep.log\n/only-root\n')
  b.file('a.ts', 'const needle = 1\nconst other = 2\n// Needle\n')
  b.file('b.js', 'x\ny\nneedle\nz\nw\nneedle again\n')
  b.file('only-root', 'needle\n')
  b.file('.hidden', 'needle\n')
  b.file('dist/out.js', 'needle\n')
  b.file('debug.log', 'needle\n')
  b.file('keep.log', 'needle\n')
  b.file('src/only-root', 'needle\n')
  b.file('src/.ignore', 'skipped.ts\n')
  b.file('src/skipped.ts', 'needle\n')
  b.file('src/deep/.gitignore', '*.tmp\n!/a.log\n')
  b.file('src/deep/a.log', 'needle\n')
  b.file('src/deep/b.tmp', 'needle\n')
  b.file('src/deep/ünïcode näme.md', 'ein Nädelchen: needle\r\nzwei\r\n')
  b.file('src/nested/.git/HEAD', 'x\n')
  b.file('src/nested/inner.log', 'needle\n')
  b.file('src/node_modules/m/index.js', 'needle\n')
  b.file('binary', Buffer.from('needle\0needle\n'))
  b.file('wide.txt', Buffer.from('\uFEFFneedle wide\n', 'utf16le'))
  b.file('long.txt', `${'a'.repeat(700)} needle\n`)
  b.file('no-end.txt', 'first\nneedle')
  symlinkSync('..', join(b.folder, 'src/loop'))
  symlinkSync('a.ts', join(b.folder, 'link.ts'))
}

/** The same call with ripgrep and without; the own walk here, not in its thread, which would cost each call a start. */
async function both(b: Bench, input: Record<string, unknown>) {
  const found = async (how: Searcher) => {
    const output = await grepFiles({ pattern: '', ...input }, b.context, how)
    return { content: output.content, isError: output.isError }
  }
  return { theirs: await found((search) => searchRipgrep(ripgrep, search, limits)), ours: await found(searchWalk) }
}

test('with and without ripgrep a search finds the same', async (t) => {
  const b = bench(t)
  repository(b)
  const inputs: Record<string, unknown>[] = [
    { pattern: 'needle' },
    { pattern: 'needle', output_mode: 'content' },
    { pattern: 'needle', output_mode: 'content', '-n': false },
    { pattern: 'needle', output_mode: 'content', '-C': 1 },
    { pattern: 'needle', output_mode: 'content', '-A': 1, '-B': 2 },
    { pattern: 'needle', output_mode: 'count' },
    { pattern: 'NEEDLE', '-i': true, output_mode: 'content' },
    { pattern: 'NEEDLE', output_mode: 'content' },
    { pattern: '^needle$', output_mode: 'content' },
    { pattern: 'needle$', output_mode: 'content' },
    { pattern: 'y\\nneedle', multiline: true, output_mode: 'content' },
    { pattern: 'x.*z', multiline: true, output_mode: 'content' },
    { pattern: 'needle', multiline: true, output_mode: 'count' },
    { pattern: 'needle', glob: '*.ts', output_mode: 'content' },
    { pattern: 'needle', glob: '*.{ts,js}', output_mode: 'content' },
    { pattern: 'needle', glob: '*.ts, *.md', output_mode: 'content' },
    { pattern: 'needle', glob: 'src/**', output_mode: 'content' },
    { pattern: 'needle', glob: '!src', output_mode: 'content' },
    { pattern: 'needle', glob: '*.log', output_mode: 'content' },
    { pattern: 'needle', glob: '**/deep/*', output_mode: 'content' },
    { pattern: 'needle', type: 'ts', output_mode: 'content' },
    { pattern: 'needle', type: 'js', output_mode: 'content' },
    { pattern: 'needle', path: 'src', output_mode: 'content' },
    { pattern: 'needle', path: 'src/deep', output_mode: 'content' },
    { pattern: 'needle', path: 'a.ts', output_mode: 'content' },
    { pattern: 'needle', path: 'dist', output_mode: 'content' },
    { pattern: 'n[ä-ü]delchen', '-i': true, output_mode: 'content' },
    { pattern: '\\bneedle\\b', output_mode: 'content' },
    { pattern: 'nothing has this' },
    { pattern: 'nothing has this', output_mode: 'content' },
    { pattern: 'nothing has this', output_mode: 'count' },
    { pattern: 'needle', output_mode: 'content', head_limit: 2 },
    { pattern: 'needle', output_mode: 'content', head_limit: 2, offset: 3 },
    { pattern: 'needle', offset: 100 },
  ]
  for (const input of inputs) {
    const { theirs, ours } = await both(b, input)
    assert.deepEqual(ours, theirs, JSON.stringify(input))
    assert.equal(theirs.isError, false)
  }
})

test('a path that holds line breaks is shown whole, with and without ripgrep', async (t) => {
  const b = bench(t)
  b.file('a\n\nb.md', 'x\nneedle\ny\n')
  const late = Buffer.from(`needle\n${'x\n'.repeat(100_000)}\0\n`)
  b.file('late', late)
  const others = Array.from({ length: 20 }, (_, at) => `z${at}.md`)
  for (const name of others) b.file(name, 'needle\n')
  for (const output_mode of ['count', 'content', 'files_with_matches']) {
    const { theirs, ours } = await both(b, { pattern: 'needle', output_mode, '-C': 1, glob: '*.md' })
    assert.deepEqual(theirs, ours)
    assert.match(theirs.content, /a\n\nb\.md/)
  }
  for (const name of others) b.file(`${name}\n\nbinary`, late)
  const { theirs } = await both(b, { pattern: 'needle', output_mode: 'content' })
  const found = theirs.content.split('\n')
  assert.deepEqual(
    others.filter((name) => !found.includes(`${name}:1:needle`)),
    [],
  )
})

test('what no program can be started with is rejected, and a search that was stopped before finds nothing', async (t) => {
  const b = bench(t)
  b.file('a', 'needle\n')
  const rejected = async (input: object) => (await b.use('Grep', { pattern: 'needle', ...input })).content
  for (const key of ['pattern', 'glob', 'type']) {
    assert.equal(await rejected({ [key]: 'a\0' }), 'pattern, glob or type holds a NUL character')
    assert.equal(
      await rejected({ [key]: 'a'.repeat(20_001) }),
      'pattern, glob or type is longer than 20,000 characters',
    )
  }
  const search: Search = {
    ...{ pattern: 'needle', globs: [], type: undefined, mode: 'content' as const, before: 0, after: 0 },
    ...{ insensitive: false, multiline: false, root: b.folder, rootIsFile: false },
  }
  const found = await searchRipgrep(ripgrep, search, { timeLimitMs: 30_000, signal: AbortSignal.abort() })
  assert.deepEqual(found, { ok: true, files: [], cut: false })
})

test('patterns mean the same with and without ripgrep', async (t) => {
  const b = bench(t)
  const lines = [
    ...[
      'foo bar',
      'FOO',
      'interface{}',
      'a.b',
      'a+b',
      'naïve café',
      '42 ４２',
      'snake_case',
      'x-y',
      '[brackets]',
      '(parens)',
    ],
    ...[
      'tab\there',
      'C:\\path\\file',
      '"quoted"',
      "it's",
      'straße',
      'Ελληνικά',
      'emoji 😀 end',
      '^caret$',
      'a--b',
      '#hash',
      '@at',
    ],
    ...['foo(bar, baz)', '<div class="x">', 'aaa', '', '   ', 'end.'],
  ]
  b.file('text.txt', `${lines.join('\n')}\n`)
  const patterns = [
    ...[
      'foo',
      '(?i)foo',
      '(?i:FOO) bar',
      'fo{2}',
      'a{3}',
      'a{2,}',
      'interface\\{\\}',
      '\\w+\\s\\w+',
      '^\\d+',
      '\\d\\s\\d',
      '\\bcaf',
    ],
    ...[
      'caf\\w\\b',
      '[[:upper:]]+',
      '[[:digit:][:space:]]+$',
      '[^[:ascii:]]',
      '\\p{Greek}+',
      '\\p{Lu}',
      '\\pL\\s',
      '[-a]-',
      '[a-]y',
      '\\[br',
    ],
    ...[
      '[]b]',
      '[^]]$',
      '\\(\\w+\\)',
      'a\\.b',
      'a\\+b',
      'x\\-y',
      '\\"q',
      "it\\'s",
      '\\\\path',
      '\\t',
      '😀',
      '\\x{1F600}',
      '\\x61\\x61',
      '^$',
    ],
    ...[
      '^\\s*$',
      '.',
      'foo|FOO',
      '(?P<n>a)b|c',
      '(?:a|b)+',
      'a*?b',
      '\\Aa',

      '\\$$',
      '#h',
      '@',
      '[&@#]',
      '[a-c&&b]',
      '[\\w--_]+',
      '<div.*>',
    ],
    ...[
      '\\<foo\\>',
      'stra[ß]e',
      '}',
      ']',
      '\\/',
      '[/]',
      '[{}()]',
      '\\.$',
      '(?s).',
      '(?-i)foo',
      '\\S+\\W\\S+',
      '[^\\w\\s]',
    ],
  ]
  for (const pattern of patterns) {
    const { theirs, ours } = await both(b, { pattern, output_mode: 'content' })
    assert.deepEqual(ours, theirs, pattern)
    assert.equal(theirs.isError, false, pattern)
  }
  for (const pattern of [
    '(',
    ')',
    'a{',
    '[',
    '*',
    '(?=a)',
    '(?<!a)b',
    '(a)\\1',
    '\\',
    '\\p{Nonsense}',
    '(?z)',
    '[b-a]',
    '\\y',
  ]) {
    const { theirs, ours } = await both(b, { pattern })
    assert.deepEqual([theirs.isError, ours.isError], [true, true], pattern)
    assert.match(ours.content, /cannot be searched/)
    assert.match(theirs.content, /cannot be searched/)
  }
})

test('any words, quoted as a pattern, are found by both or by none', async (t) => {
  const b = bench(t)
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme-ascii' }), async (words) => {
      b.file('text.txt', `before\n${words}\nafter\n`)
      const pattern = words.replace(/[\\.+*?()|[\]{}^$#&~-]/g, '\\$&')
      const { theirs, ours } = await both(b, { pattern, output_mode: 'content' })
      assert.deepEqual(ours, theirs)
      assert.equal(theirs.isError, false)
    }),
    { numRuns: sized(8, 25) },
  )
})

test('an unknown type is an error that says what to do', async (t) => {
  const b = bench(t)
  const { theirs, ours } = await both(b, { pattern: 'x', type: 'nonsense' })
  assert.deepEqual(ours, theirs)
  assert.deepEqual([ours.isError, ours.content], [true, 'unknown type "nonsense"; use glob instead'])
})

test('the table of types is that of ripgrep', () => {
  const table = execFileSync(ripgrep, ['--type-list'], { encoding: 'utf8' })
  assert.equal([...types].map(([type, globs]) => `${type}: ${globs.join(', ')}\n`).join(''), table)
})

test('the answer is laid out by its mode', async (t) => {
  const b = bench(t)
  const newer = b.file('src/new.ts', 'needle\nneedle two\nx\n')
  const older = b.file('old.ts', 'a\nneedle\n')
  utimesSync(older, 1000, 1000)
  utimesSync(newer, 2000, 2000)
  const said = async (input: object) => (await b.use('Grep', { pattern: 'needle', ...input })).content
  assert.equal(await said({}), 'src/new.ts\nold.ts\nFound 2 files')
  assert.equal(
    await said({ output_mode: 'count' }),
    'old.ts:1\nsrc/new.ts:2\nFound 3 total occurrences across 2 files.',
  )
  assert.equal(
    await said({ output_mode: 'content', '-B': 1 }),
    'old.ts-1-a\nold.ts:2:needle\n--\nsrc/new.ts:1:needle\nsrc/new.ts:2:needle two',
  )
  assert.equal(
    await said({ output_mode: 'content', head_limit: 1, offset: 1 }),
    'src/new.ts:1:needle\n(Entries 2-2 of 3; go on with offset 2.)',
  )
  assert.equal(await said({ path: 'nowhere' }), `${b.folder}/nowhere does not exist`)
})

test('a flood of matches is cut, and the same question has the same answer', async (t) => {
  const b = bench(t)
  for (let i = 0; i < 5; i++) b.file(`f${i}.txt`, 'needle and more of it\n'.repeat(40_000))
  const first = await b.use('Grep', { pattern: 'needle', output_mode: 'content', head_limit: 3 })
  const again = await b.use('Grep', { pattern: 'needle', output_mode: 'content', head_limit: 3 })
  assert.deepEqual(first, again)
  assert.match(first.content, /^f0\.txt:1:needle and more of it\n/)
  assert.match(first.content, /There is more than could be held/)
  const all = await b.use('Grep', { pattern: 'needle', path: 'f1.txt', output_mode: 'content', head_limit: 0 })
  assert.ok(all.content.length < 1_100_000)
  assert.match(all.content, /\[SDLC_TRUNCATED\]/)
})

test('a line of many megabytes is shown from its beginning, and hides no other match', async (t) => {
  const b = bench(t)
  b.file('a.min.js', `${'ü'.repeat(3_000_000)}needle\n`)
  b.file('b.txt', 'before\nneedle\n')
  const { content } = await b.use('Grep', { pattern: 'needle', output_mode: 'content', '-B': 1 })
  assert.equal(content, `a.min.js:1:${'ü'.repeat(500)}… [cut]\n--\nb.txt-1-before\nb.txt:2:needle`)
})

test('a walk through few folders with many files can be interrupted', async (t) => {
  const stop = new AbortController()
  let shown = 0
  const mayShow = () => {
    if (shown++ === 0) setImmediate(() => stop.abort())
    return true
  }
  const b = bench(t, { mayShow })
  for (let at = 0; at < 8_000; at++) b.file(`d${at % 8}/${at}`, '')
  const { content, isError } = await b.use('Glob', { pattern: '**/*' }, { signal: stop.signal })
  assert.deepEqual([content, isError], ['the search was interrupted', true])
  assert.ok(shown < 8_000)
})

test('a pattern that would backtrack for ever can be interrupted', async (t) => {
  const b = bench(t)
  b.file('a.txt', `${'a'.repeat(60)}!\n`)
  const stop = new AbortController()
  const env = { ...b.context.env, ONA_RIPGREP: 'off' }
  const search = b.use('Grep', { pattern: '(a*)*(a*)*b' }, { env, signal: stop.signal })
  setTimeout(() => stop.abort(), 200)
  assert.deepEqual([(await search).isError, (await search).content], [true, 'the search was interrupted'])
})

test('without ripgrep the tool searches in a thread of its own', async (t) => {
  const b = bench(t)
  b.file('a.txt', 'one\ntwo\n')
  const input = { pattern: 'tw+o', output_mode: 'content' }
  const ours = await b.use('Grep', input, { env: { ...b.context.env, ONA_RIPGREP: 'off' } })
  assert.deepEqual([ours, ours.content], [await b.use('Grep', input), 'a.txt:2:two'])
})

test('several globs may stand in one word', () => {
  assert.deepEqual(splitGlobs('*.ts, *.{js,jsx}  src/**'), ['*.ts', '*.{js,jsx}', 'src/**'])
  assert.deepEqual(splitGlobs(undefined), [])
})

test('files are found by pattern, newest first', async (t) => {
  const b = bench(t)
  repository(b)
  const times: Record<string, number> = { 'a.ts': 10, 'src/skipped.ts': 30, 'b.js': 20 }
  for (const [path, at] of Object.entries(times)) utimesSync(join(b.folder, path), at, at)
  const found = async (pattern: string, path?: string) =>
    (await b.use('Glob', { pattern, ...(path && { path }) })).content.replaceAll(`${b.folder}/`, '').split('\n')
  assert.deepEqual(await found('**/*.ts'), ['src/skipped.ts', 'a.ts'])
  assert.deepEqual(await found('*.ts'), ['a.ts'])
  assert.deepEqual(await found('{a,b}.{ts,js}'), ['b.js', 'a.ts'])
  assert.deepEqual(await found('deep/*.log', 'src'), ['src/deep/a.log'])
  assert.deepEqual(await found(join(b.folder, 'src/deep/*.log')), ['src/deep/a.log'])
  assert.deepEqual(await found('../*.ts', 'src'), ['a.ts'])
  assert.deepEqual(await found('src/deep/a.log'), ['src/deep/a.log'])
  assert.deepEqual(await found('.hid*'), ['.hidden'])
  assert.deepEqual(await found('**/HEAD'), ['No files found'])
  assert.deepEqual((await found('**')).length, 21)
  assert.deepEqual(await found('*', 'a.ts'), ['a.ts is a file, not a folder'])
  assert.deepEqual(await found('*', 'nowhere'), ['nowhere does not exist'])
})

test('a walk sees the same files as ripgrep, with ignore files and without', async (t) => {
  const b = bench(t)
  repository(b)
  const ours = async (env: object) =>
    (await b.use('Glob', { pattern: '**' }, { env: { ...b.context.env, ...env } })).content.split('\n').sort()
  const theirs = (...flags: string[]) =>
    execFileSync(ripgrep, ['--files', '--hidden', '--glob=!.git', '--no-ignore-global', ...flags], {
      cwd: b.folder,
      encoding: 'utf8',
    })
      .trim()
      .split('\n')
      .map((path) => join(b.folder, path))
      .sort()
  assert.deepEqual(await ours({}), theirs('--no-ignore'))
  assert.deepEqual(await ours({ ONA_GLOB_NO_IGNORE: 'false' }), theirs())
})

test('a folder that an ignore file takes back is searched, and its content keeps to the other rules', async (t) => {
  const b = bench(t)
  mkdirSync(join(b.folder, '.git'))
  b.file('.gitignore', 'build/\nvendor/\nodd*\n*.log\n')
  b.file('.ignore', '!vendor/\n')
  b.file('package/.gitignore', '!build/\n!odd*\n')
  const folders = ['build', 'vendor/a', 'package/build', 'package/build/deep', 'package/build/build', 'package/odd\n*']
  for (const folder of folders) for (const name of ['x.ts', 'x.log']) b.file(`${folder}/${name}`, 'needle\n')
  const found = ['package/build/build/x.ts', 'package/build/deep/x.ts', 'package/build/x.ts', 'package/odd\n*/x.ts']
  const wanted = [...found, 'vendor/a/x.ts']
  const { theirs, ours } = await both(b, { pattern: 'needle', output_mode: 'count' })
  assert.deepEqual(ours, theirs)
  const counts = wanted.map((path) => `${path}:1\n`).join('')
  assert.equal(ours.content, `${counts}Found 5 total occurrences across 5 files.`)
  const listed = await b.use('Glob', { pattern: '**/x.*' }, { env: { ...b.context.env, ONA_GLOB_NO_IGNORE: 'false' } })
  assert.deepEqual(
    wanted.map((path) => listed.content.includes(join(b.folder, path))),
    wanted.map(() => true),
  )
  assert.equal(listed.content.match(/x\.(ts|log)$/gm)?.length, 5)
})

test('what is neither a file nor a folder is not searched', async (t) => {
  const b = bench(t)
  const pipe = join(b.folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  for (const path of [pipe, '/dev/null']) {
    const { content, isError } = await grepFiles({ pattern: 'x', path }, b.context, never)
    assert.deepEqual(
      [content, isError],
      [`${path} is neither a file nor a folder: searching it could wait for ever`, true],
    )
  }
})

const never: Searcher = () => assert.fail('it was searched')

test('at most a hundred files are listed, and that is said', async (t) => {
  const b = bench(t)
  for (let i = 0; i < 120; i++) b.file(`f${i}.txt`, '')
  const { content } = await b.use('Glob', { pattern: '*.txt' })
  const lines = content.split('\n')
  assert.deepEqual(
    [lines.length, lines.at(-1)],
    [101, '(100 of 120 files; use a narrower path or pattern for the others.)'],
  )
})

test('files that a rule keeps from being read are not shown', async (t) => {
  const b = bench(t, { mayShow: (path) => !path.endsWith('.env') })
  b.file('.env', 'KEY=needle\n')
  b.file('a.txt', 'needle\n')
  assert.equal((await b.use('Grep', { pattern: 'needle', output_mode: 'content' })).content, 'a.txt:1:needle')
  assert.equal((await b.use('Grep', { pattern: 'needle' })).content, 'a.txt\nFound 1 file')
  assert.equal((await b.use('Glob', { pattern: '*' })).content, `${b.folder}/a.txt`)
})
