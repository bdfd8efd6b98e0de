/** What "always" in the dialog would save. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../hooks/shape.ts'
import { fileOf } from '../paths/access.ts'
import type { PermissionQuestion } from '../question.ts'
import { suggest } from './suggest.ts'

const asked = (tool: string, input: JsonObject, more: Partial<PermissionQuestion> = {}): PermissionQuestion => ({
  ...{ settings: {}, mode: 'default', tool, input, hook: 'none', cwd: '/w', projectDir: '/w', home: '/h' },
  ...more,
})

test('what "always" would save', () => {
  const saved = (tool: string, input: JsonObject, uncovered?: readonly string[]) => {
    const question = asked(tool, input)
    return suggest(question, fileOf(question), uncovered)
  }
  const rules = (destination: string, toolName: string, ...contents: string[]) => [
    {
      ...{ type: 'addRules', behavior: 'allow', destination },
      rules: contents.length === 0 ? [{ toolName }] : contents.map((ruleContent) => ({ toolName, ruleContent })),
    },
  ]
  const commands: [uncovered: string, content: string | undefined][] = [
    ['ls -l', 'ls *'],
    ['ls', 'ls *'],
    ['git push origin', 'git push *'],
    ['git', 'git *'],
    ['git -C a push', 'git -C a push'],
    ['git a:b-c', 'git a:b-c *'],
    ['git a/b', 'git a/b'],
    ['gitx push', 'gitx *'],
    ['xgit push', 'xgit *'],
    ['rm a', 'rm a'],
    ['/bin/rm a', '/bin/rm a'],
    ['rmx a', 'rmx *'],
    ['a!b c', 'a!b c'],
    ['xa!b c', 'xa!b c'],
    ['a *', undefined],
    ['a\nb', undefined],
    ['a …', undefined],
    ['a \u0000', undefined],
    ['', undefined],
    ['x'.repeat(500), `${'x'.repeat(500)} *`],
    ['x'.repeat(501), undefined],
  ]
  assert.deepEqual(
    commands.map(([line]) => [line, saved('Bash', {}, [line])]),
    commands.map(([line, is]) => [line, is === undefined ? [] : rules('localSettings', 'Bash', is)]),
  )
  const verbs =
    'git npm pnpm yarn bun deno cargo go docker kubectl gh make just pip pip3 uv poetry dotnet mvn gradle terraform helm brew apt systemctl'
  const narrow =
    'sh bash zsh python python3.12 node perl ruby php lua awk sudo doas su env xargs eval exec find fd fdfind watch setsid flock ionice chroot source . trap alias parallel rm dd mkfs mkfs.ext4 kill killall ssh curl wget'
  for (const name of verbs.split(' '))
    assert.deepEqual(saved('Bash', {}, [`${name} a b`]), rules('localSettings', 'Bash', `${name} a *`))
  for (const name of narrow.split(' '))
    assert.deepEqual(saved('Bash', {}, [`${name} a`]), rules('localSettings', 'Bash', `${name} a`))
  assert.deepEqual(saved('Bash', {}), [])
  assert.deepEqual(
    saved('Bash', {}, ['a', 'b', 'c', 'd', 'e', 'a x']),
    rules('localSettings', 'Bash', 'a *', 'b *', 'c *', 'd *', 'e *'),
  )
  assert.deepEqual(saved('Bash', {}, ['a', 'b', 'c', 'd', 'e', 'f']), [])
  const accept = [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }]
  assert.deepEqual(saved('Edit', { file_path: '/w/a' }), accept)
  assert.deepEqual(
    saved('Write', { file_path: '/x/a*?[b]\\/c' }),
    rules('session', 'Edit', '//x/a\\*\\?\\[b\\]\\\\/**'),
  )
  assert.deepEqual(saved('NotebookEdit', { notebook_path: '/w/a' }), rules('session', 'Edit', '//w/**'))
  assert.deepEqual(saved('Read', { file_path: '/x/a' }), rules('session', 'Read', '//x/**'))
  assert.deepEqual(saved('Read', { file_path: '/a' }), rules('session', 'Read', '//**'))
  assert.deepEqual(saved('Grep', { path: '/x/a' }), rules('session', 'Read', '//x/a/**'))
  assert.deepEqual(saved('WebFetch', { url: 'https://A.b/c' }), rules('localSettings', 'WebFetch', 'domain:a.b'))
  assert.deepEqual(saved('WebFetch', { url: 'no' }), [])
  assert.deepEqual(saved('Skill', { skill: '/a' }), rules('localSettings', 'Skill', 'a'))
  assert.deepEqual(saved('Skill', { skill: 'a', args: 'b' }), rules('localSettings', 'Skill', 'a'))
  assert.deepEqual(saved('Skill', {}), rules('localSettings', 'Skill'))
  assert.deepEqual(saved('WebSearch', { query: 'a' }), rules('localSettings', 'WebSearch'))
  const ofOthers = { skill: 'a', url: 'https://a.b', file_path: '/x/a', path: '/x', command: 'a' }
  assert.deepEqual(saved('mcp__a__b', ofOthers), rules('localSettings', 'mcp__a__b'))
})
