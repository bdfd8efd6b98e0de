/** Plans, patterns and commands: each problem in its words, and which node of a plan speaks to which call. */
import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import { test } from 'node:test'
import { toHostEvent } from '../host/host-input.ts'
import type { Json } from '../types.ts'
import { globInside, globMatches, isRepoWide } from './glob.ts'
import { patternFault, patternFinds, patternMatches } from './pattern.ts'
import {
  checkPlan,
  inScope,
  isFinished,
  isRefused,
  namesToolOf,
  nodeMatches,
  type PlanGraph,
  type PlanNode,
  patternInScope,
  problemText,
  scopeGlob,
  unmet,
} from './plan-graph.ts'
import { unboundedRead, wordsIn } from './terminal.ts'

const node = { id: 'a', description: 'do a', tool: '*' }
const problemsOf = (plan: unknown) => {
  const check = checkPlan(typeof plan === 'string' ? plan : JSON.stringify(plan), 'w001')
  return check.ok ? [] : check.problems
}

test('each way a plan can be wrong is said in words, with the node it is about', (t) => {
  const of = (more: Json) => ({ nodes: [{ ...node, ...more }] })
  const two = (a: Json, b: Json) => ({
    nodes: [
      { ...node, ...a },
      { ...node, id: 'b', ...b },
    ],
  })
  const plans: Record<string, unknown> = {
    'too large': ' '.repeat(1024 * 1024 + 1),
    'not an object': '[]',
    'another version': { version: 2, ...of({}) },
    'other work': { workId: 'w009', ...of({}) },
    'an unknown policy': { defaultPolicy: 'maybe', ...of({}) },
    'no nodes': {},
    'empty nodes': { nodes: [] },
    'too many nodes': { nodes: Array.from({ length: 501 }, (_, n) => ({ ...node, id: `n${n}` })) },
    'no node': { nodes: [1] },
    'no id': { nodes: [{ description: 'x', tool: '*' }] },
    'a bad id': of({ id: 'a b' }),
    'the same id': { nodes: [node, node] },
    'no description': of({ description: '' }),
    'a long description': of({ description: 'x'.repeat(501) }),
    'a bad kind': of({ kind: 'wish' }),
    'a bad status': of({ status: 'maybe' }),
    'a scope outside': of({ scope: 'a/../../x' }),
    'a scope from the root': of({ scope: { files_allow: ['/etc/**'] } }),
    'a scope on a drive': of({ scope: ['src', 'C:/x'] }),
    'a scope that is no text': of({ scope: [1] }),
    'no tool': { nodes: [{ id: 'a', description: 'x' }] },
    'tools that are no list': of({ tools: 'x' }),
    'no reason': of({ status: 'forbidden' }),
    'no reason for a denial': of({ status: 'denied', reason: '' }),
    'bad dependencies': of({ dependencies: [1] }),
    'unknown dependencies': of({ dependencies: ['z'] }),
    'a dependency on itself': of({ dependencies: ['a'] }),
    'a cycle': two({ deps: ['b'] }, { dependencies: ['a'] }),
    'no validation': of({ kind: 'validate' }),
    'a bad validation': of({ validates: [1] }),
    'a validation of what is not there': of({ kind: 'validate', validates: ['z'] }),
    'a validation of a validation': two({ kind: 'validate', validates: ['b'] }, { kind: 'validate', validates: ['a'] }),
  }
  const seen = Object.fromEntries(Object.entries(plans).map(([name, plan]) => [name, problemsOf(plan)]))
  for (const [name, problems] of Object.entries(seen)) assert.ok(problems.length > 0, name)
  t.assert.snapshot(seen)
  assert.match(problemsOf('{')[0]!.message, /^the plan is not JSON: ./)
  for (const text of [
    `\uFEFF${JSON.stringify(of({}))}`,
    { version: 1, workId: 'w001', ...of({ description: 'x'.repeat(500) }) },
    { nodes: Array.from({ length: 500 }, (_, n) => ({ ...node, id: `n${n}` })) },
  ])
    assert.deepEqual(problemsOf(text), [])
  const problems = Array.from({ length: 10 }, (_, n) => ({ code: `C${n}`, message: `m${n}` }))
  assert.equal(problemText(problems.slice(0, 2)), 'C0 (m0); C1 (m1)')
  assert.equal(problemText(problems.slice(0, 8)).endsWith('C7 (m7)'), true)
  assert.equal(problemText(problems).endsWith('C7 (m7); and 2 more'), true)
})

