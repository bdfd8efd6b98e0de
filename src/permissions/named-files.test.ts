/** Which files the input of a server's tool names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../hooks/shape.ts'
import { namedFilesFinding } from './named-files.ts'
import type { PermissionQuestion } from './question.ts'
import { rulesOf } from './rules/rules.ts'

const asked = (tool: string, input: JsonObject, more: Partial<PermissionQuestion> = {}): PermissionQuestion => ({
  ...{ settings: {}, mode: 'default', tool, input, hook: 'none', cwd: '/w', projectDir: '/w', home: '/h' },
  ...more,
})

test("the files that the input of a server's tool names", () => {
  const settings = { deny: ['Read(secret)', 'Edit(locked)', 'Read(shut/in)'], ask: ['Read(private)'] }
  const rules = rulesOf(settings)
  const found = (input: JsonObject, tool = 'mcp__s__write') => {
    const finding = namedFilesFinding(asked(tool, input, { settings }), rules)
    return finding && `${finding.word}: ${finding.why}`
  }
  const denied = 'deny: the deny rule "Read(secret)" matches /w/secret'
  const maybe = 'ask: the deny rule "Read(secret)" matches /w/secret'
  const rows: [input: JsonObject, is: string | undefined, tool?: string][] = [
    [{ path: 'secret' }, denied],
    [{ x: 'secret' }, maybe],
    [{ x: './secret' }, denied],
    [{ x: '/w/secret' }, denied],
    [{ x: '../w/secret' }, denied],
    [{ x: '~/secret' }, undefined],
    [{ x: 'file:///w/secret' }, denied],
    [{ x: 'file:///w/secre%74' }, denied],
    [{ x: 'file:///w/%zz' }, undefined],
    [{ x: 'https://w/secret' }, undefined],
    [{ path: 'https://w/secret' }, undefined],
    [{ path: 'x:/secret' }, 'deny: the deny rule "Read(secret)" matches /w/x:/secret'],
    [{ path: 'x:/a://secret' }, 'deny: the deny rule "Read(secret)" matches /w/x:/a:/secret'],
    [{ path: 'http://[/secret' }, 'deny: the deny rule "Read(secret)" matches /w/http:/[/secret'],
    [{ x: 'x:/secret' }, 'ask: the deny rule "Read(secret)" matches /w/x:/secret'],
    [{ x: 'a secret' }, undefined],
    [{ x: 'a b/secret' }, undefined],
    [{ path: 'shut' }, undefined],
    [{ path: 'shut/in' }, 'deny: the deny rule "Read(shut/in)" matches /w/shut/in'],
    [{ query: 'secret' }, undefined],
    [{ query: './secret' }, denied],
    [{ path: '' }, undefined],
    [{ path: 'a\nb/secret' }, 'deny: the deny rule "Read(secret)" matches /w/a\nb/secret'],
    [{ x: './a\nb/secret' }, undefined],
    [{ PATH: 'secret' }, denied],
    [{ QUERY: 'secret' }, undefined],
    [{ a: null, b: 1, path: 'secret' }, denied],
    [{ paths: ['a', 'secret'] }, denied],
    [{ a: { b: { file: 'secret' } } }, denied],
    [{ a: 'secret', path: 'secret' }, denied],
    [{ path: 'secret', a: 'secret' }, denied],
    [{ path: 'private' }, 'ask: the ask rule "Read(private)" matches /w/private'],
    [{ paths: ['private', '.mcp.json', 'locked', 'secret'] }, denied],
    [{ paths: ['private', 'locked'] }, 'ask: the ask rule "Read(private)" matches /w/private'],
    [{ path: 'locked' }, 'ask: the deny rule "Edit(locked)" matches /w/locked'],
    [{ path: 'locked' }, undefined, 'mcp__s__read_file'],
    [{ path: 'secret' }, denied, 'mcp__s__read_file'],
    [{ path: 'locked' }, undefined, 'mcp__s__x__read_file'],
    [{ path: 'locked' }, 'ask: the deny rule "Edit(locked)" matches /w/locked', 'mcp__s__read_file__write'],
    [
      { path: '~/.ona/credentials.json' },
      "deny: /h/.ona/credentials.json is ona's stored credential, which no tool may read",
    ],
    [{ path: '.vscode/a' }, undefined],
    [{ path: '.mcp.json' }, 'ask: /w/.mcp.json is the configuration of a coding agent'],
    [{ path: '.mcp.json' }, undefined, 'mcp__s__get_file'],
    [{ path: 'secret' }, undefined, 'Other'],
    [{ uri: 'secret' }, denied, 'ReadMcpResource'],
  ]
  assert.deepEqual(
    rows.map(([input, , tool]) => [input, found(input, tool), ...(tool ? [tool] : [])]),
    rows,
  )
  const keys = 'path file dir folder uri source destination target root cwd location'
  assert.deepEqual(
    keys.split(' ').filter((key) => found({ [key]: 'secret' }) !== denied),
    [],
  )
  const texts = 'query pattern search regex text content message title description body prompt comment note url host'
  assert.deepEqual(
    texts.split(' ').filter((key) => found({ [key]: 'secret' }) !== undefined),
    [],
  )
  const reading =
    'read get list search find stat view show describe directory_tree read_x x_info x_tree x_list x_search READ'
  assert.deepEqual(
    reading.split(' ').filter((name) => found({ path: 'locked' }, `mcp__s__${name}`)),
    [],
  )
  const changing = 'reader xread x_infos info x_read write'
  assert.deepEqual(
    changing.split(' ').filter((name) => !found({ path: 'locked' }, `mcp__s__${name}`)),
    [],
  )
  const large = 'ask: its input is too large to see which files it names'
  const many = (count: number) => found({ a: Array.from({ length: count }, () => 'x y') })
  assert.deepEqual([many(20_000), many(20_001)], [undefined, large])
  const named = (count: number) => found({ a: Array.from({ length: count }, (_, at) => `f${at}`) })
  assert.deepEqual([named(5000), named(5001)], [undefined, large])
  const others = Array.from({ length: 5001 }, (_, at) => `f${at}`)
  assert.equal(found({ paths: ['private', ...others] }), 'ask: the ask rule "Read(private)" matches /w/private')
  const deep = (depth: number, x: string | number = 'y z'): JsonObject =>
    depth === 0 ? { x } : { a: deep(depth - 1, x) }
  assert.deepEqual([found(deep(49)), found(deep(49, 1)), found(deep(50))], [undefined, undefined, large])
  assert.deepEqual(
    [found({ path: 'x'.repeat(4096) }), found({ path: 'x'.repeat(4097) }), found({ x: 'x'.repeat(4097) })],
    [undefined, large, undefined],
  )
  const beginning = 'ask: the deny rule "Read(secret)" matches '
  const far = (before: string) => found({ x: `${before}${'x/'.repeat(2045)}secret` })?.slice(0, beginning.length)
  assert.deepEqual([far(''), far('y')], [beginning, undefined]) // 4096 characters, and one more
  const { rule } = namedFilesFinding(asked('mcp__s__write', { path: 'secret' }, { settings }), rules)!
  assert.equal(
    rule,
    rules.deny.find(({ text }) => text === 'Read(secret)'),
  )
})
