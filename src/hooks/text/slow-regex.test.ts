import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slowPart } from './slow-regex.ts'

const kindOf = (source: string) => {
  new RegExp(source)
  const why = slowPart(source)
  if (why === null) return 'fast'
  assert.ok(why.startsWith(JSON.stringify(source)), why)
  return /exponential/.test(why) ? 'exponential' : /repeats?, one behind/.test(why) ? 'repeats' : 'unknown'
}

test('what people write for names of tools and paths is fast', () => {
  for (const source of [
    'Write|Edit|NotebookEdit',
    '^mcp__.*',
    'mcp__(github|jira)__.*',
    'mcp__.*__(get|list)_.*',
    '^(?!Read$).*',
    '^(?!mcp__).+$',
    '(?<=Note)book',
    '(?i:bash)',
    '(\\w+\\.)+ts$',
    '([a-z]+-)*[a-z]+',
    '[a-z]+-[a-z]+-[a-z]+-[a-z]+-[a-z]+',
    '\\b(?:src|app)/[\\w./-]{1,200}\\.(?:ts|css)\\b',
    '^[^\\W\\d]+[0-9]{4}-\\d{2}$',
    '(?<name>a|b)?c{0}d{2}e{1,3}',
    '[\\]\\-^]+$',
    '\\x41\\u0042\\cA\\p',
    'é+ü',
    '',
  ])
    assert.equal(kindOf(source), 'fast', source)
})

test('a loop that reads one text in two ways is exponential, however it is spelled', () => {
  for (const source of [
    '(a+)+$',
    '(a*)*b',
    '(?:a|a)*b',
    '(a|aa)+$',
    '(\\w|\\d)*!',
    '^(\\w+\\s?)*$',
    '([a-zA-Z]+)*\\d',
    '(.*a)*b.*c',
    '((ab)*|a|b)*x',
    '(a{1,10}){1,10}b',
    '(?=(x+)+y)z',
    '(?<!(x+)+y)z',
    '(a?a)*b',
    '(?:[^b]|a)*c',
  ])
    assert.equal(kindOf(source), 'exponential', source)
})

test('more than three repeats that can share a text are too slow', () => {
  for (const source of ['.*.*.*x', '(a+){3}b', 'a*ba*ba*ba*b', 'a*(?:b|c)a*(?:b|c)a*(?:b|c)a*z'])
    assert.equal(kindOf(source), 'fast', source)
  for (const source of [
    '.*.*.*.*x',
    'a*a*a*a*b',
    '\\w*\\d*[0-5]*3*x',
    '.*a.*a.*a.*a.*b',
    '(a+){3}a*b',
    'a*(?:b|c?)a*(?:b|c?)a*(?:b?|c)a*z',
  ])
    assert.equal(kindOf(source), 'repeats', source)
  assert.deepEqual([slowPart('abc', { loops: 0 }), slowPart('a*', { loops: 0 }) === null], [null, false])
  assert.match(slowPart('a*a*b', { loops: 1 })!, /more than 1 repeat, /)
})

test('a count from four times on is taken for no end; a smaller one is looked at as it is', () => {
  assert.deepEqual(['(a|aa){1,3}x', '(a|aa){3}x', '(a|aa){4}x', '(a|aa){2,}x', '(a|aa){0,9}x'].map(kindOf), [
    'fast',
    'fast',
    'exponential',
    'exponential',
    'exponential',
  ])
})

test('with the flag i, letters of either case are the same text', () => {
  assert.equal(kindOf('(a|A)*x'), 'fast')
  assert.match(slowPart('(a|A)*x', { foldCase: true })!, /exponential/)
  assert.match(slowPart('([a-m]|[A-M])*1', { foldCase: true })!, /exponential/)
})

test('what cannot be judged is rejected', () => {
  assert.equal(kindOf('(a)\\1'), 'unknown')
  assert.equal(kindOf('x'.repeat(5000)), 'unknown')
})

test('judging a long expression takes a bounded number of steps', () => {
  const words = Array.from({ length: 150 }, (_, at) => `mcp__server${at}__tool_${at}`).join('|')
  assert.equal(kindOf(`^(${words})$`), 'fast')
  assert.notEqual(kindOf(`(${'[ab]*[bc]*'.repeat(40)})*x`), 'fast')
})

test('what is rejected is quoted, and told why and what to do', () => {
  const many = Array.from({ length: 80 }, (_, at) => `w${at}x*`).join('|')
  const reasons: [source: string, why: string][] = [
    ['(a)\\1', 'has a back-reference or is too long to judge how slow it can be; use a simpler expression'],
    ['(?<n>a)\\k<n>', 'has a back-reference or is too long to judge how slow it can be; use a simpler expression'],
    [`(?:${many})*`, 'is too complex to judge how slow it can be; use a simpler expression'],
    [
      '(a+)+',
      'can take exponential time: a repeated part can match the same text in two ways, as in (a+)+; repeat it once',
    ],
    ['.*.*.*.*x', 'can take too long: more than 3 repeats, one behind the other, can match the same text; use fewer'],
  ]
  assert.deepEqual(
    reasons.map(([source]) => slowPart(source)),
    reasons.map(([source, why]) => `${JSON.stringify(source)} ${why}`),
  )
})
