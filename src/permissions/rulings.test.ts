/** Whole rulings: the decision, and the reason that the user, the model and the record get. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { JsonObject } from '../hooks/shape.ts'
import { decide } from './decide.ts'
import { sessionProtectedPaths } from './protected-paths.ts'
import type { PermissionQuestion, PermissionSettings } from './question.ts'
import { builtinRules } from './rules/builtin-rules.ts'

const w = realpathSync(mkdtempSync(join(tmpdir(), 'ona-rulings-')))
after(() => rmSync(w, { recursive: true, force: true }))

type Call = string | readonly [tool: string, input: JsonObject]
type More = Partial<Omit<PermissionQuestion, 'settings'>> & { readonly settings?: Partial<PermissionSettings> }

/** `+` allow, `-` deny, `?` ask, before each rule. */
function questionOf(rules: string, call: Call, { settings, ...more }: More = {}): PermissionQuestion {
  const each = rules.split(/ (?=[+?-](?:[A-Z][a-z]|mcp__))/)
  const list = (sign: string) => each.filter((rule) => rule.startsWith(sign)).map((rule) => rule.slice(1))
  return {
    settings: { allow: list('+'), deny: list('-'), ask: list('?'), ...settings },
    mode: 'default',
    tool: typeof call === 'string' ? 'Bash' : call[0],
    input: typeof call === 'string' ? { command: call } : call[1],
    hook: 'none',
    cwd: '/w',
    projectDir: '/w',
    home: '/h',
    ...more,
  }
}

/** A ruling in one line: `allow by RULE: reason`. */
async function said(rules: string, call: Call, more?: More): Promise<string> {
  const { decision, rule, reason } = await decide(questionOf(rules, call, more))
  const line = `${decision}${rule === undefined ? '' : ` by ${rule}`}: ${reason}`
  return line.replaceAll(w, 'W')
}

/** Each call is ruled as its row says. */
async function hold(rows: readonly (readonly [rules: string, call: Call, is: string, more?: More])[]): Promise<void> {
  const found: string[] = []
  for (const [rules, call, , more] of rows) found.push(await said(rules, call, more))
  assert.deepEqual(
    found,
    rows.map(([, , is]) => is),
  )
}

test('a folder that is removed as a whole is searched for the names that settings, hooks and git are read from', async () => {
  const agent = 'the configuration of a coding agent'
  const git = 'git configuration that can run programs'
  const rows = {
    '.ona': 'part of the settings, hooks and definitions of ona',
    '.claude': 'part of the settings, hooks and definitions of ona and Claude Code',
    ...{ '.claude.json': agent, '.github/hooks': agent, '.github/copilot': agent },
    ...{ '.git/hooks': git, '.git/config': git, '.git/config.worktree': git, '.git/info/attributes': git },
    ...{ '.git/modules': git, '.gitconfig': git },
  }
  const found: Record<string, string> = {}
  for (const [at, name] of Object.keys(rows).entries()) {
    mkdirSync(join(w, `held-${at}`, name), { recursive: true })
    const line = await said('+Bash', `rm -r ${join(w, `held-${at}`)}`)
    found[name] = line.replace(/^ask: `rm -r .*` takes W\/held-\d+ with /, '')
  }
  assert.deepEqual(found, rows)
  mkdirSync(join(w, 'from', '.git', 'hooks'), { recursive: true })
  assert.equal(
    await said('+Bash', `cp -r ${join(w, 'from/.git')} ${join(w, 'held')}`),
    'ask: `cp -r W/from/.git W/held` would put protected files into W/held',
  )
  for (const name of ['.cursor', '.gitmodules', '.gitignore']) mkdirSync(join(w, 'held', name), { recursive: true })
  assert.equal(await said('+Bash', `rm -r ${join(w, 'held')}`), 'allow by Bash: the allow rule "Bash"')
})

