/** Whole values of the small parts: suggestions, modes, updates, secrets, names in the input of a server's tool. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PermissionMode } from '../hooks/plane.ts'
import type { JsonObject } from '../hooks/shape.ts'
import { builtinRules, isBuiltinRule } from './builtin-rules.ts'
import { decide, judge } from './decide.ts'
import { namesTool, ruleMatches } from './match.ts'
import { isWider, modeInForce, modeSays, modes } from './modes.ts'
import { namedFilesFinding } from './named-files.ts'
import { fileOf, fileRuleMatches, leadsAsJudged } from './paths/access.ts'
import { mayBeProtected, protectionOf, sessionProtectedPaths } from './protected-paths.ts'
import { protectedFinding, protectionFor } from './protection.ts'
import type { PermissionQuestion, PermissionSettings } from './question.ts'
import { readRule } from './rule.ts'
import { matchesRule } from './rule-applies.ts'
import { rulesOf } from './rules.ts'
import { searchable } from './searchable.ts'
import { isSecretFile } from './secret-files.ts'
import { suggest } from './suggest.ts'
import { applyUpdates, withGranted } from './update.ts'

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
  assert.deepEqual(saved('Write', { file_path: '/x/a*b/c' }), rules('session', 'Edit', '//x/a\\*b/**'))
  assert.deepEqual(saved('NotebookEdit', { notebook_path: '/w/a' }), rules('session', 'Edit', '//w/**'))
  assert.deepEqual(saved('Read', { file_path: '/x/a' }), rules('session', 'Read', '//x/**'))
  assert.deepEqual(saved('Read', { file_path: '/a' }), rules('session', 'Read', '//**'))
  assert.deepEqual(saved('Grep', { path: '/x/a' }), rules('session', 'Read', '//x/a/**'))
  assert.deepEqual(saved('WebFetch', { url: 'https://A.b/c' }), rules('localSettings', 'WebFetch', 'domain:a.b'))
  assert.deepEqual(saved('WebFetch', { url: 'no' }), [])
  assert.deepEqual(saved('Skill', { skill: '/a' }), rules('localSettings', 'Skill', 'a'))
  assert.deepEqual(saved('Skill', {}), rules('localSettings', 'Skill'))
  assert.deepEqual(saved('WebSearch', { query: 'a' }), rules('localSettings', 'WebSearch'))
})

test('modes, from the narrowest to the widest, and what each says', () => {
  const all: PermissionMode[] = ['dontAsk', 'plan', 'default', 'acceptEdits', 'bypassPermissions']
  assert.deepEqual([...modes].sort(), [...all].sort())
  for (const [at, mode] of all.entries())
    assert.deepEqual(
      all.filter((than) => isWider(mode, than)),
      all.slice(0, at),
      mode,
    )
  const off = { disableBypassPermissionsMode: 'disable' } as const
  assert.deepEqual(
    [modeInForce('bypassPermissions', off), modeInForce('bypassPermissions', {}), modeInForce('plan', off)],
    ['default', 'bypassPermissions', 'plan'],
  )
  const says = (mode: PermissionMode, tool: string, input: JsonObject = {}, settings: PermissionSettings = {}) => {
    const question = asked(tool, input, { mode, settings })
    const { word, why } = modeSays(question, fileOf(question))
    return `${word}: ${why}`
  }
  assert.deepEqual(
    [
      says('bypassPermissions', 'Bash'),
      says('dontAsk', 'Bash'),
      ...['Write', 'Edit', 'Bash', 'NotebookEdit', 'Read'].map((tool) => says('plan', tool)),
      says('default', 'WebFetch'),
      says('bypassPermissions', 'Bash', {}, off),
      says('acceptEdits', 'Bash'),
      says('acceptEdits', 'Edit', { file_path: '/w/a' }),
      says('acceptEdits', 'Write', { file_path: '/x/a' }),
      says('acceptEdits', 'Edit', { file_path: '/w/.vscode/a' }),
      says('acceptEdits', 'Read', { file_path: '/w/.vscode/a' }),
      says('acceptEdits', 'Read', { file_path: '/w/.env' }),
      says('acceptEdits', 'Edit', { file_path: '/w/.env' }),
      says('acceptEdits', 'NotebookEdit', { notebook_path: '/w/a' }),
    ],
    [
      'allow: bypassPermissions mode allows what no rule forbids',
      "deny: don't ask mode denies what no rule allows",
      ...['Write', 'Edit', 'Bash', 'NotebookEdit'].map((tool) => `deny: plan mode does not allow ${tool}`),
      'ask: plan mode prompts for Read',
      'ask: default mode prompts for WebFetch',
      'ask: default mode prompts for Bash (bypassPermissions mode is disabled by the settings)',
      'ask: acceptEdits mode prompts for Bash',
      'allow: acceptEdits mode allows it in the working directories',
      'ask: /x/a is outside the working directories',
      'ask: /w/.vscode/a is a file that can run programs',
      'allow: acceptEdits mode allows it in the working directories',
      'ask: /w/.env usually holds secrets',
      'allow: acceptEdits mode allows it in the working directories',
      'ask: acceptEdits mode prompts for NotebookEdit',
    ],
  )
})

test("the files that the input of a server's tool names", () => {
  const settings = { deny: ['Read(secret)', 'Edit(locked)'], ask: ['Read(private)'] }
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
    [{ x: 'a secret' }, undefined],
    [{ query: 'secret' }, undefined],
    [{ query: './secret' }, denied],
    [{ path: '' }, undefined],
    [{ path: 'a\nb/secret' }, 'deny: the deny rule "Read(secret)" matches /w/a\nb/secret'],
    [{ x: './a\nb/secret' }, undefined],
    [{ PATH: 'secret' }, denied],
    [{ paths: ['a', 'secret'] }, denied],
    [{ a: { b: { file: 'secret' } } }, denied],
    [{ a: 'secret', path: 'secret' }, denied],
    [{ path: 'secret', a: 'secret' }, denied],
    [{ path: 'private' }, 'ask: the ask rule "Read(private)" matches /w/private'],
    [{ path: 'locked' }, 'ask: the deny rule "Edit(locked)" matches /w/locked'],
    [{ path: 'locked' }, undefined, 'mcp__s__read_file'],
    [{ path: 'secret' }, denied, 'mcp__s__read_file'],
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
  const deep = (depth: number): JsonObject => (depth === 0 ? { x: 'y z' } : { a: deep(depth - 1) })
  assert.deepEqual([found(deep(49)), found(deep(50))], [undefined, large])
  assert.deepEqual(
    [found({ path: 'x'.repeat(4096) }), found({ path: 'x'.repeat(4097) }), found({ x: 'x'.repeat(4097) })],
    [undefined, large, undefined],
  )
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

test('protected paths, by the strictest row, and which rules name them', () => {
  const protect = sessionProtectedPaths({ database: '/d/x.db', hookFiles: ['/w/hook.sh'], plugins: ['/w/plugin'] })
  const row = (path: string) => {
    const found = protectionOf(path, '/h', protect)
    return found && `${found.edit}${found.read ? ' unread' : ''}: ${found.what}`
  }
  const rows: [path: string, is: string | undefined][] = [
    ['/d/x.db', "deny: ona's database"],
    ['/d/x.db-wal', "deny: ona's database"],
    ['/d/x.db-shm', "deny: ona's database"],
    ['/d/x.db-journal', "deny: ona's database"],
    ['/d/x.db2', undefined],
    ['/w/hook.sh', 'ask: a file that a hook runs'],
    ['/w/plugin/a', 'ask: part of a plugin'],
    ['/h/.ona/credentials.json', "deny unread: ona's stored credential"],
    ['/h/.ona/x', "deny: part of ona's settings, trust, record or credentials"],
    ['/h/.ona/skills/x', 'ask: a definition that later sessions load'],
    ['/h/.ona/worktrees/x', undefined],
    ['/h/.ona/worktrees/.ona/x', 'ask: part of the settings, hooks and definitions of ona'],
    ['/w/.ONA/x', 'ask: part of the settings, hooks and definitions of ona'],
    ['/w/.onax', undefined],
    ['/w/x.ona', undefined],
    ['/w/.git/hooks/x', 'ask: git configuration that can run programs'],
    ['/w/.git/x', 'mode: a file that can run programs'],
    ['/x/h/.bashrc', 'mode: a file that can run programs'],
    ['/h/.bashrc', 'ask: a file that starts programs at login'],
    ['/etc/ona/x', 'deny: managed settings'],
    ['/x/etc/ona', undefined],
    ['/w/a', undefined],
  ]
  assert.deepEqual(
    rows.map(([path]) => [path, row(path)]),
    rows,
  )
  assert.deepEqual(sessionProtectedPaths({}), [])
  assert.deepEqual([mayBeProtected('/h/.ona/worktrees/x', '/h'), mayBeProtected('/w/a', '/h')], [true, false])
  assert.equal(protectionOf('/other/.ssh/x', '/h')?.what, undefined)
  assert.equal(protectionOf('/other/.ssh/x', '/other')?.edit, 'ask')
  const access = (kind: 'read' | 'edit', ...paths: string[]) => ({ kind, paths, tree: false })
  const question = asked('Edit', {}, { protect })
  assert.equal(protectionFor(access('edit', '/w/.git/x', '/w/hook.sh', '/d/x.db'), question)?.edit, 'deny')
  assert.equal(protectionFor(access('edit', '/w/.git/x', '/w/hook.sh'), question)?.edit, 'ask')
  assert.equal(protectionFor(access('edit', '/w/a', '/w/.git/x'), question)?.edit, 'mode')
  const finding = (kind: 'read' | 'edit', path: string, ...allow: string[]) => {
    const found = protectedFinding(access(kind, path), question, rulesOf({ allow }))
    return found && `${found.word}: ${found.why}`
  }
  assert.deepEqual(
    [
      finding('read', '/h/.ona/credentials.json'),
      finding('read', '/h/.ona/x'),
      finding('edit', '/h/.ona/x', 'Edit(~/.ona/**)'),
      finding('edit', '/w/.git/x'),
      finding('edit', '/w/.ona/x'),
      finding('edit', '/w/.ona/x', 'Edit(.ona/**)'),
      finding('edit', '/w/.ona/x', 'Edit'),
      finding('edit', '/w/.ona/x', 'Edit(**)'),
      finding('edit', '/w/.ona/x', 'Edit(.ona/y)'),
      finding('edit', '/w/hook.sh', 'Edit(hook.sh)'),
      finding('edit', '/w/hook.sh', 'Edit(/w/**)'),
    ],
    [
      "deny: /h/.ona/credentials.json is ona's stored credential, which no tool may read",
      undefined,
      "deny: /h/.ona/x is part of ona's settings, trust, record or credentials, which no tool may change",
      undefined,
      'ask: /w/.ona/x is part of the settings, hooks and definitions of ona',
      undefined,
      'ask: /w/.ona/x is part of the settings, hooks and definitions of ona',
      'ask: /w/.ona/x is part of the settings, hooks and definitions of ona',
      'ask: /w/.ona/x is part of the settings, hooks and definitions of ona',
      undefined,
      'ask: /w/hook.sh is a file that a hook runs',
    ],
  )
})

test('names that usually hold secrets, and names like them that do not', () => {
  const secret =
    '/a/.env /a/.env.x /a/x.env /a/ID_RSA /a/x.pem /a/credentials.yaml /a/credentials.yml.enc /a/secrets.yaml /a/service-account-x.json /a/client_secret_x.json /h/.ssh/config /h/.SSH/x /h/.config/gh/x /proc/1/environ /proc/self/task/2/mem /proc/1/fd/3 /a/.ssh'
  const open =
    '/a/.env.example /a/x.pub /h/.ssh/x.pub /a/env /a/xid_rsa /a/id_rsax /a/pem /a/x.pemx /a/credentials.xml /a/.sshx/y /a/x.ssh/y /proc/1/status /proc/environ /x/proc/1/environ /proc/1/environx /a/secrets.txt /a/my-service-account.json /a/.env.sample /a/.env.template /a/.env.dist'
  assert.deepEqual(
    secret.split(' ').filter((path) => !isSecretFile(path)),
    [],
  )
  assert.deepEqual(open.split(' ').filter(isSecretFile), [])
})

test('settings after updates, and with what a skill brings', () => {
  const rules = (toolName: string) => [{ toolName }]
  const at = { behavior: 'allow', destination: 'session' } as const
  const settings = { allow: ['A_a', 'B_b'], additionalDirectories: ['/a', '/b'] }
  const after = (...updates: Parameters<typeof applyUpdates>[1]) => applyUpdates(settings, updates)
  assert.deepEqual(after({ type: 'addRules', rules: rules('A_a'), ...at }).settings.allow, ['B_b', 'A_a'])
  assert.deepEqual(after({ type: 'replaceRules', rules: rules('C_c'), ...at }).settings.allow, ['C_c'])
  assert.deepEqual(after({ type: 'removeRules', rules: rules('A_a'), ...at }).settings.allow, ['B_b'])
  assert.deepEqual(
    after({ type: 'addDirectories', directories: ['/a', '/c'], destination: 'session' }).settings.additionalDirectories,
    ['/b', '/a', '/c'],
  )
  assert.deepEqual(
    after({ type: 'removeDirectories', directories: ['/a'], destination: 'session' }).settings.additionalDirectories,
    ['/b'],
  )
  assert.deepEqual(after({ type: 'setMode', mode: 'plan', destination: 'session' }), {
    settings,
    mode: 'plan',
    warnings: [],
  })
  assert.deepEqual(applyUpdates({}, [{ type: 'addRules', rules: rules('A_a'), ...at }]).settings, { allow: ['A_a'] })
  assert.deepEqual(withGranted({ allow: ['A_a'] }, ['B_b']), { allow: ['A_a', 'B_b'] })
  assert.deepEqual(withGranted({}, ['B_b']), { allow: ['B_b'] })
  const managed = { allowManagedPermissionRulesOnly: true }
  assert.equal(withGranted(managed, ['B_b']), managed)
  assert.equal(withGranted(settings, []), settings)
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

test('a search shows what Read would show', () => {
  const may = (settings: PermissionSettings, path: string, more: object = {}) =>
    searchable({ settings, mode: 'default', cwd: '/w', projectDir: '/w', home: '/h', ...more })(path)
  const protect = [{ at: 'exact', path: '/w/.env', edit: 'deny', read: 'deny', what: 'x' }] as const
  assert.deepEqual(
    [
      may({}, '/w/a'),
      may({}, '/w/.env'),
      may({ allow: ['Read'] }, '/w/.env'),
      may({ allow: ['Edit'] }, '/w/.env'),
      may({ allow: ['Read(.env)'] }, '/w/.env'),
      may({ allow: ['Read'] }, '/w/.env', { protect }),
      may({ deny: ['Bash(ls)'] }, '/w/a'),
      may({ deny: ['Edit(a)'] }, '/w/a'),
      may({ deny: ['Read(a)'] }, '/w/a'),
      may({ ask: ['Read(a)'] }, '/w/b'),
      may({ ask: ['Read(b)'] }, '/w/b'),
    ],
    [true, false, true, false, true, false, true, true, false, true, false],
  )
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
  assert.ok(!(judge(asked('Read', { file_path: '/x/a' })) instanceof Promise))
})
