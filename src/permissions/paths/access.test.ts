/** Which file a call is about, what rules on files say of it, and whether a folder holds what a rule is about. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { PermissionQuestion, PermissionSettings } from '../question.ts'
import { type Behavior, readRule } from '../rules/rule.ts'
import {
  allowingRule,
  type FileAccess,
  fileOf,
  fileRuleMatches,
  inWorkingDirectories,
  leadsAsJudged,
  placesOf,
} from './access.ts'
import { below, treeHolds } from './tree.ts'
import { real, rememberingView } from './view.ts'

const w = realpathSync(mkdtempSync(join(tmpdir(), 'ona-access-')))
after(() => rmSync(w, { recursive: true, force: true }))

const asked = (tool: string, input: PermissionQuestion['input'], settings: PermissionSettings = {}) => ({
  ...{ settings, mode: 'default' as const, tool, input, hook: 'none' as const },
  ...{ cwd: '/w/sub', projectDir: '/w', home: '/h' },
})
const ruleOf = (text: string, behavior: Behavior) => {
  const reading = readRule(text, behavior)
  assert.ok(reading.ok)
  return reading.rule
}

test('the file that a call is about', () => {
  const of = (tool: string, input: PermissionQuestion['input']) => {
    const file = fileOf(asked(tool, input))
    return file && `${file.kind} ${file.paths.join(' ')}${file.tree ? ' and below' : ''}`
  }
  assert.deepEqual(
    [
      of('Read', { file_path: 'a' }),
      of('Write', { file_path: '/x/a' }),
      of('Edit', { file_path: '~/a' }),
      of('NotebookEdit', { notebook_path: 'a' }),
      of('Grep', { path: 'a' }),
      of('Grep', {}),
      of('Glob', { path: 'a', pattern: 'b/*.ts' }),
      of('Glob', { pattern: '/x/*.ts' }),
      of('Glob', { path: 'a' }),
      of('Glob', { path: '', pattern: 'b/*.ts' }),
      of('Read', { file_path: '' }),
      of('Read', { file_path: 1 }),
      of('Read', { path: 'a' }),
      of('Bash', { file_path: 'a' }),
      of('toString', {}),
    ],
    [
      'read /w/sub/a',
      'edit /x/a',
      'edit /h/a',
      'edit /w/sub/a',
      'read /w/sub/a and below',
      'read /w/sub and below',
      'read /w/sub/a/b and below',
      'read /x and below',
      'read /w/sub/a and below',
      'read /w/sub/b and below',
      'read /w/sub',
      'read /w/sub',
      'read /w/sub',
      undefined,
      undefined,
    ],
  )
})

test('whether a rule on files applies to an access', () => {
  const rows: [rule: string, behavior: Behavior, kind: 'read' | 'edit', paths: string, tree: boolean, is: boolean][] = [
    ['Read(/src/**)', 'allow', 'read', '/w/src/a', false, true],
    ['Read(/src/**)', 'allow', 'edit', '/w/src/a', false, false],
    ['Read(/src/**)', 'deny', 'edit', '/w/src/a', false, true],
    ['Read(/src/**)', 'ask', 'read', '/w/src/a', false, true],
    ['Edit(/src/**)', 'allow', 'read', '/w/src/a', false, true],
    ['Edit(/src/**)', 'allow', 'edit', '/w/src/a', false, true],
    ['Edit(/src/**)', 'deny', 'read', '/w/src/a', false, false],
    ['Edit(/src/**)', 'deny', 'edit', '/w/src/a', false, true],
    ['Read(/src/**)', 'allow', 'read', '/w/src/a /w/b', false, false],
    ['Read(/src/**)', 'deny', 'read', '/w/src/a /w/b', false, true],
    ['Read(/src/**)', 'allow', 'read', '/w/src', true, true],
    ['Read(/src/**)', 'allow', 'read', '/w/src', false, false],
    ['Read(/src/**)', 'deny', 'read', '/w/src', true, false],
    ['Read(/src/*)', 'allow', 'read', '/w/src', true, true],
    ['Read(/src/*.ts)', 'allow', 'read', '/w/src', true, false],
    ['Read(/src/?)', 'allow', 'read', '/w/src', true, false],
    ['Read(/src/[!.]*)', 'allow', 'read', '/w/src', true, false],
    ['Read(/src/*/*)', 'allow', 'read', '/w/src', true, false],
    ['Read(/src/*/*)', 'allow', 'read', '/w/src/a', true, true],
    ['Read(//**)', 'allow', 'read', '/', true, true],
    ['Read', 'allow', 'read', '/w/src/a', false, false],
    ['Bash(ls)', 'deny', 'read', '/w/src/a', false, false],
  ]
  assert.deepEqual(
    rows.map(([text, behavior, kind, paths, tree]) => {
      const access: FileAccess = { kind, paths: paths.split(' '), tree }
      return [
        text,
        behavior,
        kind,
        paths,
        tree,
        fileRuleMatches(ruleOf(text, behavior), behavior, access, asked('', {})),
      ]
    }),
    rows,
  )
})

