import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { slashCommands } from '../../src/tui/commands/table.ts'
import { startScripted } from '../support/model/tui-model.ts'
import { hasTmux, newPlace, openOna, pipeOna, stopTmux } from '../support/terminal.ts'

after(stopTmux)

/** What each command shows in a session that has had one answer. Those that end or change the session are further down. */
const shows: Record<string, { line: string; piped: RegExp; terminal?: RegExp }> = {
  help: { line: '/help', piped: /^ {2}\/add-dir <path>/m, terminal: /Keys/ },
  effort: { line: '/effort', piped: /^effort: auto \(rehearsal takes none\)/m, terminal: /effort: auto/ },
  model: { line: '/model', piped: /^model: rehearsal \(lm_studio_local/m, terminal: /Which model\?/ },
  status: { line: '/status', piped: /^Credentials: +none needed$/m },
  login: { line: '/login', piped: /needs a terminal/, terminal: /How do you want to sign in\?/ },
  config: { line: '/config', piped: /^mode=default/m, terminal: /Preferences/ },
  compact: { line: '/compact keep the names', piped: /[Cc]ompact/ },
  context: { line: '/context', piped: /^Context: about .* tokens \(\d+%\)/m },
  cost: {
    line: '/cost',
    piped: /^Total cost: +\$0\.00$[\s\S]*^Total code changes: {4}0 lines added[\s\S]*\(costs nothing\)/m,
  },
  usage: { line: '/usage', piped: /^The last seven days.*\n.*: \d+ (reply|replies), /m },
  rewind: {
    line: '/rewind',
    piped: /^1\. hello|no prompt to go back to/m,
    terminal: /Go back to before which prompt|no prompt/,
  },
  rename: { line: '/rename my session', piped: /This session is now "my session"/ },
  plan: { line: '/plan', piped: /Planning/ },
  test: { line: '/test', piped: /Still in planning:/ },
  verify: { line: '/verify', piped: /===\n+there is no approved plan.*\n$/, terminal: /there is no approved plan/ },
  rate: { line: '/rate 4 the form', piped: /Rated 4 of 5/ },
  permissions: { line: '/permissions', piped: /^allow:$/m, terminal: /Add a rule: allow/ },
  hooks: { line: '/hooks', piped: /No hooks/, terminal: /Add a hook/ },
  mcp: { line: '/mcp', piped: /No MCP servers/ },
  agents: { line: '/agents', piped: /^general-purpose/m },
  skills: { line: '/skills', piped: /No skills|^\//m },
  memory: { line: '/memory', piped: /^file .*ONA\.md/m, terminal: /Instructions and memories/ },
  init: { line: '/init', piped: /I am the built-in|I do not understand/ },
  review: { line: '/review', piped: /I am the built-in|I do not understand/ },
  'security-review': { line: '/security-review', piped: /I am the built-in|I do not understand/ },
  'add-dir': { line: '/add-dir ..', piped: /Also working in/ },
  export: { line: '/export', piped: /in summary:/, terminal: /Export the conversation/ },
  copy: { line: '/copy', piped: /For real work/, terminal: /Copied \d+ characters/ },
  diff: { line: '/diff', piped: /^new: fresh\.txt$/m, terminal: /uncommitted changes/ },
  doctor: { line: '/doctor', piped: /agent\.db: ok/ },
  theme: { line: '/theme', piped: /^theme: \w+; there are dark, light/m, terminal: /Which colours\?/ },
  sandbox: { line: '/sandbox', piped: /Commands are not sandboxed/ },
  plugin: { line: '/plugin', piped: /^No plugin is installed/m },
  keybindings: { line: '/keybindings', piped: /^ctrl\+r .*search/m },
  vim: { line: '/vim', piped: /vim keys: on/ },
  statusline: { line: '/statusline', piped: /The usual line/, terminal: /Which command prints the line/ },
  'output-style': { line: '/output-style', piped: /^output style: default/m, terminal: /How should the agent write/ },
  tasks: { line: '/tasks', piped: /Nothing runs in the background/ },
  todos: { line: '/todos', piped: /No todos/ },
  btw: { line: '/btw what is this', piped: /I am the built-in|I do not understand/ },
  'release-notes': { line: '/release-notes', piped: /^.{130,}$/m, terminal: /\d\.\d/ },
  bug: { line: '/bug it broke', piped: /it broke/ },
}
const endings = ['exit', 'clear', 'logout', 'resume', 'branch']

test('every command is in one of the tables of this file', () => {
  assert.deepEqual(slashCommands.map(({ name }) => name).sort(), [...Object.keys(shows), ...endings].sort())
})

const newProject = () => {
  const place = newPlace({ 'a.txt': 'one\n', 'CHANGELOG.md': '# Changes\n' })
  execFileSync('git', ['init', '-q'], { cwd: place.project })
  writeFileSync(join(place.project, 'fresh.txt'), 'x')
  return place
}

test('every command works over a pipe, without one escape code', async () => {
  const place = newProject()
  const lines = Object.values(shows).flatMap(({ line }) => [`/bug ===${line}===`, line])
  const { out, err, code } = await pipeOna(place, ['hello', ...lines, '/bug ===end===', '/exit'])
  assert.deepEqual([code, err], [0, ''])
  assert.doesNotMatch(out, /\x1b/)
  for (const [name, { line, piped }] of Object.entries(shows)) {
    const from = out.indexOf(`===${line}===`)
    const part = out.slice(from, out.indexOf('Put this into your report', from))
    assert.match(part, piped, `/${name}`)
    assert.doesNotMatch(part, / failed: /, `/${name}`)
  }
  place.remove()
})

test('every command works on a terminal', { skip: hasTmux() ? false : 'tmux is not installed' }, async () => {
  const place = newProject()
  const ona = openOna(place, { columns: 110, rows: 50, words: ['hello'] })
  await ona.until(/For real work[\s\S]*❯ ask/)
  for (const [name, { line, piped, terminal }] of Object.entries(shows)) {
    ona.type(line)
    ona.keys('Enter')
    // what a command prints stands two cells to the right
    const indented = new RegExp((terminal ?? piped).source.replaceAll('^', '^ {2}'), 'm')
    await ona.until(indented).catch((cause: Error) => {
      throw new Error(`/${name}: ${cause.message}`)
    })
    if (terminal && !/Copied|Keys/.test(terminal.source)) ona.keys('Escape')
    await ona.until(/❯ ask/)
    ona.keys('C-l')
    await ona.until(/^\n*─+\n❯ ask/)
  }
  ona.type('/nope')
  ona.keys('Enter')
  await ona.until(/❯ \/nope\n {2}Unknown command: \/nope/)
  ona.type('/quit')
  ona.keys('Enter')
  await ona.until(/LEFT WITH 0/)
  place.remove()
})

test('an unknown command is named, with the nearest one, and nothing reaches the model', async () => {
  const place = newPlace()
  const { out } = await pipeOna(place, ['/hepl', '/zzzzzz', '/usr/bin/env is a path'])
  assert.match(out, /Unknown command: \/hepl\. Did you mean \/help\?/)
  assert.match(out, /Unknown command: \/zzzzzz\. \/help lists them/)
  assert.deepEqual(place.query("SELECT count(*) AS n FROM transcript_entries WHERE entry_type = 'user'"), [{ n: 1 }])
  place.remove()
})

test('/clear ends one session and begins another, and the hooks of both events run', async () => {
  const hook = (event: string) => ({ hook_event_name: event, matcher: '', command: 'cat >> ../events.log' })
  const place = newPlace({
    '~/.ona/settings.json': JSON.stringify({ hooks: [hook('SessionStart'), hook('SessionEnd')] }),
  })
  const { out } = await pipeOna(place, ['hello', '/new', '/status', 'hello again', '/reset', '/clear'])
  const log = readFileSync(join(place.project, '..', 'events.log'), 'utf8')
  const events = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    events.map(({ hook_event_name, source, reason }) => [hook_event_name, source ?? reason]),
    [
      ['SessionStart', 'startup'],
      ['SessionEnd', 'clear'],
      ['SessionStart', 'clear'],
      ['SessionEnd', 'clear'],
      ['SessionStart', 'clear'],
      ['SessionEnd', 'clear'],
      ['SessionStart', 'clear'],
      ['SessionEnd', 'prompt_input_exit'],
    ],
  )
  assert.equal(new Set(events.map(({ session_id }) => session_id)).size, 4)
  assert.match(out, /The old one is kept: \/resume/)
  place.remove()
})

test('/resume goes back to an earlier session, /branch goes on in a copy', async () => {
  const place = newPlace()
  await pipeOna(place, ['hello', '/rename first'])
  const { out } = await pipeOna(place, [
    '/resume',
    '/resume first',
    '/branch second',
    'hello again',
    '/resume nothing-like-this',
  ])
  assert.match(out, /first \(just now · 2 messages · hello\)/)
  assert.match(out, /Resumed [\w-]+ \(2 messages, phase idle\)/)
  assert.match(out, /A copy of the session\. The original is kept/)
  assert.match(out, /No session matches "nothing-like-this"/)
  const rows = place.query<{ n: number }>(
    "SELECT count(*) AS n FROM transcript_entries WHERE entry_type = 'assistant' GROUP BY session_id ORDER BY 1",
  )
  assert.deepEqual(rows, [{ n: 1 }, { n: 2 }])
  place.remove()
})

test('/model changes model and provider at once, and --save keeps them', async () => {
  const place = newPlace()
  const env = { OPENAI_API_KEY: 'sk-test-0123456789', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }
  const { out } = await pipeOna(
    place,
    ['/model rehearsal', '/model gpt_4o_mini --save', '/model no_such_model', '/status'],
    ['--model', 'rehearsal'],
    env,
  )
  assert.match(out, /Model: rehearsal \(lm_studio_local\)/)
  assert.match(out, /Model: gpt-4o-mini \(openai_compatible\)/)
  assert.match(out, /no_such_model/)
  assert.match(out, /^Model: +gpt-4o-mini/m)
  assert.doesNotMatch(out, /sk-test-0123456789/)
  const saved = JSON.parse(readFileSync(join(place.home, '.ona', 'settings.json'), 'utf8'))
  assert.deepEqual(saved, { model_config: { provider: 'openai_compatible', model_id: 'gpt_4o_mini' } })
  place.remove()
})

test('/permissions and /hooks write settings that the next start uses, and refuse what makes no sense', async () => {
  const place = newPlace()
  const first = await pipeOna(place, [
    '/permissions allow Bash(echo:*)',
    '/permissions deny Bash(',
    '/permissions nonsense',
    'run echo allowed-now',
    '/hooks add PreToolUse Bash echo no >&2; exit 2',
    '/hooks add NoSuchEvent Bash true',
    '/hooks',
    '/hooks add Stop * true',
    '/hooks remove 2',
    '/permissions',
  ])
  assert.match(first.out, /allow Bash\(echo:\*\): in force now, saved in \.ona\/settings\.local\.json/)
  assert.match(first.out, /Bash\(echo allowed-now\): ran/)
  assert.match(first.out, /error: Bash\(: /)
  assert.match(first.out, /usage: \/permissions/)
  assert.match(first.out, /NoSuchEvent/)
  assert.match(first.out, /1\. PreToolUse Bash: echo no >&2; exit 2 \(local; this folder is not trusted\)/)
  assert.match(first.out, /Removed from .*settings\.local\.json/)
  const second = await pipeOna(
    place,
    [
      '/permissions',
      'run echo x',
      '/permissions remove Bash(echo:*)',
      '/hooks add Stop * true',
      '/hooks',
      '/hooks remove 2',
      '/hooks remove 1',
      '/hooks',
    ],
    ['--trust'],
  )
  assert.match(second.out, /Bash\(echo:\*\) +.*settings\.local\.json/)
  assert.match(second.out, /^ {2}Read\(builtin:working-directories\) +built-in$/m)
  assert.match(second.out, /denied/)
  assert.match(second.out, /1\. PreToolUse Bash: echo no >&2; exit 2 \(local\)/)
  assert.match(second.out, /2\. Stop \*: true \(local; from the next start on\)/)
  assert.match(second.out, /1\. PreToolUse Bash: .* \(local; removed, runs until ona is restarted\)\n$/)
  const saved = JSON.parse(readFileSync(join(place.project, '.ona', 'settings.local.json'), 'utf8'))
  assert.deepEqual([saved.permissions.allow.includes('Bash(echo:*)'), saved.hooks], [false, []])
  place.remove()
})

test('/config shows, changes for now, and for good with --save', async () => {
  const place = newPlace()
  const { out } = await pipeOna(place, [
    '/config mode=plan',
    '/config mode',
    '/config theme=light --save',
    '/settings mode=nonsense',
    '/config nonsense=1',
  ])
  assert.match(out, /mode=plan, for now\nmode=plan\n/)
  assert.match(out, /mode is one of default, acceptEdits/)
  assert.match(out, /there is no preference "nonsense"/)
  assert.deepEqual(JSON.parse(readFileSync(join(place.home, '.ona', 'settings.json'), 'utf8')), { theme: 'light' })
  place.remove()
})

test('/context: what fills the window adds up to what is used', async () => {
  const place = newPlace()
  const { out } = await pipeOna(place, ['hello', '/context'])
  const number = (name: string) => {
    const [, digits, kilo] = new RegExp(`${name} +([\\d.]+)(k?)`).exec(out)!
    return Number(digits) * (kilo ? 1000 : 1)
  }
  const parts = ['system prompt', 'tools', 'your words', "the agent's words", 'tool results'].map(number)
  const sum = parts.reduce((all, one) => all + one, 0)
  assert.ok(Math.abs(sum - number('Context: about')) < 60, out)
  place.remove()
})

test('/export FILE writes the conversation, /rewind NUMBER goes back', async () => {
  const place = newPlace()
  const { out } = await pipeOna(place, ['hello', '/export talk.txt', '/rewind 1', '/context', '/rewind 9'])
  assert.match(readFileSync(join(place.project, 'talk.txt'), 'utf8'), /^> hello\n\nI am the built-in/)
  assert.match(out, /Went back to before "hello" \(conversation\)/)
  assert.match(out, /there is no prompt to go back to|There is no prompt to go back to yet|there is no prompt 9/)
  assert.ok(existsSync(join(place.project, 'talk.txt')))
  place.remove()
})

test('/logout forgets a stored key and ends the session; /login key would be needed again', async () => {
  const place = newPlace({
    '~/.ona/login.json': JSON.stringify({
      kind: 'api_key',
      kept: 'file',
      lastFour: '…wxyz',
      savedAt: '2026-01-01T00:00:00Z',
    }),
    '~/.ona/credentials.json': JSON.stringify({ kind: 'api_key', key: 'sk-ant-api03-abcdefgh-wxyz' }),
  })
  const { out, code } = await pipeOna(place, ['/status', '/logout', '/status'], ['--model', 'rehearsal'])
  assert.equal(code, 0)
  assert.match(out, /Logged out: the stored login is gone/)
  assert.equal(out.match(/^Version:/gm)?.length, 1)
  assert.doesNotMatch(out, /abcdefgh/)
  assert.ok(!existsSync(join(place.home, '.ona', 'credentials.json')))
  place.remove()
})

test('/output-style: a style of one’s own reaches the model from the next start on', async (t) => {
  const place = newPlace({ '.ona/output-styles/pirate.md': '---\ndescription: x\n---\nTalk like a pirate.' })
  const model = await startScripted('fine')
  t.after(() => model.close())
  const env = { LM_STUDIO_BASE_URL: model.baseUrl, LM_STUDIO_MODEL: 'scripted' }
  const first = await pipeOna(place, ['hello', '/output-style nonsense', '/output-style pirate'], [], env)
  assert.match(first.out, /there is no style "nonsense"; default, explanatory, learning, pirate/)
  await pipeOna(place, ['hello'], ['--trust'], env)
  assert.deepEqual(
    model.requests.map((body) => body.includes('Talk like a pirate')),
    [false, true],
  )
  place.remove()
})

test('a style by the name in its head replaces our advice on coding unless it keeps it, and never the rules for tools', async (t) => {
  const style = (name: string, more = '') => `---\nname: ${name}\n${more}---\nIn ${name}.`
  const place = newPlace({
    '~/.claude/output-styles/a.md': style('Sea Shanty'),
    '~/.claude/output-styles/b.md': style('Haiku', 'keep-coding-instructions: true\n'),
  })
  const model = await startScripted('fine')
  t.after(() => model.close())
  const env = { LM_STUDIO_BASE_URL: model.baseUrl, LM_STUDIO_MODEL: 'scripted' }
  for (const outputStyle of ['Sea Shanty', 'b', 'gone'])
    await pipeOna(place, ['hello'], ['--settings', JSON.stringify({ outputStyle })], env)
  const has = (body: string) =>
    ['In Sea Shanty.', 'In Haiku.', '# How to work', '# Tools'].map((text) => body.includes(text))
  assert.deepEqual(model.requests.map(has), [
    [true, false, false, true],
    [false, true, true, true],
    [false, false, true, true],
  ])
  place.remove()
})

test('custom commands, skills and prompts of MCP servers are commands like any other', async (t) => {
  const everything = join(
    import.meta.dirname,
    '../..',
    'node_modules',
    '@modelcontextprotocol',
    'server-everything',
    'dist',
    'index.js',
  )
  const place = newPlace({
    '.ona/commands/greet.md': '---\ndescription: says hello\n---\nGreet $ARGUMENTS warmly.',
    '~/.ona/skills/tidy/SKILL.md': '---\nname: tidy\ndescription: tidies up\n---\nTidy the folder.',
    '~/.ona/settings.json': JSON.stringify({
      mcpServers: { everything: { command: process.execPath, args: [everything] } },
    }),
  })
  const model = await startScripted('fine')
  t.after(() => model.close())
  const env = { LM_STUDIO_BASE_URL: model.baseUrl, LM_STUDIO_MODEL: 'scripted' }
  const lines = [
    '/greet Ada Lovelace',
    '/tidy',
    '/mcp__everything__simple-prompt',
    '/mcp__everything__nothing',
    '/skills',
    '/mcp',
  ]
  const { out } = await pipeOna(place, lines, ['--trust'], env)
  assert.match(out, /^\/greet {2}says hello/m)
  assert.match(out, /^\/tidy {2}tidies up/m)
  assert.match(out, /everything: connected \(stdio\), \d+ tools/)
  assert.match(out, /Unknown command: \/mcp__everything__nothing/)
  const last = model.requests.at(-1)!
  assert.match(last, /Greet Ada Lovelace warmly/)
  assert.match(last, /Tidy the folder/)
  assert.equal(model.requests.length, 3, out)
  place.remove()
})

test('/login keeps a key where only its owner reads it, shows dots, and the database has none of it', {
  skip: hasTmux() ? false : 'tmux is not installed',
}, async () => {
  const place = newPlace()
  const ona = openOna(place)
  await ona.until(/not a language model/)
  ona.type('/login')
  ona.keys('Enter')
  await ona.until(/How do you want to sign in\?/)
  ona.type('2')
  await ona.until(/Your Anthropic API key/)
  ona.type('sk-ant-api03-secret-secret-9876')
  const dots = await ona.until(/•{20}/)
  assert.doesNotMatch(dots, /secret/)
  ona.keys('Enter')
  await ona.until(/Login successful \(…9876\)[\s\S]*Model: claude-/)
  assert.doesNotMatch(ona.all(), /secret-secret/)
  for (const name of ['agent.db', 'agent.db-wal']) {
    const file = join(place.home, '.ona', name)
    if (existsSync(file)) assert.ok(!readFileSync(file).includes('secret-secret'), name)
  }
  ona.type('/exit')
  ona.keys('Enter')
  await ona.until(/LEFT WITH 0/)
  place.remove()
})

test('a server of the project is asked about before it is started', {
  skip: hasTmux() ? false : 'tmux is not installed',
}, async () => {
  const place = newPlace({
    '.mcp.json': JSON.stringify({ mcpServers: { own: { command: 'touch', args: ['started'] } } }),
  })
  const ona = openOna(place, { words: ['--trust'] })
  assert.doesNotMatch(await ona.until(/MCP server "?own"?[\s\S]*touch started[\s\S]*esc to cancel/), /Other/)
  ona.keys('Escape')
  await ona.until(/❯ ask/)
  assert.ok(!existsSync(join(place.project, 'started')))
  ona.type('/exit')
  ona.keys('Enter')
  await ona.until(/LEFT WITH 0/)
  place.remove()
})