test('what is said of rules, hooks, modes and protected paths, of a tool that takes a file', async () => {
  await hold([
    ['+Read', ['Read', { file_path: '/w/a' }], 'allow by Read: the allow rule "Read" matches'],
    [
      '',
      ['Read', { file_path: '/w/a' }],
      'allow by Read(builtin:working-directories): the built-in rule "Read(builtin:working-directories)" matches',
      { settings: { allow: builtinRules } },
    ],
    [
      '',
      ['Read', { file_path: '/etc/a' }],
      'ask: default mode prompts for Read; /etc/a is outside the working directories',
      { settings: { allow: builtinRules } },
    ],
    [
      '',
      ['Read', { file_path: '/w/.env' }],
      'ask: default mode prompts for Read; /w/.env usually holds secrets',
      { settings: { allow: builtinRules } },
    ],
    [
      '',
      ['TodoWrite', {}],
      'allow by TodoWrite: the built-in rule "TodoWrite" matches',
      { settings: { allow: builtinRules } },
    ],
    ['', ['Read', { file_path: '/w/a' }], 'ask: default mode prompts for Read; no rule covers Read'],
    ['', ['TodoWrite', {}], 'ask: default mode prompts for TodoWrite; no rule covers TodoWrite'],
    [
      '-Read(a)',
      ['Read', { file_path: '/w/a' }],
      'deny by Read(a): Permission to use Read has been denied: the deny rule "Read(a)" matches.',
    ],
    ['?Read(a)', ['Read', { file_path: '/w/a' }], 'ask by Read(a): the ask rule "Read(a)" matches'],
    [
      '-Read',
      ['Read', { file_path: '/w/a' }],
      'deny by Read: Permission to use Read has been denied: the deny rule "Read" matches.',
      { mode: 'dontAsk' },
    ],
    [
      '?Read',
      ['Read', { file_path: '/w/a' }],
      'deny by Read: Permission to use Read has been denied because ona is running in don\'t ask mode: the ask rule "Read" matches.',
      { mode: 'dontAsk' },
    ],
    [
      '',
      ['Read', { file_path: '/w/a' }],
      "deny: Permission to use Read has been denied because ona is running in don't ask mode: no rule covers Read.",
      { mode: 'dontAsk' },
    ],
    [
      '',
      ['Write', { file_path: '/w/a' }],
      'deny: Permission to use Write has been denied: plan mode does not allow Write.',
      { mode: 'plan' },
    ],
    [
      '',
      ['Write', { file_path: '/w/a' }],
      'allow: bypassPermissions mode allows what no rule forbids',
      { mode: 'bypassPermissions' },
    ],
    [
      '',
      ['Write', { file_path: '/w/a' }],
      'ask: default mode prompts for Write (bypassPermissions mode is disabled by the settings); no rule covers Write',
      { mode: 'bypassPermissions', settings: { disableBypassPermissionsMode: 'disable' } },
    ],
    [
      '',
      ['Write', { file_path: '/w/a' }],
      'allow: acceptEdits mode allows it in the working directories',
      { mode: 'acceptEdits' },
    ],
    [
      '',
      ['Write', { file_path: '/x/a' }],
      'ask: /x/a is outside the working directories; no rule covers Write',
      { mode: 'acceptEdits' },
    ],
    [
      '',
      ['Write', { file_path: '/w/.vscode/a' }],
      'ask: /w/.vscode/a is a file that can run programs; no rule covers Write',
      { mode: 'acceptEdits' },
    ],
    [
      '',
      ['Read', { file_path: '/w/.vscode/a' }],
      'allow: acceptEdits mode allows it in the working directories',
      { mode: 'acceptEdits' },
    ],
    ['', ['Read', { file_path: '/w/.env' }], 'ask: /w/.env usually holds secrets', { mode: 'acceptEdits' }],
    [
      '',
      ['Write', { file_path: '/w/.env' }],
      'allow: acceptEdits mode allows it in the working directories',
      { mode: 'acceptEdits' },
    ],
    ['+Read', ['Read', { file_path: '/w/a' }], 'deny: a hook denied it', { hook: 'deny' }],
    ['-Read', ['Read', { file_path: '/w/a' }], 'deny: a hook denied it', { hook: 'deny' }],
    ['?Read', ['Read', { file_path: '/w/a' }], 'ask by Read: the ask rule "Read" matches', { hook: 'allow' }],
    ['', ['Read', { file_path: '/w/a' }], 'allow: a hook allowed it', { hook: 'allow' }],
    ['+Read', ['Read', { file_path: '/w/a' }], 'allow by Read: the allow rule "Read" matches', { hook: 'allow' }],
    ['+Read', ['Read', { file_path: '/w/a' }], 'ask: a hook requires a prompt', { hook: 'ask' }],
    ['?Read', ['Read', { file_path: '/w/a' }], 'ask by Read: the ask rule "Read" matches', { hook: 'ask' }],
    [
      '',
      ['Read', { file_path: '/w/a' }],
      "deny: Permission to use Read has been denied because ona is running in don't ask mode: no rule covers Read.",
      { hook: 'ask', mode: 'dontAsk' },
    ],
    ['', ['Read', { file_path: '/w/a' }], 'allow: a hook allowed it', { hook: 'allow', mode: 'dontAsk' }],
    [
      '',
      ['Write', { file_path: '/w/a' }],
      'deny: Permission to use Write has been denied: plan mode does not allow Write.',
      { hook: 'allow', mode: 'plan' },
    ],
    [
      '+Read',
      ['Read', { file_path: '/h/.ona/credentials.json' }],
      "deny: Permission to use Read has been denied: /h/.ona/credentials.json is ona's stored credential, which no tool may read.",
    ],
    [
      '+Edit',
      ['Edit', { file_path: '/h/.ona/settings.json' }],
      "deny: Permission to use Edit has been denied: /h/.ona/settings.json is part of ona's settings, trust, record or credentials, which no tool may change.",
      { mode: 'bypassPermissions' },
    ],
    [
      '+Edit',
      ['Edit', { file_path: '/w/.ona/settings.json' }],
      'ask: /w/.ona/settings.json is part of the settings, hooks and definitions of ona',
    ],
    ['?Edit', ['Edit', { file_path: '/w/.ona/settings.json' }], 'ask by Edit: the ask rule "Edit" matches'],
    [
      '+Edit(.ona/**)',
      ['Edit', { file_path: '/w/.ona/settings.json' }],
      'allow by Edit(.ona/**): the allow rule "Edit(.ona/**)" matches',
    ],
    [
      '+Edit(.*/**)',
      ['Edit', { file_path: '/w/.ona/settings.json' }],
      'ask: /w/.ona/settings.json is part of the settings, hooks and definitions of ona',
    ],
    [
      '+Edit',
      ['Edit', { file_path: '/etc/ona/managed.json' }],
      'deny: Permission to use Edit has been denied: /etc/ona/managed.json is managed settings, which no tool may change.',
    ],
    [
      '+Edit(~/.bashrc)',
      ['Edit', { file_path: '/h/.bashrc' }],
      'allow by Edit(~/.bashrc): the allow rule "Edit(~/.bashrc)" matches',
    ],
    [
      '+Edit',
      ['Edit', { file_path: '/w/.git/config' }],
      'ask: /w/.git/config is git configuration that can run programs',
    ],
    ['+Edit', ['Edit', { file_path: '/w/.mcp.json' }], 'ask: /w/.mcp.json is the configuration of a coding agent'],
    [
      '+Edit',
      ['Edit', { file_path: '/w/hook.sh' }],
      'ask: /w/hook.sh is a file that a hook runs',
      { protect: sessionProtectedPaths({ database: '/w/a.db', hookFiles: ['/w/hook.sh'], plugins: ['/w/plugin'] }) },
    ],
    [
      '+Edit(hook.sh)',
      ['Edit', { file_path: '/w/hook.sh' }],
      'allow by Edit(hook.sh): the allow rule "Edit(hook.sh)" matches',
      { protect: sessionProtectedPaths({ hookFiles: ['/w/hook.sh'] }) },
    ],
    [
      '+Edit',
      ['Edit', { file_path: '/w/a.db' }],
      "deny: Permission to use Edit has been denied: /w/a.db is ona's database, which no tool may change.",
      { protect: sessionProtectedPaths({ database: '/w/a.db' }) },
    ],
    [
      '+Edit',
      ['Edit', { file_path: '/w/a.db-journal' }],
      "deny: Permission to use Edit has been denied: /w/a.db-journal is ona's database, which no tool may change.",
      { protect: sessionProtectedPaths({ database: '/w/a.db' }) },
    ],
    [
      '+Edit',
      ['Edit', { file_path: '/w/plugin/x' }],
      'ask: /w/plugin/x is part of a plugin',
      { protect: sessionProtectedPaths({ plugins: ['/w/plugin'] }) },
    ],
    [
      '+WebFetch(domain:a.com)',
      ['WebFetch', { url: 'https://b.com' }],
      'ask: default mode prompts for WebFetch; no rule covers WebFetch',
    ],
    ['', ['Read', { file_path: '/etc/a' }], 'ask: /etc/a is outside the working directories', { mode: 'acceptEdits' }],
  ])
})