test('a plan is read with its short forms', () => {
  const read = checkPlan(
    JSON.stringify({
      goal: 'g',
      defaultPolicy: 'ask',
      nodes: [
        { id: 'a', description: 'x', tool: 't', tools: ['u'], scope: 'src', deps: ['b'], type: 'explore' },
        {
          id: 'b',
          description: 'y',
          status: 'forbidden',
          reason: 'r',
          scope: { files_allow: ['c'] },
          kind: 'side_effect',
          type: 'explore',
        },
        { id: 'c', description: 'z', tool: '*', kind: 'validate', validates: 'a' },
        { id: 'd', description: 'z', tool: '*', type: 'nonsense' },
      ],
    }),
    'w001',
  )
  const rest = { scope: [], dependencies: [], validates: [], status: 'pending' }
  assert.deepEqual(read, {
    ok: true,
    plan: {
      goal: 'g',
      defaultPolicy: 'ask',
      nodes: [
        { ...rest, id: 'a', description: 'x', kind: 'explore', tools: ['t', 'u'], scope: ['src'], dependencies: ['b'] },
        {
          ...rest,
          id: 'b',
          description: 'y',
          kind: 'side_effect',
          tools: [],
          scope: ['c'],
          status: 'forbidden',
          reason: 'r',
        },
        { ...rest, id: 'c', description: 'z', kind: 'validate', tools: ['*'], validates: ['a'] },
        { ...rest, id: 'd', description: 'z', kind: 'change', tools: ['*'] },
      ],
    },
  })
  const bare = checkPlan(JSON.stringify({ nodes: [node] }), 'w001')
  assert.deepEqual(bare.ok && [bare.plan.defaultPolicy, 'goal' in bare.plan], ['allow', false])
})

const made = (more: Partial<PlanNode>): PlanNode => ({
  ...{
    id: 'a',
    description: '',
    kind: 'change',
    tools: [],
    scope: [],
    dependencies: [],
    validates: [],
    status: 'pending',
  },
  ...more,
})

test('a node speaks to a call by its tools and its scope', () => {
  const read = toHostEvent('PreToolUse', { tool_name: 'Read', tool_input: {} }, '/r')
  const table: [Partial<PlanNode>, string[], boolean][] = [
    [{}, ['a'], true],
    [{ tools: ['read_file'] }, ['a'], true],
    [{ tools: ['create_file'] }, ['a'], false],
    [{ scope: ['src'] }, ['src/a'], true],
    [{ scope: ['src'] }, ['docs/a'], false],
    [{ scope: ['src', 'docs'] }, ['docs/a'], true],
    [{ tools: ['read_file'], scope: ['src'] }, [], true],
    [{ tools: ['*'], scope: ['src'] }, [], false],
    [{ scope: ['src'] }, [], false],
  ]
  for (const [more, paths, expected] of table)
    assert.deepEqual([more, nodeMatches(made(more), read, paths)], [more, expected])
  assert.deepEqual(
    [made({}), made({ tools: ['read_file'] }), made({ tools: ['x'] })].map((each) => namesToolOf(each, read)),
    [true, true, false],
  )
  assert.deepEqual(
    [
      inScope('src', 'src'),
      inScope('src/', 'src/a/b'),
      inScope('src', 'srcs'),
      inScope('src/*', 'src/a/b'),
      inScope('src/*', 'src/a'),
    ],
    [true, true, false, false, true],
  )
  assert.deepEqual([scopeGlob('src/'), scopeGlob('src'), scopeGlob('src/*')], ['src/**', 'src/**', 'src/*'])
  assert.deepEqual(
    [
      patternInScope('src/*.ts', 'src'),
      patternInScope('src/../x/*', 'src'),
      patternInScope('docs/*', 'src'),
      patternInScope('src/a.ts', 'src'),
    ],
    [true, false, false, true],
  )
  const statuses = ['pending', 'in_progress', 'complete', 'failed', 'skipped', 'forbidden', 'denied'] as const
  assert.deepEqual(
    statuses.filter((status) => isRefused(made({ status }))),
    ['forbidden', 'denied'],
  )
  const finished = (kind: PlanNode['kind']) =>
    statuses.filter((status) => isFinished({ defaultPolicy: 'allow', nodes: [made({ kind, status })] }))
  assert.deepEqual(
    [finished('change'), finished('validate')],
    [
      ['complete', 'skipped', 'forbidden', 'denied'],
      ['complete', 'forbidden', 'denied'],
    ],
  )
  const plan: PlanGraph = { defaultPolicy: 'allow', nodes: statuses.map((status) => made({ id: status, status })) }
  assert.deepEqual(unmet(made({ dependencies: [...statuses, 'gone'] }), plan), [
    'pending',
    'in_progress',
    'failed',
    'forbidden',
    'denied',
    'gone',
  ])
})

