import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearest, notKnown } from './nearest.ts'

test('the name that was meant: two slips, or a third of a longer word', () => {
  const names = ['read', 'write', 'glob', 'before_tool_apply']
  const rows: Record<string, string | undefined> = {
    read: 'read',
    raed: 'read',
    rad: 'read',
    reead: 'read',
    rxxd: 'read',
    xxxd: undefined,
    re: 'read',
    r: undefined,
    readers: undefined,
    wirte: 'write',
    wriet: 'write',
    WRITE: 'write',
    'before-tool apply': 'before_tool_apply',
    beforetoolapply: 'before_tool_apply',
    beforetolaply: 'before_tool_apply',
    befortolaply: 'before_tool_apply',
    beftolap: undefined,
    golb: 'glob',
    golbs: 'glob',
    '': undefined,
  }
  for (const [word, meant] of Object.entries(rows)) assert.equal(nearest(word, names), meant, word)
  assert.equal(nearest('ab', ['ax', 'ab', 'abc']), 'ab')
  assert.equal(nearest('ab', ['axx', 'abx', 'aby']), 'abx') // of two as near the first
  assert.equal(nearest('ca', ['abc']), undefined, 'a swap and a letter between count as three')
})

test('the caller may say how many slips a name forgives', () => {
  assert.equal(
    nearest('raed', ['read'], () => 0),
    undefined,
  )
  assert.equal(
    nearest('raed', ['read'], () => 1),
    'read',
  )
  assert.equal(
    nearest('abcdef', ['abxyzf', 'abcd'], (name) => (name === 'abcd' ? 1 : 3)),
    'abxyzf',
  )
})

test('what is said of a name that is not known', () => {
  assert.equal(notKnown('raed', ['read']), 'is "raed"; did you mean "read"?')
  assert.equal(notKnown('x"y', ['read', 'write']), 'is "x\\"y"; it must be one of read, write')
})

test('case, blanks, hyphens and underscores are no slips', () => {
  const exactly = (word: string) => nearest(word, ['before_tool_apply', 'PreToolUse'], () => 0)
  const words = ['pretooluse', 'Pre Tool Use', 'pre-tool-use', 'PRE_TOOL\tUSE', 'beforeToolApply', 'before tool apply']
  assert.deepEqual(words.map(exactly), [...Array(4).fill('PreToolUse'), ...['before_tool_apply', 'before_tool_apply']])
  assert.equal(exactly('pre.tool.use'), undefined)
})