test("what is said of a server's tool, whose input names files", async () => {
  await hold([
    [
      '+mcp__fs -Read(.env)',
      ['mcp__fs__read_file', { path: '.env' }],
      'deny by Read(.env): Permission to use mcp__fs__read_file has been denied: the deny rule "Read(.env)" matches /w/.env.',
    ],
    [
      '+mcp__fs -Edit(src/**)',
      ['mcp__fs__write_file', { path: 'src/a' }],
      'ask by Edit(src/**): the deny rule "Edit(src/**)" matches /w/src/a',
    ],
    [
      '+mcp__fs -Edit(src/**)',
      ['mcp__fs__read_file', { path: 'src/a' }],
      'allow by mcp__fs: the allow rule "mcp__fs" matches',
    ],
    [
      '+mcp__fs ?Read(src/**)',
      ['mcp__fs__read_file', { paths: ['b', 'src/a'] }],
      'ask by Read(src/**): the ask rule "Read(src/**)" matches /w/src/a',
    ],
    [
      '+mcp__fs',
      ['mcp__fs__write_file', { path: '/w/.ona/settings.json' }],
      'ask: /w/.ona/settings.json is part of the settings, hooks and definitions of ona',
    ],
    [
      '+mcp__fs',
      ['mcp__fs__write_file', { path: '/w/.vscode/a.json' }],
      'allow by mcp__fs: the allow rule "mcp__fs" matches',
    ],
    [
      '+mcp__fs',
      ['mcp__fs__get_file', { path: '/w/.ona/settings.json' }],
      'allow by mcp__fs: the allow rule "mcp__fs" matches',
    ],
    [
      '+mcp__fs',
      ['mcp__fs__file_info', { path: '~/.ona/credentials.json' }],
      "deny: Permission to use mcp__fs__file_info has been denied: /h/.ona/credentials.json is ona's stored credential, which no tool may read.",
    ],
    [
      '+mcp__fs',
      ['mcp__fs__write_file', { path: '~/.ona/credentials.json' }],
      "deny: Permission to use mcp__fs__write_file has been denied: /h/.ona/credentials.json is ona's stored credential, which no tool may read.",
    ],
    ['+mcp__fs -Read(.env)', ['mcp__fs__x', { query: '.env' }], 'allow by mcp__fs: the allow rule "mcp__fs" matches'],
    [
      '+mcp__fs -Read(.env)',
      ['mcp__fs__x', { query: './.env' }],
      'deny by Read(.env): Permission to use mcp__fs__x has been denied: the deny rule "Read(.env)" matches /w/.env.',
    ],
    [
      '+mcp__fs -Read(.env)',
      ['mcp__fs__x', { id: '.env' }],
      'ask by Read(.env): the deny rule "Read(.env)" matches /w/.env',
    ],
    ['+mcp__fs -Read(.env)', ['mcp__fs__x', { id: 'see .env' }], 'allow by mcp__fs: the allow rule "mcp__fs" matches'],
    [
      '+mcp__fs -Read(.env)',
      ['mcp__fs__x', { uri: 'file:///w/%2eenv' }],
      'deny by Read(.env): Permission to use mcp__fs__x has been denied: the deny rule "Read(.env)" matches /w/.env.',
    ],
    [
      '+mcp__fs -Read(.env)',
      ['mcp__fs__x', { uri: 'file:///w/%/.env' }],
      'deny by Read(.env): Permission to use mcp__fs__x has been denied: the deny rule "Read(.env)" matches /w/%/.env.',
    ],
    [
      '+mcp__fs -Read(.env)',
      ['mcp__fs__x', { url: 'https://x/.env' }],
      'allow by mcp__fs: the allow rule "mcp__fs" matches',
    ],
    [
      '+mcp__fs -Read(.env)',
      ['mcp__fs__x', { a: { b: [{ file: '.env' }] } }],
      'deny by Read(.env): Permission to use mcp__fs__x has been denied: the deny rule "Read(.env)" matches /w/.env.',
    ],
    [
      '+mcp__fs -Read(.env)',
      ['mcp__fs__x', { a: null, b: 1, c: true, file: '' }],
      'allow by mcp__fs: the allow rule "mcp__fs" matches',
    ],
    ['+mcp__fs', ['mcp__fs__x', { file: 'x'.repeat(5000) }], 'ask: its input is too large to see which files it names'],
    [
      '+ReadMcpResource -Read(.env)',
      ['ReadMcpResource', { uri: 'file:///w/.env' }],
      'deny by Read(.env): Permission to use ReadMcpResource has been denied: the deny rule "Read(.env)" matches /w/.env.',
    ],
  ])
})

