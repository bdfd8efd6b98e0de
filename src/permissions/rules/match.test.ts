/** Which calls a rule is about. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../hooks/shape.ts'
import { fileOf, fileRuleMatches, leadsAsJudged } from '../paths/access.ts'
import type { PermissionQuestion } from '../question.ts'
import { namesTool, ruleMatches } from './match.ts'
import { readRule } from './rule.ts'
import { matchesRule } from './rule-applies.ts'

const asked = (tool: string, input: JsonObject, more: Partial<PermissionQuestion> = {}): PermissionQuestion => ({
  ...{ settings: {}, mode: 'default', tool, input, hook: 'none', cwd: '/w', projectDir: '/w', home: '/h' },
  ...more,
})

test('which calls a rule is about', () => {
  const matches = (rule: string, tool: string, input: JsonObject) => {
    const reading = readRule(rule, 'deny')
    const question = asked(tool, input)
    return reading.ok && ruleMatches(reading.rule, 'deny', question, fileOf(question))
  }
  const rows: [rule: string, tool: string, input: JsonObject, is: boolean][] = [
    ['WebFetch(domain:a.b)', 'WebFetch', { url: 'https://A.b/x' }, true],
    ['WebFetch(domain:a.b)', 'WebFetch', { url: 'https://x.a.b/' }, false],
    ['WebFetch(domain:*.a.b)', 'WebFetch', { url: 'https://x.y.a.b/' }, true],
    ['WebFetch(domain:*.a.b)', 'WebFetch', { url: 'https://a.b/' }, false],
    ['WebFetch(domain:*.a.b)', 'WebFetch', { url: 'https://xa.b/' }, false],
    ['WebFetch(domain:a.*)', 'WebFetch', { url: 'https://a.b/' }, true],
    ['WebFetch(domain:a.*)', 'WebFetch', { url: 'https://a.b.c/' }, false],
    ['WebFetch(domain:*.*.c)', 'WebFetch', { url: 'https://a.b.c/' }, true],
    ['WebFetch(domain:*.*.c)', 'WebFetch', { url: 'https://x.a.b.c/' }, false],
    ['WebFetch(domain:*)', 'WebFetch', { url: 'https://a/' }, true],
    ['WebFetch(domain:a)', 'WebFetch', { url: 'a' }, false],
    ['WebSearch(a)', 'WebSearch', { query: 'a' }, true],
    ['WebSearch(a)', 'WebSearch', { query: 'a b' }, false],
    ['Agent(explore)', 'Agent', { subagent_type: 'Explore' }, true],
    ['Agent(general-purpose)', 'Agent', {}, true],
    ['Skill(a)', 'Skill', { skill: ' /a ' }, true],
    ['Skill(A)', 'Skill', { skill: 'a' }, false],
    ['Skill(a)', 'Skill', { skill: 'a', args: 'b' }, true],
    ['Skill(a b)', 'Skill', { skill: 'a', args: 'b' }, true],
    ['Skill(a b)', 'Skill', { skill: 'a' }, false],
    ['Skill(a undefined)', 'Skill', { skill: 'a' }, false],
    ['Skill(a 1)', 'Skill', { skill: 'a', args: 1 }, false],
    ['Skill(a )', 'Skill', { skill: 'a', args: '' }, false],
    ['Skill(a)', 'Skill', {}, false],
    ['Grep(path:x*)', 'Grep', { path: 'xy' }, true],
    ['Grep(n:1)', 'Grep', { n: 1 }, true],
    ['Grep(n:true)', 'Grep', { n: true }, true],
    ['Grep(n:a)', 'Grep', { n: ['a'] }, false],
    ['Bash(a)', 'Bash', { command: 'a' }, false],
    ['Write(a)', 'Write', { file_path: 'a' }, false],
    ['Read(a)', 'Read', { file_path: 'a' }, true],
    ['Read(a)', 'Edit', { file_path: 'a' }, true],
    ['Edit(a)', 'Read', { file_path: 'a' }, false],
    ['Read(a)', 'WebFetch', { url: 'a' }, false],
  ]
  assert.deepEqual(
    rows.map(([rule, tool, input]) => [rule, tool, input, matches(rule, tool, input)]),
    rows,
  )
  const names: [pattern: string, tool: string, is: boolean][] = [
    ['*Edit', 'NotebookEdit', true],
    ['Note*Edit', 'NotebookEdit', true],
    ['*Note', 'NotebookEdit', false],
    ['mcp__*__delete', 'mcp__a__delete', true],
    ['mcp__*__delete', 'mcp__a__delete_all', false],
    ['Bash', 'Bash', true],
    ['B*', 'Bash', true],
    ['mcp__a', 'mcp__a__b', true],
    ['mcp__a', 'mcp__ab__c', false],
    ['mcp__a__b', 'mcp__a__b__c', false],
    ['mcp__a__', 'mcp__a____c', false],
    ['a', 'a__b', false],
  ]
  assert.deepEqual(
    names.map(([pattern, tool]) => [pattern, tool, namesTool(pattern, tool)]),
    names,
  )
})

test('rules on files: who may read may not always edit, and a tree needs all of it', () => {
  const rows: [rule: string, behavior: 'allow' | 'deny', tool: string, path: string, is: boolean][] = [
    ['Edit(a)', 'allow', 'Read', '/w/a', true],
    ['Edit(a)', 'allow', 'Edit', '/w/a', true],
    ['Read(a)', 'allow', 'Edit', '/w/a', false],
    ['Read(a)', 'allow', 'Read', '/w/a', true],
    ['Edit(a)', 'deny', 'Read', '/w/a', false],
    ['Read(a)', 'deny', 'Edit', '/w/a', true],
    ['Read(/a/**)', 'allow', 'Grep', '/w/a', true],
    ['Read(/a/*.ts)', 'allow', 'Grep', '/w/a', false],
    ['Read(//**)', 'allow', 'Grep', '/', true],
    ['Read(/a/b)', 'deny', 'Grep', '/w/a', false],
  ]
  assert.deepEqual(
    rows.map(([text, behavior, tool, path]) => {
      const reading = readRule(text, behavior)
      const question = asked(tool, { file_path: path, path })
      return [
        text,
        behavior,
        tool,
        path,
        reading.ok && fileRuleMatches(reading.rule, behavior, fileOf(question)!, question),
      ]
    }),
    rows,
  )
  const file = (tool: string, input: JsonObject) => fileOf(asked(tool, input))
  assert.deepEqual(file('Grep', {}), { kind: 'read', paths: ['/w'], tree: true })
  assert.deepEqual(file('Glob', { pattern: 'a/*' }), { kind: 'read', paths: ['/w/a'], tree: true })
  assert.deepEqual(file('Glob', { path: '/x', pattern: '*' }), { kind: 'read', paths: ['/x'], tree: true })
  assert.deepEqual(file('Grep', { path: 'a', pattern: 'b/*' }), { kind: 'read', paths: ['/w/a'], tree: true })
  assert.deepEqual(file('Read', { file_path: '' }), { kind: 'read', paths: ['/w'], tree: false })
  assert.deepEqual(file('NotebookEdit', { notebook_path: 'a' }), { kind: 'edit', paths: ['/w/a'], tree: false })
  assert.deepEqual([file('Bash', {}), file('toString', {})], [undefined, undefined])
  assert.deepEqual([leadsAsJudged(['/none/a']), leadsAsJudged(['/none/../none/a'])], [true, false])
})

test("a hook's condition that cannot be read applies", async () => {
  const applies = (rule: string, tool: string, input: JsonObject) => matchesRule(rule, asked(tool, input))
  assert.equal(await applies('(', 'Bash', { command: 'ls' }), true)
  assert.equal(await applies('Bash(ls)', 'Bash', { command: 'ls' }), true)
  assert.equal(await applies('Bash(ls)', 'Bash', { command: 'pwd' }), false)
  assert.equal(await applies('Bash(ls)', 'Read', { file_path: 'ls' }), false)
  assert.equal(await applies('Edit(a)', 'Bash', { command: 'touch a' }), true)
  assert.equal(await applies('Bash', 'Bash', { command: 'x' }), true)
})

test('the built-in rule on reading holds for every spelling of a path', () => {
  const reading = readRule('Read(builtin:working-directories)', 'allow')
  const covers = (kind: 'read' | 'edit', ...paths: string[]) =>
    reading.ok && ruleMatches(reading.rule, 'allow', asked('Read', {}), { kind, paths, tree: false })
  assert.deepEqual(
    [covers('read', '/w/a'), covers('read', '/w/a', '/w/.env'), covers('read', '/w/a', '/x/a'), covers('edit', '/w/a')],
    [true, false, false, false],
  )
})
