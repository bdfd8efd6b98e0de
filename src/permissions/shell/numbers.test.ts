import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseAst } from 'rolldown/parseAst'
import { numbered, programNumbers, renumbered, tellsAll, toldNumbers } from './numbers.ts'

const rules = ['Bash(chmod 777 *)', 'Bash(tool v2 *)', 'Edit(/dist/**)', '/home/dev/project-1', 'Bash(*80*)']
const told = toldNumbers(rules)!

/** With `<1>` for the first free number. */
const shown = (line: string): string =>
  numbered(line, told)?.key.replace(
    /\u0001(.)[\u0100-\uffff]?/g,
    (_, mark: string) => `<${mark.charCodeAt(0) - 0xff}>`,
  ) ?? line

test('numbers that nothing tells apart are free', () => {
  for (const [line, key] of [
    ['cat src/part12/file7.ts', 'cat src/part<1>/file<2>.ts'],
    ["sed -n '120,140p' src/file6.ts | tail -5", "sed -n '<1>,<2>p' src/file<3>.ts | tail -5"],
    [
      'mkdir -p build/12 && cp -r dist build/12/ && ls build/13',
      'mkdir -p build/<1> && cp -r dist build/<1>/ && ls build/<2>',
    ],
    ['git commit -m "fix case 12" # 345', 'git commit -m "fix case <1>" # <2>'],
    [
      'node run.mjs --case 12 --port=34 > /tmp/out-56.txt 2>&1',
      'node run.mjs --case <1> --port=<2> > /tmp/out-<3>.txt 2>&1',
    ],
    ['python3 -c "print(12 * 2)"', 'python3 -c "print(<1> * <2>)"'],
    ['git show HEAD~12 -n 5 --stat', 'git show HEAD~<1> -n <2> --stat'],
    ['cat a12z', 'cat a<1>z'],
    ['npm view left-pad@12 a+34 b!56', 'npm view left-pad@<1> a+<2> b!<3>'],
    ['ls a*/bc12', 'ls a*/bc<1>'],
    ['ls bc12/a*', 'ls bc<1>/a*'],
    ['for f in src/part12/*.ts; do wc -l "$f"; done', 'for f in src/part<1>/*.ts; do wc -l "$f"; done'],
  ] as const)
    assert.equal(shown(line), key)
})

test('how long a number is counts in long lines alone', () => {
  const keyOf = (line: string) => numbered(line, told)?.key
  const padded = (length: number, number: string) => `cat ${'x'.repeat(length - 5 - number.length)} ${number}`
  const isSame = (length: number) => keyOf(padded(length, '12')) === keyOf(padded(length + 1, '345'))
  assert.deepEqual([isSame(20), isSame(149), isSame(150)], [true, true, false])
})

test('a number that something tells is not', () => {
  for (const line of [
    ...['ls @(12|a)', 'ls +(12)', 'ls !(12)', 'ls *(12)', 'ls ?(12)', 'ls a12@(b)', 'ls a12+(b)', 'ls a12!(b)'],
    ...[
      'chmod 777 x',
      'chmod 7 x',
      'chmod 77 $x',
      'tool v2 x',
      'tool v23 x',
      'cd project-1',
      'cd project-12',
      'x 480',
      'x 8',
    ],
    ...[
      'sha256sum x',
      'base64 x',
      ...['PS0=x', 'PS1=x', 'PS2=x', 'PS3=x', 'PS4=x'],
      'cat cert.p12',
      'cat a/id_ed25519',
      'CAT ID_ED25519',
      '7z x a',
      '17z x',
      "17'z' x",
      'open(0)',
    ],
    ...[
      'echo $12',
      'echo $x12',
      'echo ${12}',
      'echo $((12))',
      '[[ 12 ]]',
      'cat <<12',
      "echo $'\\x41'",
      'echo 12$x',
      'echo $(id)12',
      'echo `id`12',
    ],
    ...[
      'cat x12*',
      'cat src/x12*',
      'cat src/12?.ts',
      'cat */src/12[a-z]',
      'cat x?12',
      'cat a*bc12',
      'cat 12bc*',
      'cat [1-9]/x[12]',
      'cat x{12,13}',
      'cat {1..12}/a',
      'cat +(a)12@(b)',
      'x 2>a',
      'x 12>a',
      'x >&12',
      'x <12',
      'x>12',
    ],
    ...[
      'head -12',
      'git log -n12',
      'tar -C12',
      'x "-n12"',
      'x -"n12"',
      'echo \\12',
      'echo \\x12',
      'echo \\u{1b12}',
      'echo 12\\n',
    ],
    ...[
      'chmod 1"2" x',
      "echo '12''34'",
      'f("12" + "34")',
      'a="12" "34"',
      'echo py"thon12"',
      'sed s12a12b x',
      'sed y12 x',
      'xargs -I F12 rm F12',
      'xargs --replace=F12 rm F12',
      'xargs -0i rm F12',
    ],
    ...['echo é12', 'echo \u000112'],
  ])
    assert.equal(shown(line), line)
})

test('numbers in the names of programs, variables and files are told', () => {
  const names =
    'python3 pip3 pypy3 sqlite3 m4 p4 aria2c bzip2 b2sum md5sum sha1sum sha256sum sha512sum base32 base64 linux32 linux64 i386 x86_64 proxychains4 i18n iso-8601 PS0 PS1 PS2 PS3 PS4 PERL5 .s3cfg .p12 id_ed25519 Open3 capture2 capture3 copy2 files0 bz2 bunzip2 lz4 s3cmd s4cmd s5cmd'
  for (const name of names.split(' ')) assert.equal(shown(`tool ${name} 997`), `tool ${name} <1>`)
})

