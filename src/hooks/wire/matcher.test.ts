import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { matchQuery, readGlob, readMatcher, slowMatcher } from './matcher.ts'

test('a matcher is everything, a list of names, or a regular expression found anywhere', () => {
  const cases: [string, string, boolean][] = [
    ['', 'Bash', true],
    ['*', 'Bash', true],
    ['Bash', 'Bash', true],
    ['Edit', 'NotebookEdit', true],
    ['Edit|Write', 'NotebookEdit', false],
    ['Edit|Write', 'Write', true],
    ['^Edit$', 'Edit', true],
    ['^Edit$', 'NotebookEdit', false],
    ['mcp__.*', 'mcp__a__b', true],
    ['Notebook.*', 'NotebookEdit', true],
    ['a-b|c', 'abc', true],
    ['bash', 'Bash', false],
    ['(?i)bash', 'Bash', false],
    ['(?<=Note)book', 'Notebook', true],
  ]
  for (const [matcher, query, expected] of cases) {
    assert.equal(readMatcher(matcher)?.(query) ?? false, expected, `${matcher} on ${query}`)
  }
  assert.equal(readMatcher('['), undefined)
})

test('for hooks of Claude Code plain names match exactly, in a list with commas and blanks too', () => {
  const cases: [string, string, boolean][] = [
    ['Edit', 'Edit', true],
    ['Edit', 'NotebookEdit', false],
    ['Edit, Write', 'Write', true],
    ['Edit , Write', 'Edit', true],
    ['Edit|Write', 'Write', true],
    ['my-tool', 'my-tool', true],
    ['my-tool', 'my-tools', false],
    ['my-tool, Edit', 'my-tool', true],
    ['^Edit', 'Edit', true],
    ['Edit.*', 'EditAll', true],
    ['(', '(', false],
  ]
  for (const [matcher, query, expected] of cases)
    assert.equal(readMatcher(matcher, 'claude')?.(query) ?? false, expected, `${matcher} on ${query}`)
})

test('no text makes a matcher or a glob throw', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (pattern, query) => {
      assert.equal(typeof (readMatcher(pattern)?.(query) ?? false), 'boolean')
      assert.equal(typeof readGlob(pattern)(query), 'boolean')
    }),
  )
})

test('a list of names matches exactly its names', () => {
  const name = fc.stringMatching(/^[a-zA-Z0-9_]+$/)
  fc.assert(
    fc.property(fc.array(name, { minLength: 2 }), name, (list, query) => {
      assert.equal(readMatcher(list.join('|'))!(query), list.includes(query))
    }),
  )
})

test('a glob is held against the whole name', () => {
  const cases: [string, string, boolean][] = [
    ['mcp__*', 'mcp__a/b', true],
    ['mcp__*', 'xmcp__a', false],
    ['re?d', 'read', true],
    ['{Read,Write}', 'Write', true],
    ['{Read,Write}', 'Edit', false],
    ['[RW]*', 'Read', true],
    ['[!R]*', 'Read', false],
    ['a.b', 'axb', false],
    ['a+', 'a+', true],
    ['[', '[', false],
    ['{a', '{a', false],
    ['[z-a]', 'a', false],
    ['{a', 'a', false],
    ['a,b', 'a,b', true],
    ['a}', 'a}', true],
    ['[a!]', '!', true],
    ['[a!]', '^', false],
    ['[^a]', 'a', false],
    ['[^a]', 'b', true],
    ['[a^]', '^', true],
    ['[]]', ']', false],
    ['{[],a}', 'a', false],
    ['[', '', false],
    ['ab*bc', 'abc', false],
    ['ab*bc', 'abbc', true],
    ['', '', true],
    ['*', '', true],
    ['?', '', false],
  ]
  for (const [glob, name, expected] of cases) assert.equal(readGlob(glob)(name), expected, `${glob} on ${name}`)
})

test('each event says what its matchers are held against', () => {
  assert.deepEqual(
    [
      matchQuery('PreToolUse', { tool_name: 'Bash' }),
      matchQuery('FileChanged', { file_path: '/a/.env' }),
      matchQuery('StopFailure', { error: 'rate_limit' }),
      matchQuery('SubagentStop', { agent_type: 'explore' }),
      matchQuery('TaskCreated', {}),
      matchQuery('Stop', {}),
      matchQuery('PreToolUse', {}),
      matchQuery('FileChanged', {}),
    ],
    ['Bash', '.env', 'rate_limit', 'explore', null, undefined, '', ''],
  )
})

test('a matcher that could run for ever matches nothing, and a glob with many stars is fast', () => {
  assert.equal(readMatcher('^(\\w+)+$'), undefined)
  for (const slow of ['^(\\w+)+$', '^(\\w*)*$', '^(\\w{1,9}){1,9}$'])
    assert.deepEqual([readMatcher(slow), /exponential/.test(slowMatcher(slow)!)], [undefined, true], slow)
  assert.deepEqual([slowMatcher('Edit|Write'), slowMatcher('mcp__.*')], [null, null])
  const name = `${'a'.repeat(5000)}c`
  assert.equal(readGlob(`${'*a'.repeat(40)}*b`)(name), false)
  assert.equal(readGlob(`${'*a'.repeat(40)}*c`)(name), true)
  assert.equal(readGlob('{a,b}'.repeat(30))(name), false)
  // 1000 ways to read the braces are looked at
  const ten = '{a,b,c,d,e,f,g,h,i,j}'
  assert.deepEqual(
    [
      readGlob(ten.repeat(3))('abc'),
      readGlob('{a,b}'.repeat(9))('a'.repeat(9)),
      readGlob(`${ten.repeat(3)}{a,b}`)('abca'),
    ],
    [true, true, false],
  )
})

test('a glob means what its regular expression would mean', () => {
  const part = fc.constantFrom('*', '?', 'a', 'b', '/', '[ab]', '[!a]', '{a,b*}', '{a,{b,c}}', '{,a}', '.')
  const source: Record<string, string> = {
    '*': '[^]*',
    '?': '[^]',
    '.': '\\.',
    '[!a]': '[^a]',
    '{a,b*}': '(?:a|b[^]*)',
    '{a,{b,c}}': '(?:a|(?:b|c))',
    '{,a}': '(?:|a)',
  }
  const letters = fc.array(fc.constantFrom('a', 'b', 'c', '/', '.'), { maxLength: 8 })
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), letters, (parts, text) => {
      const pattern = new RegExp(`^${parts.map((one) => source[one] ?? one).join('')}$`)
      assert.equal(readGlob(parts.join(''))(text.join('')), pattern.test(text.join('')))
    }),
    { numRuns: 500 },
  )
})