test('every spelling of a path needs an allow rule, and the last one is named', () => {
  const rules = ['Read(/src/**)', 'Read(//x/**)'].map((text) => ruleOf(text, 'allow'))
  const of = (...paths: string[]) => allowingRule(rules, { kind: 'read', paths, tree: false }, asked('', {}))?.text
  assert.deepEqual(
    [of('/w/src/a'), of('/w/src/a', '/x/a'), of('/x/a', '/w/src/a'), of('/w/src/a', '/y'), of('/y', '/w/src/a')],
    ['Read(/src/**)', 'Read(//x/**)', 'Read(/src/**)', undefined, undefined],
  )
  const folders = { kind: 'read', paths: ['/w/src', '/x'] } as const
  assert.deepEqual(
    [true, false].map((tree) => allowingRule(rules, { ...folders, tree }, asked('', {}))?.text),
    ['Read(//x/**)', undefined],
  )
})

test('the working directories are the project, the folder of the call and those that settings add', () => {
  const settings = { additionalDirectories: ['../more', '~/extra'] }
  const inside = (...paths: string[]) =>
    inWorkingDirectories({ kind: 'read', paths, tree: false }, { ...asked('', {}, settings), cwd: '/c/d' })
  assert.deepEqual(
    ['/w', '/w/a', '/c/d/a', '/more/a', '/h/extra/a', '/h/a', '/wa', '/more2', '/c/more/a'].map((path) => inside(path)),
    [true, true, true, true, true, false, false, false, false],
  )
  assert.deepEqual([inside('/w/a', '/c/d/a'), inside('/w/a', '/x')], [true, false])
})

test('the places of a question are kept with the view of the files, for questions that agree in all of them', () => {
  const base = { ...asked('', {}), cwd: '/c', files: rememberingView({ lasting: true }) }
  const others = [
    { cwd: '/d' },
    { projectDir: '/v' },
    { home: '/i' },
    { origins: ['/o'] },
    { settings: { additionalDirectories: ['/m'] } },
    { files: rememberingView({ lasting: true }) },
  ]
  const places = [base, ...others.map((other) => ({ ...base, ...other }))].map(placesOf)
  assert.equal(new Set(places).size, 7)
  assert.equal(placesOf({ ...base, settings: { allow: ['Bash'] } }), places[0])
})

test('paths lead as they were judged until a link takes the place of one', () => {
  const folder = join(w, 'judged')
  mkdirSync(folder)
  writeFileSync(join(folder, 'a'), '')
  const judged = [join(folder, 'b'), join(folder, 'a')]
  assert.equal(leadsAsJudged(judged), true)
  symlinkSync('/elsewhere', join(folder, 'b'))
  assert.equal(leadsAsJudged(judged), false)
  assert.equal(leadsAsJudged([...judged, '/elsewhere']), true)
})