test('patterns of the configuration: letters of either case are alike, also where a pattern could be slow', () => {
  assert.equal(patternFault('^a*b*$', 'text'), undefined)
  assert.deepEqual([patternFault('.*a.*b', 'name'), typeof patternFault('.*a.*b', 'text')], [undefined, 'string'])
  assert.match(String(patternFault('^a*A*$', 'text')), /A\*/)
  assert.deepEqual([patternMatches('^ab$', 'AB', 'name'), patternMatches('^a*A*$', 'aA', 'text')], [true, false])
})

test('patterns of the configuration: slow ones are rejected, text is bounded', () => {
  assert.match(patternFault('(', 'text')!, /^Invalid regular expression/)
  assert.deepEqual([patternFault('^a', 'text'), patternFault('^(create|multi_)?x$', 'name')], [undefined, undefined])
  assert.equal(typeof patternFault('(a+)+$', 'text'), 'string')
  const faults = (source: string) => (['text', 'name'] as const).map((kind) => patternFault(source, kind) !== undefined)
  assert.deepEqual(
    [faults('a*b'), faults('a*a*b'), faults('a*a*a*b'), faults('a*a*a*a*b')],
    [
      [false, false],
      [true, false],
      [true, false],
      [true, true],
    ],
  )
  assert.deepEqual(
    [patternMatches('^A', 'abc', 'text'), patternMatches('^b', 'abc', 'text'), patternMatches('(', '(', 'text')],
    [true, false, false],
  )
  const far = (length: number) => `${' '.repeat(length)}x`
  assert.deepEqual([patternMatches('x', far(8191), 'text'), patternMatches('x', far(8192), 'text')], [true, false])
  assert.deepEqual([patternMatches('x', far(255), 'name'), patternMatches('x', far(256), 'name')], [true, false])
  assert.deepEqual(
    [patternFinds('a\\d', 'a1 b2 a3 A4'), patternFinds('(', '('), patternFinds('x', far(8192))],
    [['a1', 'a3'], [], []],
  )
})

test('globs: which paths a pattern matches, and which patterns lie in another', () => {
  const table: [string, string, boolean][] = [
    ['a/*', 'a/b', true],
    ['a/*', 'a/b/c', false],
    ['a/**', 'a/b/c', true],
    ['a/**', 'a', false],
    ['a/', 'a/b', true],
    ['./a', 'a', true],
    ['**/b', 'b', true],
    ['**/b', 'a/x/b', true],
    ['**b', 'a/b', true],
    ['a?c', 'abc', true],
    ['a?c', 'a/c', false],
    ['[ab]', 'a', true],
    ['[!ab]', 'a', false],
    ['[!ab]', 'c', true],
    ['[a', '[a', true],
    ['[z-a]', '[z-a]', true],
    ['{a,b/*}', 'b/c', true],
    ['{a,b}', 'c', false],
    ['{a', '{a', true],
    ['a{b,{c,d}}', 'ad', true],
    ['a,b', 'a,b', true],
    ['a}', 'a}', true],
    ['a\\b', 'a/b', true],
    ['.x', '.x', true],
    ['*', '.x', true],
  ]
  for (const [pattern, path, expected] of table)
    assert.deepEqual([pattern, path, globMatches(pattern, path)], [pattern, path, expected])
  assert.deepEqual(['', '**', ' ./* ', '\\', '*.ts', 'a'].map(isRepoWide), [true, true, true, true, false, false])
  const inside: [string, string, boolean][] = [
    ['src/*.ts', 'src/**', true],
    ['src/a.ts', 'src/*.ts', true],
    ['src/a.ts', 'docs/**', false],
    ['src/*', 'src/*', true],
    ['src/a/*', 'src/**/*', true],
    ['s*', 'src/**', false],
    ['src/../*', 'src/**', false],
    ['srcs/*', 'src/**', false],
    ['src/*.ts', 'src/*', false],
  ]
  for (const [inner, outer, expected] of inside)
    assert.deepEqual([inner, outer, globInside(inner, outer)], [inner, outer, expected])
})

