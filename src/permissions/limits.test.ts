/** What the parts of a ruling say at their limits, and of names that only nearly match. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPrivate } from './addresses.ts'
import { decide } from './decide.ts'
import { namedFilesFinding } from './named-files.ts'
import type { PermissionQuestion } from './question.ts'
import { canonicalTool, readRule } from './rules/rule.ts'
import { rulesOf } from './rules/rules.ts'
import { isSecretFile } from './secret-files.ts'

const asked = (tool: string, input: object, more: Partial<PermissionQuestion> = {}): PermissionQuestion =>
  ({
    ...{ settings: {}, mode: 'default', tool, input, hook: 'none', cwd: '/w', projectDir: '/w', home: '/h' },
    ...more,
  }) as PermissionQuestion
const decisionOf = async (tool: string, input: object, settings: object) =>
  (await decide(asked(tool, input, { settings } as Partial<PermissionQuestion>))).decision

test('an address is private, or none, unless all of it is a public one', () => {
  const rows: [string, boolean][] = [
    ['8.8.8.8', false],
    ['::ffff:8.8.8.8', false],
    ['::FFFF:808:808', false],
    ['::ffff:10.0.0.1', true],
    ['::ffff:a00:1', true],
    ['::ffff:c000:205', true],
    ['::ffff:c000:502', false],
    ['::ffff:2:c000', true],
    ['::FFFF:A00:1', true],
    ['0:0:0:0:0:ffff:a00:1', true],
    ['::ffff:0:0', true],
    ['::ffff:7f00:1%lo', true],
    ['x::ffff:8.8.8.8', true],
    ['1::ffff:8.8.8.8', false],
    ['::ffff:8.8.8.8x', true],
    ['::ffff:808:808:1', false],
    ['2606:4700::1111%eth0', false],
    ['2606:4700::1111%eth0\nx', false],
    ['8.8.8.8%25eth0', false],
  ]
  assert.deepEqual(
    rows.map(([address]) => [address, isPrivate(address)]),
    rows,
  )
})

test('of a server’s tool the reading ones are known by their whole first or last word, keys by any part of them', () => {
  const settings = { deny: ['Edit(locked)', 'Read(secret)'] }
  const rules = rulesOf(settings)
  const found = (tool: string, input: object) =>
    namedFilesFinding(asked(`mcp__s__${tool}`, input, { settings }), rules)?.word
  const reading = [
    ...['read', 'get_x', 'LIST_x', 'search', 'find_x', 'stat', 'view_x', 'show', 'describe_x', 'directory_tree'],
    ...['x_info', 'x_tree', 'x_LIST', 'x_search'],
  ]
  const changing = ['write', 'spread_x', 'forget_x', 'reader', 'statx', 'x_information', 'x_lists', 'info']
  assert.deepEqual(
    [...reading, ...changing].filter((tool) => found(tool, { path: 'locked' }) === undefined),
    reading,
  )
  const pathKeys = 'path file dir folder uri source destination target root cwd location'.split(' ')
  for (const key of [...pathKeys, ...pathKeys.map((each) => `the${each.toUpperCase()}s`)])
    assert.equal(found('write', { [key]: 'secret' }), 'deny', key)
  const textKeys = 'quer pattern search regex text content message title description body prompt comment note url host'
  for (const key of textKeys.split(' ').flatMap((each) => [`my${each}`, each.toUpperCase()]))
    assert.equal(found('write', { [key]: 'secret' }), undefined, key)
  const values: [string, string | undefined][] = [
    ['https://secret', undefined],
    ['x https://y/secret', undefined],
    ['a:https://y', undefined],
    ['b/./secret', 'ask'],
    ['~/../w/secret', 'deny'],
  ]
  assert.deepEqual(
    values.map(([value]) => [value, found('write', { x: value })]),
    values,
  )
})

test('an input is searched up to its limits; a longer one prompts', () => {
  const settings = { deny: ['Read(secret)'] }
  const rules = rulesOf(settings)
  const word = (input: object) => namedFilesFinding(asked('mcp__s__write', input, { settings }), rules)?.word
  const texts = (count: number) => ({ query: Array<string>(count).fill('x') })
  assert.deepEqual([word(texts(20_000)), word(texts(20_001))], [undefined, 'ask'])
  const names = (count: number) => ({ x: Array.from({ length: count }, (_, at) => `n${at}`) })
  assert.deepEqual([word(names(5000)), word(names(5001))], [undefined, 'ask'])
  const deep = (depth: number): object => (depth === 0 ? { x: 'y' } : { x: deep(depth - 1) })
  assert.deepEqual([word(deep(49)), word(deep(50))], [undefined, 'ask'])
  const long = (length: number) => ({ path: 'a'.repeat(length) })
  assert.deepEqual([word(long(4096)), word(long(4097))], [undefined, 'ask'])
})

test('rules: what begins with a parenthesis names no tool, a server is lower-case in its own part alone', () => {
  const why = (text: string) => {
    const read = readRule(text, 'deny')
    return read.ok ? read.rule.tool : read.why
  }
  assert.deepEqual(['(x)', '(x', '(x)y', 'mcp__Srv__mcp__Tool', '__proto__', '__defineGetter__', 'Task'].map(why), [
    '"" is not a tool name.',
    'There is a "(" without its ")".',
    'Rules take the form Tool or Tool(content) and must end at the closing ")".',
    'mcp__srv__mcp__Tool',
    '__proto__',
    '__defineGetter__',
    'Agent',
  ])
  assert.deepEqual(['toString', '__proto__', 'LS'].map(canonicalTool), ['toString', '__proto__', 'Glob'])
})

test('a skill is named without its first slash alone', async () => {
  const settings = { deny: ['Skill(a/b)'] }
  const rulings = ['a/b', '/a/b', ' /a/b ', 'ab', 'a//b'].map((skill) => decisionOf('Skill', { skill }, settings))
  assert.deepEqual(await Promise.all(rulings), ['deny', 'deny', 'deny', 'ask', 'ask'])
  const { suggestions = [] } = await decide(asked('Skill', { skill: '/a/b' }))
  assert.deepEqual(
    suggestions.flatMap((update) => ('rules' in update ? update.rules : [])),
    [{ toolName: 'Skill', ruleContent: 'a/b' }],
  )
})

test('files of a process are secret in /proc alone', () => {
  const rows: [string, boolean][] = [
    ['/proc/1/environ', true],
    ['/proc/self/task/2/mem', true],
    ['/PROC/self/Environ', true],
    ['/proc/1/fd/3', true],
    ['/proc/1/environs', false],
    ['/proc/1/x/proc/2/environ', false],
    ['/w/proc/1/environ', false],
  ]
  assert.deepEqual(
    rows.map(([path]) => [path, isSecretFile(path)]),
    rows,
  )
})

test('variables that change nothing are known by their whole name', async () => {
  const settings = { allow: ['Bash(ls)'] }
  const safe =
    'NODE_ENV LANG LANGUAGE LC_ALL TZ NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE CI TERM COLUMNS LINES RUST_BACKTRACE RUST_LOG PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE GOOS GOARCH'.split(
      ' ',
    )
  const allowed: string[] = []
  for (const name of [...safe, ...safe.flatMap((each) => [`X${each}`, `${each}x`]), 'LC_all', 'LC_'])
    if ((await decisionOf('Bash', { command: `${name}=1 ls` }, settings)) === 'allow') allowed.push(name)
  assert.deepEqual(allowed, safe)
})

test('devices that are no files are known by their whole path', async () => {
  const rulings = async (settings: object, command: (path: string) => string, paths: string) => {
    const allowed: string[] = []
    for (const path of paths.split(' '))
      if ((await decisionOf('Bash', { command: command(path) }, settings)) === 'allow') allowed.push(path)
    return allowed.join(' ')
  }
  const others = '/dev/nullx /dev/null/x /w/dev/null /dev/fd/x /dev/fd/3x /dev/sda'
  const written = '/dev/null /dev/stdout /dev/stderr /dev/tty /dev/fd/3'
  const write = { allow: ['Bash(echo *)'] }
  assert.equal(await rulings(write, (path) => `echo x > ${path}`, `${written} ${others}`), written)
})