test('an input without a command holds none, whatever else stands in its place', async () => {
  const rows = [{}, { command: 5 }, { command: ['ls'] }, { command: null }].map(
    (input) =>
      ['+Bash(5) +Bash(ls)', ['Bash', input], 'ask: default mode prompts for Bash; there is no command in it'] as const,
  )
  await hold(rows)
})

test('what is said of a command line under a mode or a layer of its own', async () => {
  const hookInSrc = sessionProtectedPaths({ hookFiles: ['/w/src/hook.sh'] })
  const added = { additionalDirectories: ['/w'] }
  const deniedEnv =
    'deny by Read(.env): Permission to use Bash has been denied: the deny rule "Read(.env)" matches `cat /w/.env`.'
  await hold([
    [
      '',
      'ls',
      'allow by Bash(builtin:read-only): the built-in rule "Bash(builtin:read-only)"',
      { settings: { allow: builtinRules } },
    ],
    ['+Bash', 'tar cf a.tar src', 'allow by Bash: the allow rule "Bash"', { protect: hookInSrc }],
    ['-Read(.env) +Bash', 'cat /w/.env', deniedEnv, { cwd: '/w/sub' }],
    ['-Read(.env) +Bash', 'cat /w/.env', deniedEnv, { cwd: '/v', projectDir: '/v', origins: ['/w'] }],
    ['-Read(.env) +Bash', 'cat /w/.env', deniedEnv, { cwd: '/v', projectDir: '/v', settings: added }],
    ['-Read(.env) +Bash', 'cat /w/.env', 'allow by Bash: the allow rule "Bash"', { cwd: '/v', projectDir: '/v' }],
    ['+Bash', 'rm -r src', 'ask: `rm -r src` takes /w/src with a file that a hook runs', { protect: hookInSrc }],
    [
      '+Bash(npm test)',
      'npm test && ls',
      'allow by Bash(npm test): the allow rule "Bash(npm test)"',
      { settings: { allow: ['Bash(npm test)', ...builtinRules] } },
    ],
    [
      '+Bash(ls)',
      'ls > out',
      'deny: Permission to use Bash has been denied: out may not be written in this mode.',
      { mode: 'plan' },
    ],
    [
      '-Bash(make install)',
      'make $X > out',
      'deny: Permission to use Bash has been denied: out may not be written in this mode.',
      { mode: 'plan' },
    ],
    [
      '-Bash(make install)',
      'make $X',
      'deny: Permission to use Bash has been denied: plan mode does not allow Bash.',
      { mode: 'plan' },
    ],
    // a rule does not know what such a name will be, even one that is written like it
    ...['$X .git/hooks/a', 'A=1 $X .git/hooks/a'].map((line): [string, string, string, More] => [
      `+Bash(${line})`,
      line,
      `ask: \`${line.replace('A=1 ', '')}\`: /w/.git/hooks/a is git configuration that can run programs`,
      { mode: 'bypassPermissions' },
    ]),
    [
      '-Bash(make install) +Bash',
      'make $X',
      'ask by Bash(make install): `make $X` may be what "Bash(make install)" is about',
      { mode: 'plan' },
    ],
    ['+Bash(cat)', 'cat < a', 'allow by Bash(cat): the allow rule "Bash(cat)"', { mode: 'acceptEdits' }],
    ['+Bash(cat)', 'cat > a', 'allow by Bash(cat): the allow rule "Bash(cat)"', { mode: 'acceptEdits' }],
    [
      '+Bash(git *)',
      'git status',
      'ask: default mode prompts for Bash; git would run in another repository than that of /w',
      { cwd: '/x' },
    ],
    ['+Bash', 'tmux send-keys x', 'allow by Bash: the allow rule "Bash"', { mode: 'bypassPermissions' }],
    ['+Bash', 'tar xf a.tar', 'allow by Bash: the allow rule "Bash"', { fenced: true }],
    [
      '-Edit(secret/**) +Bash',
      'cp -r src $X/y',
      'ask by Edit(secret/**): `cp -r src $X/y` may touch what "Edit(secret/**)" is about',
      { fenced: true },
    ],
    ['+Bash', 'tar xf a.tar', 'allow by Bash: the allow rule "Bash"', { mode: 'bypassPermissions' }],
    [
      '+Bash',
      'tar xf a.tar',
      'ask: `tar xf a.tar` writes files that it does not name, into /w, which settings and hooks are read from',
      { mode: 'bypassPermissions', settings: { disableBypassPermissionsMode: 'disable' } },
    ],
    [
      '+Bash',
      'tmux send-keys x',
      'ask: `tmux send-keys x` acts in another terminal, where no rule is asked',
      { mode: 'bypassPermissions', settings: { disableBypassPermissionsMode: 'disable' } },
    ],
    [
      '+Bash',
      'tar xf a.tar -C /p',
      'ask: `tar xf a.tar -C /p` writes files that it does not name, into /p, which settings and hooks are read from',
      { protect: sessionProtectedPaths({ database: '/p/q/a.db' }) },
    ],
    [
      '+Bash',
      'tar xf a.tar -C /o',
      'ask: `tar xf a.tar -C /o` writes files that it does not name, into /o, which settings and hooks are read from',
      { origins: ['/o/p'] },
    ],
    ...[{ cwd: '/o/p' }, { projectDir: '/o/p' }, { home: '/o/p' }].map((more): [string, string, string, More] => [
      '+Bash',
      'tar xf a.tar -C /o',
      'ask: `tar xf a.tar -C /o` writes files that it does not name, into /o, which settings and hooks are read from',
      more,
    ]),
    ['+Bash', 'tar xf a.tar -C /o', 'allow by Bash: the allow rule "Bash"'],
    [
      '+Bash',
      'rm -r /p',
      "ask: `rm -r /p` takes /p with ona's database",
      { protect: sessionProtectedPaths({ database: '/p/q/a.db' }) },
    ],
    [
      '+Bash',
      'f=$PWD/a.db; sqlite3 $f',
      "ask: it mentions $PWD/a.db, which is ona's database",
      { protect: sessionProtectedPaths({ database: '/w/a.db' }) },
    ],
    [
      '+Bash',
      'f=$HOME/a.db; sqlite3 $f',
      "ask: it mentions $HOME/a.db, which is ona's database",
      { protect: sessionProtectedPaths({ database: '/h/a.db' }) },
    ],
    [
      '+Bash',
      'f=$PWD/b.db; sqlite3 $f',
      'allow by Bash: the allow rule "Bash"',
      { protect: sessionProtectedPaths({ database: '/w/a.db' }) },
    ],
  ])
})