test('whether anything in a folder is what is looked for', () => {
  const folder = join(w, 'tree')
  mkdirSync(join(folder, 'a/.b'), { recursive: true })
  mkdirSync(join(folder, '.c'))
  for (const file of ['a/x', 'a/.b/y', '.c/z', '.d']) writeFileSync(join(folder, file), '')
  symlinkSync('.c', join(folder, 'link'))
  const seen = (visible: boolean) => {
    const found: [string, string][] = []
    const held = treeHolds(folder, visible, (path, name) => found.push([path, name]) < 0)
    assert.equal(held, false)
    for (const [path, name] of found) assert.equal(path, join(folder, name))
    return found.map(([, name]) => name).sort()
  }
  assert.deepEqual(
    [seen(false), seen(true)],
    [
      ['.c', '.c/z', '.d', 'a', 'a/.b', 'a/.b/y', 'a/x', 'link'],
      ['a', 'a/x', 'link'],
    ],
  )
  assert.equal(
    treeHolds(folder, false, (_, name) => name === 'a/.b/y'),
    true,
  )
  assert.deepEqual([below('/', 'a'), below('/b', 'a')], ['/a', '/b/a'])
})

test('a folder with more than 5000 entries may hold anything', () => {
  const folder = join(w, 'large')
  mkdirSync(folder)
  for (let at = 0; at < 5000; at++) writeFileSync(join(folder, `${at}`), '')
  const holds = () => treeHolds(folder, false, () => false)
  assert.equal(holds(), false)
  writeFileSync(join(folder, '.hidden'), '')
  assert.equal(
    treeHolds(folder, true, () => false),
    false,
  )
  assert.equal(holds(), true)
})

test('a path leads through forty links, and where it goes up it is followed as it is written', () => {
  const folder = join(w, 'links')
  mkdirSync(join(folder, 'end/deep'), { recursive: true })
  symlinkSync('end', join(folder, '0'))
  for (let at = 1; at <= 40; at++) symlinkSync(`${at - 1}`, join(folder, `${at}`))
  symlinkSync('end/deep', join(folder, 'deep'))
  symlinkSync(join(folder, 'end'), join(folder, 'absolute'))
  symlinkSync('loop', join(folder, 'loop'))
  const of = (path: string) => real(`${folder}/${path}`).slice(folder.length)
  const rows: [path: string, is: string][] = [
    ['39/../x', '/x'],
    ['39/a/../x', '/end/x'],
    ['40/a/../x', '/0/x'],
    ['deep/../x', '/end/x'],
    ['absolute/../x', '/x'],
    ['absolute/./a/../x', '/end/x'],
    ['none/../x', '/x'],
    ['loop/../x', '/x'],
    ['loop/x', '/loop/x'],
    ['deep/x', '/end/deep/x'],
    ['none/x', '/none/x'],
  ]
  assert.deepEqual(
    rows.map(([path]) => [path, of(path)]),
    rows,
  )
})

test('what a view remembers, and whether something is there', () => {
  const folder = join(w, 'there')
  mkdirSync(folder)
  writeFileSync(join(folder, 'a'), '')
  symlinkSync('a', join(folder, 'link'))
  symlinkSync('none', join(folder, 'dangling'))
  const names = ['a', 'b', 'link', 'dangling', '.', '..', 'a/', 'a/x']
  for (const view of [rememberingView(), rememberingView({ lasting: true })])
    assert.deepEqual(
      names.map((name) => view.there(`${folder}/${name}`)),
      [true, false, true, false, true, true, false, false],
    )
  const lasting = rememberingView({ lasting: true })
  const once = rememberingView()
  assert.deepEqual([lasting.lasting, once.lasting], [true, false])
  for (const view of [lasting, once]) {
    assert.deepEqual([view.there(join(folder, 'b')), view.keep('x', () => 1), view.keep('x', () => 2)], [false, 1, 1])
    assert.deepEqual([view.keep('y', () => undefined), view.keep('y', () => 2)], [undefined, undefined])
  }
  writeFileSync(join(folder, 'b'), '')
  assert.deepEqual([lasting.there(join(folder, 'b')), once.there(join(folder, 'b'))], [false, false])
  assert.equal(rememberingView().there(join(folder, 'b')), true)
})

test('a view keeps 20000 answers, and then starts over', () => {
  const view = rememberingView()
  for (let at = 0; at < 20_000; at++) view.keep(`${at}`, () => at)
  assert.deepEqual([view.keep('0', () => -1), view.keep('19999', () => -1)], [0, 19_999])
  view.keep('more', () => 0)
  assert.deepEqual([view.keep('0', () => -1), view.keep('more', () => -1)], [-1, 0])
})