test('what a command reads without bounds is given back in its words', () => {
  const repo = '/home/me/repo'
  const found = (command: string, start = repo) => unboundedRead(command, start, repo) ?? null
  const table: [string, string | null][] = [
    ['grep -r x', 'grep -r x'],
    ['/usr/bin/grep -r x .', 'grep -r x .'],
    ['GREP.EXE -r x .', 'grep -r x .'],
    ['grep --dereference-recursive x .', 'grep --dereference-recursive x .'],
    ['grep -e x -r .', 'grep -e x -r .'],
    ['grep -r -e x src', null],
    ['grep -r --regexp x src', null],
    ['grep -rA 3 x src', null],
    ['grep -r -A 3 x', 'grep -r -A 3 x'],
    ['grep -r -- x .', 'grep -r -- x .'],
    ['grep -r x -', 'grep -r x -'],
    ['fgrep -r x .', 'fgrep -r x .'],
    ['ag x ..', 'ag x ..'],
    ['ack x', null],
    ['rg --files ..', 'rg --files ..'],
    ['find -L . -name x', 'find -L . -name x'],
    ['find src -o .', null],
    ['find ( . )', 'find'],
    ['ls --recursive .', 'ls --recursive .'],
    ['du', 'du'],
    ['dir /s /b', 'dir /s /b'],
    ['dir /b', null],
    ['gci -Recurse .', 'gci -Recurse .'],
    ['gci .', null],
    ['gci . -ReadOnly', null],
    ['sudo -E env A=1 grep -r x .', 'grep -r x .'],
    ['A=1', null],
    ['pushd src; grep -r x .', null],
    ['cd; grep -r x .', 'grep -r x .'],
    ['Set-Location src; grep -r x .', null],
    ["sh -c 'grep -r x .'", 'grep -r x .'],
    ["sh -c 'ls'", null],
    ['zsh -c', null],
    ['tree C:\\\\', 'tree C:\\'],
    ['tree src/*', null],
    ['tree *', 'tree *'],
    ['tree /*', 'tree /*'],
    ['tree /home*/me', null],
    ['tree ${HOME}/x', null],
    ['tree %USERPROFILE%', 'tree %USERPROFILE%'],
    ['tree ~', 'tree ~'],
    ['tree "a b"', null],
    ['tree "."', 'tree .'],
    ['tree "a\\"b" x', null],
    ['tree a\\ b', null],
    ['tree src # .', null],
    ['tree src > .', null],
    ['tree src 2>&1', null],
    ['tree src 2> .', null],
    ['tree src 2>> .', null],
    ['tree src 2> x .', 'tree src .'],
    ['tree 2>x .', 'tree .'],
    ['tree src >& .', null],
    ['(tree .)', 'tree .'],
    ['echo `tree .`', 'tree .'],
    ['tree src & tree .', 'tree .'],
    ['tree\\\n .', 'tree .'],
  ]
  for (const [command, expected] of table) assert.deepEqual([command, found(command)], [command, expected])
  assert.equal(found('tree .', `${repo}/src`), null)
  assert.equal(found(`tree ${homedir()}`), `tree ${homedir()}`)
  const long = `echo ${'x'.repeat(65_536)}`
  assert.equal(found(long), `${long.slice(0, 60)}… (65541 characters)`)
  assert.deepEqual([wordsIn('a "b c"; d'), wordsIn(long)], [['a', 'b c', 'd'], undefined])
})
