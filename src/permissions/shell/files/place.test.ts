/** What is worked out about commands and files in one place, and how long it is kept. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { decide } from '../../decide.ts'
import { rememberingView } from '../../paths/view.ts'
import type { PermissionQuestion } from '../../question.ts'
import { rulesOf } from '../../rules/rules.ts'
import { readShell } from '../parse/read.ts'
import { Place, placeOf } from './place.ts'

const w = realpathSync(mkdtempSync(join(tmpdir(), 'ona-place-')))
after(() => rmSync(w, { recursive: true, force: true }))
for (const folder of ['src', 'dashed', 'dots/.hidden', 'many']) mkdirSync(join(w, folder), { recursive: true })
for (const file of ['src/a.ts', 'src/b.ts', 'dashed/-x', 'dashed/y', '.env', 'dots/.hidden/.env', 'dots/a'])
  writeFileSync(join(w, file), 'x\n')
for (let at = 0; at < 2001; at++) writeFileSync(join(w, 'many', `n${at}`), '')

const settings = { deny: ['Read(.env)', 'Bash(rm *)'], ask: ['Edit(src/**)'] }
const rules = rulesOf(settings)
const asked = (more: Partial<PermissionQuestion> = {}): PermissionQuestion => ({
  ...{ settings, mode: 'default', tool: 'Bash', input: {}, hook: 'none', cwd: w, projectDir: w, home: join(w, 'home') },
  ...more,
})
const place = (directories: readonly string[] | undefined = [w], more = {}) =>
  new Place(asked(more), rules, directories)
const commandOf = (line: string) => readShell(line).commands[0]!
const wordOf = (text: string) => commandOf(`cat ${text}`).words[1]!

test('what is known about a command is kept with it for the four places asked about last', () => {
  const command = commandOf('cat .env')
  const five = Array.from({ length: 5 }, () => place())
  const [first, ...others] = five.map((each) => each.verdictOf(command))
  assert.deepEqual(first, {
    ...{ place: five[0], concerned: undefined, deny: undefined, ask: undefined },
    ...{ guard: undefined, doubt: undefined, permission: undefined },
  })
  assert.deepEqual(
    five.slice(1).map((each, at) => each.verdictOf(command) === others[at]),
    [true, true, true, true],
  )
  assert.equal(command.known.verdicts.length, 4)
  assert.notEqual(five[0]!.verdictOf(command), first)
})

test('a place elsewhere has the same rules, and is made once', () => {
  const here = place()
  const there = here.at(['/a', '/b'])
  assert.deepEqual([there.directories, there.rules, here.at(['/a', '/b']) === there], [['/a', '/b'], rules, true])
  const others = [['/b'], ['/c', '/b'], ['/b', '/a'], ['/a']]
  assert.deepEqual(
    others.map((each) => here.at(each).directories),
    others,
  )
  const nowhere = here.at(undefined)
  assert.deepEqual([nowhere.directories, here.at(undefined) === nowhere], [undefined, true])
})

test('the place of a question is kept as long as nothing that it depends on differs', () => {
  const files = rememberingView({ lasting: true })
  const same = asked({ files })
  const kept = placeOf(same, rules)
  assert.equal(placeOf({ ...same, input: { command: 'ls' } }, rules), kept)
  assert.notEqual(placeOf(same, rulesOf({ ...settings })), kept)
  assert.equal(placeOf(same, rules), kept)
  const others: Partial<PermissionQuestion>[] = [
    ...[{ cwd: '/x' }, { mode: 'plan' as const }, { projectDir: '/x' }, { home: '/x' }, { settings: { ...settings } }],
    ...[{ origins: ['/x'] }, { protect: [] }, { fenced: true as const }],
  ]
  // each in a view of its own: of one view only the last places are kept
  assert.deepEqual(
    others.filter((other) => {
      const asked = { ...same, files: rememberingView({ lasting: true }) }
      return placeOf(asked, rules) === placeOf({ ...asked, ...other }, rules)
    }),
    [],
  )
  for (const brief of [asked(), asked({ files: rememberingView() })]) {
    const before = placeOf(brief, rules)
    assert.notEqual(placeOf(brief, rules), before)
  }
})

test('eight places are kept, the one asked about first goes first', () => {
  const files = rememberingView({ lasting: true })
  const at = (cwd: string) => placeOf(asked({ files, cwd }), rules)
  const [first, second] = [at('/0'), at('/1')]
  for (let each = 2; each < 8; each++) at(`/${each}`)
  assert.equal(at('/0'), first)
  at('/8')
  assert.deepEqual([at('/1') === second, at('/0') === first], [true, false])
})

test('the files of a command that a rule or a protection may be about', () => {
  const concerned = (line: string, directories?: readonly string[] | undefined, at = place(directories)) =>
    at.concernedFiles(commandOf(line)).map(({ kind, word }) => `${kind} ${word.path}`)
  assert.deepEqual(
    ['cat .env a', 'cat *', 'rm src/a.ts b', 'cat /proc/self/x', 'tool .env', 'tar xf a', 'echo a > .git/config'].map(
      (line) => concerned(line),
    ),
    [
      ['read .env'],
      ['read *'],
      ['edit src/a.ts'],
      ['read /proc/self/x'],
      ['mayRead .env', 'mayEdit .env'],
      ['creates .'],
      ['edit .git/config'],
    ],
  )
  assert.deepEqual(concerned('cat a', undefined, new Place(asked(), rules, undefined)), ['read a'])
  const known = place()
  const command = commandOf('cat .env')
  assert.equal(known.concernedFiles(command), known.concernedFiles(command))
})

test('every path that a word may name, and the rules on it', () => {
  const two = place([w, join(w, 'src')])
  const word = wordOf('a.ts')
  assert.deepEqual(two.accesses(word, 'read'), [
    { kind: 'read', paths: [join(w, 'a.ts')], tree: false },
    { kind: 'read', paths: [join(w, 'src/a.ts')], tree: false },
  ])
  assert.deepEqual(
    two.accesses(word, 'edit').map(({ kind }) => kind),
    ['edit', 'edit'],
  )
  assert.equal(two.accesses(word, 'read'), two.accesses(word, 'read'))
  const ruleTexts = (text: string) => two.rulesOn(wordOf(text)).map(({ at, rule }) => `${at} ${rule.text}`)
  assert.deepEqual(['a.ts', '.env', 'b', '../src/a.ts'].map(ruleTexts), [
    ['2 Edit(src/**)'],
    ['0 Read(.env)', '2 Edit(src/**)'],
    ['2 Edit(src/**)'],
    ['2 Edit(src/**)'],
  ])
  assert.deepEqual(
    ['a.ts', 'none', '.env'].map((text) => two.isThere(wordOf(text))),
    [true, false, true],
  )
  assert.deepEqual(
    ['.git/config', 'a.ts'].map((text) => two.mayBeProtected(wordOf(text))),
    [true, false],
  )
  const six = place([join(w, '.git'), w, ...['/a', '/b', '/c', '/d']])
  assert.deepEqual(
    ['config', '../.git/config', 'a.ts', '/a'].map((text) => six.mayBeProtected(wordOf(text))),
    [true, true, true, false],
  )
  assert.deepEqual(
    six.accesses(wordOf('x'), 'read').map(({ paths }) => paths),
    [...[join(w, '.git/x'), join(w, 'x')], ...['/a/x', '/b/x', '/c/x', '/d/x']].map((path) => [path]),
  )
})

test('what wildcards stand for, in each folder, unless there are too many', () => {
  const paths = (text: string, at = place()) => at.expanded(wordOf(text))?.map(({ path }) => path.slice(w.length))
  assert.deepEqual(
    ['src/*', '*.ts', 'a', 'many/*', 'many/n1?'].map((text) => paths(text)?.length),
    [2, 0, 1, undefined, 10],
  )
  assert.deepEqual(paths('?.ts', place([w, join(w, 'src')])), ['/src/a.ts', '/src/b.ts'])
  assert.equal(paths('*', place([join(w, 'many'), w])), undefined)
  assert.deepEqual(paths('src/*', new Place(asked(), rules, undefined)), ['/src/a.ts', '/src/b.ts'])
})

test('a rule may be about one of more files than are looked at', async () => {
  const decided = async (command: string) => {
    const { decision } = await decide(asked({ settings: { allow: ['Bash'], deny: ['Read(key)'] }, input: { command } }))
    return decision
  }
  assert.deepEqual([await decided('cat many/n*'), await decided('cat many/n1*')], ['ask', 'allow'])
})

test('an answer is worked out once', () => {
  const here = place()
  const asks: string[] = []
  const answer = (about: string, is: boolean) =>
    here.answer(about, () => {
      asks.push(about)
      return is
    })
  assert.deepEqual(
    [answer('a', false), answer('a', true), answer('b', true), answer('b', false)],
    [...[false, false, true, true]],
  )
  assert.deepEqual(asks, ['a', 'b'])
})

test('what the Read tool could read without a prompt', () => {
  const readable = (text: string, use?: Parameters<Place['readable']>[1], at = place()) =>
    at.readable(wordOf(text), use)
  const rows: [text: string, is: boolean, use?: Parameters<Place['readable']>[1]][] = [
    ...(['null', 'zero', 'stdin', 'stdout', 'stderr', 'tty', 'fd/3'].map((each) => [`/dev/${each}`, true]) as [
      string,
      boolean,
    ][]),
    ['/dev/sda', false],
    ['/dev/fd/x', false],
    ['src/a.ts', true],
    ['$X', false],
    ['/etc/passwd', false],
    ['../x', false],
    ['.env', false],
    ['.env', true, { metadata: true }],
    ['/etc/passwd', false, { metadata: true }],
    ['src/*', true],
    ['dashed/*', true],
    ['many/*', false],
    ['dots', true],
    ['dots', true, { tree: 'visible' }],
    ['dots', false, { tree: 'hidden' }],
    ['src', true, { tree: 'hidden' }],
  ]
  assert.deepEqual(
    rows.map(([text, , use]) => [text, readable(text, use), ...(use ? [use] : [])]),
    rows,
  )
  const dashed = place([join(w, 'dashed')])
  assert.deepEqual(
    ['*', '?x', '[-]x', './*', 'y', '-x'].map((text) => readable(text, undefined, dashed)),
    [false, false, false, true, true, true],
  )
  assert.equal(readable('src/a.ts', undefined, new Place(asked(), rules, undefined)), false)
})