test('a free number that is also told elsewhere in the line stays', () => {
  assert.equal(shown('echo x > out12; sh "$d"12; ls 13'), 'echo x > out12; sh "$d"12; ls <1>')
})

test('in long lines the length of a number counts', () => {
  const line = (number: string) => `echo ${'x'.repeat(160)} ${number}`
  assert.notEqual(numbered(line('12'), told)!.key, numbered(line('123'), told)!.key)
  assert.equal(numbered(line('12'), told)!.key, numbered(line('34'), told)!.key)
})

test('lines of up to two thousand characters are looked at', () => {
  const line = (length: number) => `${'x '.repeat(length / 2 - 2)} 12`
  assert.deepEqual([line(2000).length, numbered(line(2000), told)?.numbers], [1999, ['12']])
  assert.deepEqual([line(2002).length, numbered(line(2002), told)], [2001, undefined])
})

test('up to thirty numbers in a line are looked at', () => {
  const line = (count: number) => Array.from({ length: count }, (_, at) => `f${at + 100}`).join(' ')
  assert.deepEqual([numbered(line(30), told)?.numbers.length, numbered(line(31), told)], [30, undefined])
})

test('a key and numbers make the line again', () => {
  for (const line of ['cp a12 b34 a12', `echo ${'x'.repeat(160)} 56 78`]) {
    const { key, numbers } = numbered(line, told)!
    assert.equal(renumbered(key, numbers), line)
  }
})

test('a lone zero is not free: to code it is a descriptor', () => {
  const none = toldNumbers([])!
  assert.deepEqual(
    ['tool 0', 'tool 00', 'tool 10', 'tool(0)', 'tool x0', 'tool 0 12'].map((line) => numbered(line, none)?.numbers),
    [undefined, ['00'], ['10'], undefined, undefined, ['12']],
  )
})

test('a rule tells its numbers with and without its quotes', () => {
  const quoted = toldNumbers(['Bash(tool a1"2" \\34)'])!
  assert.deepEqual(
    ['a1', 'a12', 'a13', 'b12', '34'].map((text) => tellsAll(quoted, text)),
    [true, true, false, false, true],
  )
})

test('a rule with a set of characters tells any number', () => {
  assert.equal(toldNumbers(['Read(file[1-3].ts)']), undefined)
})

test('every number in the tables and expressions of the rules is listed', () => {
  const folder = join(import.meta.dirname, '..')
  const files = globSync('**/*.ts', { cwd: folder }).filter(
    (file) => !/\.test\.ts$|^addresses\.ts$|^suggest\.ts$|numbers\.ts$/.test(file),
  )
  const found = new Set<string>()
  for (const file of files)
    for (const text of literalsOf(readFileSync(join(folder, file), 'utf8')))
      for (const [word] of text.matchAll(/[A-Za-z_.-]*\d+/g)) found.add(word)
  const named = programNumbers.flatMap((text) => text.match(/[A-Za-z_.-]*\d+/g)!)
  const isNamed = (word: string) => named.some((each) => word.toLowerCase().endsWith(each.toLowerCase()))
  const others = {
    options: ['-0', '-1', '-2', 'kfawsS1', 'HIuisgaFp01', 'bciIkNnrhL0', 'print0', '-9'], // they are never free: `man -[kfawsS1-9]`
    escapes: ['44', '140', '24', '60', '-7'], // no more than what follows a backslash: `[0-7]{3}`
    sets: ['-4', '23'], // listed one by one: `PS[0-4]`, `capture[23]`
    alone: ['0', '7'], // `open(0)`, `7z`
    notOfLines: ['1', '63', 'utf8', 'win32'], // `$1` of a replacement, a name that we make, node's own
  }
  assert.deepEqual(
    [...found].filter((word) => !isNamed(word)).sort(),
    Object.values(others).flat().sort(),
    'programNumbers has to list every number that the rules on Bash compare with',
  )
})

/** Texts, expressions and keys of a source, without what stands for any digit, for how often, or for another character. */
function literalsOf(source: string): string[] {
  const found: string[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { type, value, regex, key, computed } = node as Node
    if (type === 'Literal' && regex) found.push(regex.pattern)
    else if (type === 'Literal' && typeof value === 'string') found.push(value)
    else if (type === 'TemplateElement') found.push((value as { raw: string }).raw)
    else if (type === 'Property' && !computed) found.push(key?.name ?? '')
    for (const each of Object.values(node)) visit(each)
  }
  visit(parseAst(source, { lang: 'ts' }))
  return found.map((text) => text.replace(/\\(u[\da-f]{4}|d|\d)|\{\d+(,\d*)?\}|0-9/gi, ''))
}

interface Node {
  readonly type?: string
  readonly value?: unknown
  readonly regex?: { readonly pattern: string }
  readonly key?: { readonly name?: string }
  readonly computed?: boolean
}

test('either all numbers of a text count, or none does', () => {
  assert.deepEqual(
    ['/home/dev/project-1/src', '/vol/777/x', '/home/dev/project-2', '/x/80', '/none'].map((text) =>
      tellsAll(told, text),
    ),
    [true, true, false, true, true],
  )
})