/** The lines of a fixture: `RULES ¦ COMMAND ¦ RULING`. */
function rowsIn(fixture: string, more: More, builtin: More): (readonly [string, string, string, More])[] {
  const text = readFileSync(join(import.meta.dirname, 'shell/fixtures', fixture), 'utf8')
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('# '))
  return lines.map((line) => {
    const [rules = '', command = '', is = ''] = line.split(' ¦ ')
    return rules === '(built-in)' ? ['', command, is, builtin] : [rules === '(none)' ? '' : rules, command, is, more]
  })
}

test('what is said of a command line', async () => {
  await hold(rowsIn('rulings.txt', {}, { settings: { allow: builtinRules } }))
})

test('what is said of folders as a whole, by what is in them now', async () => {
  for (const folder of [
    'src',
    'secret',
    'from/.ona',
    'claude/.claude',
    'mcp',
    'nested',
    'bare/objects',
    'bare/refs',
    'plain',
    'dashed',
    'none',
    'dots',
    'options/--pre=.',
  ])
    mkdirSync(join(w, folder), { recursive: true })
  for (const file of [
    'src/a.ts',
    'secret/key',
    'from/.ona/x',
    'bare/HEAD',
    'plain/x',
    'mcp/.mcp.json',
    'dashed/--checkpoint=1',
    'dashed/x',
    'dots/.profile',
    'options/--pre=./x',
    '.mcp.json',
  ])
    writeFileSync(join(w, file), 'text')
  symlinkSync(join(w, 'secret'), join(w, 'src/to-secret'))
  for (const repository of ['.', 'nested']) execFileSync('git', ['init', '-q', join(w, repository)])
  const own = { cwd: w, projectDir: w }
  const builtin = { ...own, settings: { allow: builtinRules } }
  await hold(rowsIn('folder-rulings.txt', own, builtin))
  // what was found of one folder and rule is not taken for another pair whose names read the same in a row
  mkdirSync(join(w, 'plainRead('))
  writeFileSync(join(w, 'plainRead(', 'x)'), 'text')
  await hold([
    [
      '-Read(Read(x)) -Read(x)) +Bash',
      "grep -r k plain; grep -r k 'plainRead('",
      'ask by Read(x)): `grep -r k \'plainRead(\'` may touch what "Read(x))" is about',
      own,
    ],
  ])
  symlinkSync(join(w, 'plain'), join(w, 'to-home'))
  await hold([
    [
      '+Bash',
      'rm -r to-home',
      "ask: `rm -r to-home` takes W/plain with ona's stored credential",
      { ...own, home: join(w, 'plain') },
    ],
  ])
  const protect = sessionProtectedPaths({ hookFiles: [join(w, 'plainer/hook.sh')] })
  await hold([
    ['+Bash', 'rm -r plain', 'allow by Bash: the allow rule "Bash"', { ...own, protect }],
    [
      '+Bash',
      'rm -r plainer',
      'ask: `rm -r plainer` takes W/plainer with a file that a hook runs',
      { ...own, protect },
    ],
  ])
  const atLogin = (folder: string) =>
    `ask: \`rm -r ~/Library\` takes ${folder} with a file that starts programs at login`
  await hold(['/h', '/g'].map((home) => ['+Bash', 'rm -r ~/Library', atLogin(`${home}/Library`), { ...own, home }]))
  await hold([
    ['+Bash(tar *)', 'tar cf a.tar dashed/*', 'allow by Bash(tar *): the allow rule "Bash(tar *)"', own],
    [
      '+Bash(tar *)',
      'tar cf a.tar ./*',
      'allow by Bash(tar *): the allow rule "Bash(tar *)"',
      { ...own, cwd: join(w, 'dashed') },
    ],
    [
      '+Bash(tar *)',
      'tar cf a.tar *',
      'ask: default mode prompts for Bash; a file whose name is an option is among the words of `tar cf a.tar *`',
      { ...own, cwd: join(w, 'dashed') },
    ],
    [
      '+Bash(tar *)',
      'tar cf a.tar */x',
      'ask: default mode prompts for Bash; a file whose name is an option is among the words of `tar cf a.tar */x`',
      { ...own, cwd: join(w, 'options') },
    ],
    [
      '',
      'rg a */x',
      'ask: default mode prompts for Bash; no rule allows `rg a */x`',
      { ...builtin, cwd: join(w, 'options') },
    ],
    [
      '',
      'rg a *',
      'allow by Bash(builtin:read-only): the built-in rule "Bash(builtin:read-only)"',
      { ...builtin, cwd: join(w, 'options/--pre=.') },
    ],
    [
      '',
      'rg a ./*/x',
      'allow by Bash(builtin:read-only): the built-in rule "Bash(builtin:read-only)"',
      { ...builtin, cwd: join(w, 'options') },
    ],
    [
      '+Bash(tar *)',
      'tar cf a.tar -- *',
      'allow by Bash(tar *): the allow rule "Bash(tar *)"',
      { ...own, cwd: join(w, 'dashed') },
    ],
    [
      '+Bash(git *)',
      'git status',
      'ask: default mode prompts for Bash; git would run in another repository than that of W',
      { ...own, cwd: join(w, 'nested') },
    ],
    [
      '+Bash(git *)',
      'git status',
      'ask: default mode prompts for Bash; git would run in another repository than that of W',
      { ...own, cwd: join(w, 'bare') },
    ],
    [
      '+Bash(git *)',
      'git status',
      'allow by Bash(git *): the allow rule "Bash(git *)"',
      { ...own, cwd: join(w, 'src') },
    ],
    [
      '+Bash(git *)',
      'git status',
      'ask: default mode prompts for Bash; git would run in another repository than that of W',
      { ...own, cwd: '/' },
    ],
  ])
})
