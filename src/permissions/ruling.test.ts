/** The rules of settings, and a whole ruling. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../hooks/shape.ts'
import { decide, judge } from './decide.ts'
import { freshView } from './paths/view.ts'
import type { PermissionQuestion } from './question.ts'
import { builtinRules, isBuiltinRule } from './rules/builtin-rules.ts'
import { rulesOf } from './rules/rules.ts'

const asked = (tool: string, input: JsonObject, more: Partial<PermissionQuestion> = {}): PermissionQuestion => ({
  ...{ settings: {}, mode: 'default', tool, input, hook: 'none', cwd: '/w', projectDir: '/w', home: '/h' },
  ...more,
})

test('rules of settings, with what is said of those that are dropped', () => {
  const { allow, deny, ask, warnings } = rulesOf({
    allow: 'Bash' as never,
    deny: ['Nope', 'Write(a)', 7 as never],
    ask: ['Bash'],
  })
  assert.deepEqual(
    [allow, deny.map(({ text }) => text), ask.map(({ text }) => text)],
    [[], ['Nope', 'Write(a)'], ['Bash']],
  )
  assert.deepEqual(warnings, [
    'Permission rule "Nope" in deny: there is no tool named Nope',
    'Permission rule "Write(a)" in deny: Write(a) is not matched by file permission checks; use Edit(a)',
    'Invalid permission rule 7 in deny was skipped: A rule is a string such as "Bash(npm test *)".',
    'permissions.allow must be a list of rules; it is not, and was skipped',
  ])
  assert.deepEqual(
    builtinRules.filter((rule) => !isBuiltinRule(rule)),
    [],
  )
  assert.deepEqual(rulesOf({ allow: builtinRules }).warnings, [])
})

test('tools that only read, ask or keep a list are allowed by the built-in rules, each by its own', async () => {
  const tools =
    'Agent AskUserQuestion Brief EnterPlanMode ExitPlanMode ListMcpResources ReadMcpResource Skill TaskOutput TaskStop TodoWrite ToolSearch'
  const files = 'Read(builtin:working-directories) Bash(builtin:read-only)'
  assert.deepEqual(builtinRules, `${files} ${tools}`.split(' '))
  for (const tool of tools.split(' '))
    assert.equal((await decide(asked(tool, {}, { settings: { allow: builtinRules } }))).rule, tool)
})

test('a ruling has its paths, its suggestions and its rule', async () => {
  const read = await decide(asked('Read', { file_path: '/x/a' }))
  assert.deepEqual(read, {
    decision: 'ask',
    reason: 'default mode prompts for Read; /x/a is outside the working directories',
    suggestions: [
      {
        type: 'addRules',
        behavior: 'allow',
        destination: 'session',
        rules: [{ toolName: 'Read', ruleContent: '//x/**' }],
      },
    ],
    paths: ['/x/a'],
  })
  assert.deepEqual(await decide(asked('Read', { file_path: '/x/a' }, { settings: { deny: ['Read(//x/**)'] } })), {
    decision: 'deny',
    reason: 'Permission to use Read has been denied: the deny rule "Read(//x/**)" matches.',
    rule: 'Read(//x/**)',
    suggestions: [],
    paths: ['/x/a'],
  })
  assert.deepEqual(await decide(asked('Write', { file_path: 'a' }, { settings: { allow: ['Edit(a)'] } })), {
    decision: 'allow',
    reason: 'the allow rule "Edit(a)" matches',
    rule: 'Edit(a)',
    suggestions: [],
    paths: ['/w/a'],
  })
  assert.deepEqual(await decide(asked('Bash', { command: 'make' }, { mode: 'bypassPermissions' })), {
    decision: 'allow',
    reason: 'bypassPermissions mode allows what no rule forbids',
    suggestions: [],
  })
  assert.ok(!(judge(asked('Read', { file_path: '/x/a' })) instanceof Promise))
  const files = { ...freshView, real: (path: string) => path.replace('/w/link', '/elsewhere') }
  assert.deepEqual((await decide(asked('Read', { file_path: 'link/a' }, { files }))).paths, [
    '/w/link/a',
    '/elsewhere/a',
  ])
})

test('a link with the name of a file with secrets, or to one, is none that the built-in rule covers', async () => {
  const reasonOf = async (from: string, to: string) => {
    const files = { ...freshView, real: (path: string) => (path === `/w/${from}` ? `/w/${to}` : path) }
    const { decision, reason } = await decide(
      asked('Read', { file_path: from }, { files, settings: { allow: builtinRules } }),
    )
    return `${decision}: ${reason}`
  }
  assert.deepEqual(
    [await reasonOf('link', '.env'), await reasonOf('.env', 'plain'), await reasonOf('link', 'plain')],
    [
      'ask: default mode prompts for Read; /w/.env usually holds secrets',
      'ask: default mode prompts for Read; /w/.env usually holds secrets',
      'allow: the built-in rule "Read(builtin:working-directories)" matches',
    ],
  )
})
