/** A file is judged by every place that its name may lead to: the strictest ruling on one of them is the ruling. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../hooks/shape.ts'
import { decide } from './decide.ts'
import { type FileView, freshView } from './paths/view.ts'
import { sessionProtectedPaths } from './protected-paths.ts'
import type { PermissionQuestion, Ruling } from './question.ts'
import { builtinRules } from './rules/builtin-rules.ts'

type Decision = Ruling['decision']
type Call = readonly [tool: string, input: JsonObject]
type Policy = Pick<PermissionQuestion, 'mode' | 'settings'>

const forbidding = { deny: ['Read(secret/**)', 'Edit(locked/**)'], ask: ['Read(asked/**)'] }
const lines = ['cd *', 'cat *', 'cat', 'tee *', 'echo *', 'cp *'].map((pattern) => `Bash(${pattern})`)
const policies: readonly Policy[] = [
  { mode: 'default', settings: { allow: builtinRules, ...forbidding } },
  { mode: 'acceptEdits', settings: { allow: lines, ...forbidding, additionalDirectories: ['/more'] } },
  { mode: 'dontAsk', settings: { allow: [...lines, 'Read(open/**)', 'Edit(open/**)'], deny: ['Read(//out/**)'] } },
  { mode: 'bypassPermissions', settings: { ask: ['Edit(asked/**)'], deny: ['Read(secret/**)'] } },
  { mode: 'default', settings: { allow: ['Read', 'Edit', 'Bash'], deny: ['Edit(/locked/**)'], ask: ['Read(config)'] } },
]
const protect = sessionProtectedPaths({ hookFiles: ['/w/hook.sh'] })

async function decisionOf(policy: Policy, [tool, input]: Call, files: FileView = freshView): Promise<Decision> {
  const place = { cwd: '/w', projectDir: '/w', home: '/h', protect, files }
  const { decision } = await decide({ ...policy, tool, input, hook: 'none', ...place })
  return decision
}
const strictest = (decisions: readonly Decision[]): Decision =>
  (['deny', 'ask'] as const).find((each) => decisions.includes(each)) ?? 'allow'

const bash = (command: string): Call => ['Bash', { command }]

test('a link is judged by its name and by where it leads', async () => {
  const names = [
    ...['/w/a', '/w/.env', '/w/.ona/x', '/w/.vscode/x', '/w/hook.sh', '/w/secret/k', '/w/locked/k', '/w/asked/k'],
    ...['/w/open/k', '/more/a', '/out/x', '/h/.ona/x', '/h/.ona/credentials.json'],
  ]
  const calls: readonly ((path: string) => Call)[] = [
    (path) => ['Read', { file_path: path }],
    (path) => ['Write', { file_path: path }],
    (path) => ['mcp__server__write', { path }],
    (path) => bash(`cat ${path}`),
    (path) => bash(`echo x > ${path}`),
    (path) => bash(`cat < ${path}`),
    (path) => bash(`tool ${path}`),
  ]
  const plain: FileView = { ...freshView, real: (path) => path }
  const wrong: string[] = []
  for (const policy of policies)
    for (const call of calls) {
      const alone = new Map<string, Decision>()
      for (const name of names) alone.set(name, await decisionOf(policy, call(name), plain))
      for (const name of names)
        for (const to of names) {
          const link: FileView = { ...freshView, real: (path) => (path === name ? to : path) }
          const decision = await decisionOf(policy, call(name), link)
          if (decision !== strictest([alone.get(name)!, alone.get(to)!]))
            wrong.push(`${policy.mode}: ${JSON.stringify(call(name))} → ${to}: ${decision}`)
        }
    }
  assert.deepEqual(wrong, [])
})

test('after cd a name is judged in the folder that the line was in and in the one that it moves to', async () => {
  const folders = [
    '/w/sub',
    '/w/.ona',
    '/w/.git',
    '/w/secret',
    '/w/locked',
    '/w/asked',
    '/w/open',
    '/more',
    '/out',
    '/h/.ona',
  ]
  const names = ['a', '.env', 'config', 'hook.sh', 'credentials.json']
  const commands = ['cat X', 'tee X', 'echo x > X', 'cat < X', 'cp a X', 'tool X']
  const known = new Map<string, Promise<Decision>>()
  const alone = (policy: Policy, line: string): Promise<Decision> => {
    const key = `${policies.indexOf(policy)} ${line}`
    const found = known.get(key) ?? decisionOf(policy, bash(line))
    known.set(key, found)
    return found
  }
  const wrong: string[] = []
  for (const policy of policies)
    for (const folder of folders)
      for (const command of commands)
        for (const name of names) {
          const [here, there] = [command.replace('X', name), command.replace('X', `${folder}/${name}`)]
          const moved = `cd ${folder} && ${here}`
          const decision = await decisionOf(policy, bash(moved))
          const parts = [await alone(policy, here), await alone(policy, there), await alone(policy, `cd ${folder}`)]
          if (decision !== strictest(parts)) wrong.push(`${policy.mode}: ${moved}: ${decision} of ${parts}`)
        }
  assert.deepEqual(wrong, [])
})
