import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, beforeEach, mock, test } from 'node:test'
import { Keyboard, type TestTerminal, testTerminal, until } from '../../../test/support/screen.ts'
import type { AgentEvent } from '../../agent/events.ts'
import { askElicit } from '../dialogs/elicit.ts'
import { askPermission } from '../dialogs/permission.ts'
import { askPlan } from '../dialogs/plan.ts'
import { askQuestions } from '../dialogs/questions.ts'
import { askTrust } from '../dialogs/trust.ts'
import { memoryHistory } from '../input/history.ts'
import { Prompt, type PromptActions } from '../input/prompt.ts'
import { transcriptLines } from '../render/scrollback.ts'
import { useTheme } from '../render/style.ts'
import { Terminal } from './terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'ona-terminal-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const never = new AbortController().signal
const [enter, esc, up, down, tab] = ['\r', '\x1b', '\x1b[A', '\x1b[B', '\t']

let screen: TestTerminal
let keyboard: Keyboard
let terminal: Terminal
const open = (columns = 80, rows = 30) => {
  useTheme('dark', false)
  screen = testTerminal(columns, rows)
  keyboard = new Keyboard()
  terminal = new Terminal(keyboard, screen, { TERM_PROGRAM: 'vscode' })
}
beforeEach(() => open())
afterEach(() => terminal.close())
const shows = (text: RegExp) => until(screen, text)

interface Done {
  submitted: string[]
  calls: string[]
}
function withPrompt({ busy = false, vim = false, clipboard = '' } = {}): Done & { prompt: Prompt } {
  const done: Done = { submitted: [], calls: [] }
  const say = (name: string) => () => void done.calls.push(name)
  const history = memoryHistory()
  const actions: PromptActions = {
    submit: (text) => void done.submitted.push(text),
    interrupt: say('interrupt'),
    rewind: say('rewind'),
    exit: say('exit'),
    turnMode: say('mode'),
    transcript: say('transcript'),
    openEditor: async (text) => `${text} edited`,
    pickModel: say('model'),
    toggleTodos: say('todos'),
    toBackground: () => {
      done.calls.push('background')
      return busy
    },
    clipboardImage: async () => (clipboard === '' ? undefined : { mediaType: 'image/png', data: clipboard }),
    redraw: say('redraw'),
    suspend: say('suspend'),
    takeQueue: () => undefined,
    changed: () => terminal.changed(),
  }
  const commands = [
    { name: 'clear', aliases: ['reset', 'new'], summary: 'start over', argumentHint: '' },
    { name: 'compact', aliases: [], summary: 'summarise', argumentHint: '[instructions]' },
    { name: 'add-dir', aliases: [], summary: 'one more folder', argumentHint: '<path>' },
  ]
  const files = ['src/main.ts', 'src/tui/screen.ts', 'docs/my file.md']
  const prompt = new Prompt({
    actions,
    sources: {
      commands: () => commands,
      files: async (wanted) => files.filter((file) => file.includes(wanted)),
      agents: () => ['explore'],
    },
    history: () => history,
    busy: () => busy,
    cwd: () => folder,
    vim: () => vim,
    status: () => ['claude · default'],
  })
  terminal.prompt = prompt
  terminal.open()
  return { ...done, prompt }
}

test('the first screen is the input line and the status below it', async () => {
  withPrompt()
  assert.deepEqual((await shows(/claude/)).slice(-3), [
    '─'.repeat(80),
    '❯ ask for something, / for commands, ? for keys',
    'claude · default',
  ])
  assert.deepEqual(await screen.cursor(), { row: 2, column: 2 })
})

test('Enter sends; a backslash before it, Ctrl-J and Alt-Enter make a new line', async () => {
  const { submitted } = withPrompt()
  keyboard.type('one\\', enter, 'two', '\n', 'three', '\x1b\r', 'four', enter)
  assert.deepEqual(submitted, ['one\ntwo\nthree\nfour'])
})

test('a long paste is folded on the screen and sent in full, a megabyte too', async () => {
  const { submitted } = withPrompt()
  const text = Array.from({ length: 20_000 }, (_, i) => `line ${i} of something that is long enough to matter`).join(
    '\n',
  )
  assert.ok(text.length > 1 << 20)
  keyboard.type('see ', `\x1b[200~${text}\x1b[201~`)
  await shows(/❯ see \[Pasted text #1 \+19999 lines\]/)
  keyboard.type(enter)
  assert.deepEqual(submitted, [`see ${text}`])
  keyboard.type(up)
  await shows(/❯ \[Pasted text #\d \+19999 lines\]$/m)
  keyboard.type(enter, '\x12', 'matter', enter)
  assert.deepEqual(submitted.slice(1), [`see ${text}`, `see ${text}`], 'what comes back is what was sent')
})

test('a draft with tabs, controls and marks that turn text shows no control, and the cursor stands where it seems', async () => {
  const { prompt } = withPrompt()
  prompt.set('a\tb\x1b[31mc\x07\u202ed')
  terminal.changed()
  await shows(/❯ a {4}b\[31mc<U\+202E>d$/m)
  const { column } = await screen.cursor()
  assert.equal(column, '❯ a    b[31mc<U+202E>d'.length)
})

test('what is killed comes back with Ctrl-Y, and Alt-Y goes on to what was killed before', async () => {
  const { prompt } = withPrompt()
  keyboard.type('one two', '\x17', '\x17', '\x19', '\x1by')
  assert.equal(prompt.text, 'two')
})

test('the path of an image becomes a picture, other paths stay text', async () => {
  const { submitted } = withPrompt()
  writeFileSync(join(folder, 'a b.png'), 'png')
  keyboard.type('\x1b[200~a\\ b.png\x1b[201~', ' and ', '\x1b[200~none.png\x1b[201~')
  await shows(/\[Image #1\] and none\.png/)
  keyboard.type(enter)
  assert.deepEqual(submitted, ['[Image #1] and none.png'])
})

test('the / menu filters by name, word and alias; Tab completes, Enter runs, Esc closes', async () => {
  const { submitted } = withPrompt()
  keyboard.type('/')
  await shows(/\/add-dir <path>\s+one more folder/)
  keyboard.type('c')
  const lines = await shows(/❯ \/clear \(\/reset, \/new\)/)
  assert.ok(!lines.some((line) => line.includes('add-dir')))
  keyboard.type('\u001b[B', '\t')
  await shows(/❯ \/compact /)
  keyboard.type('\x15', '/new')
  await shows(/❯ \/clear \(\/reset/)
  keyboard.type(enter)
  assert.deepEqual(submitted, ['/clear'])
  keyboard.type('/adddir')
  await shows(/❯ \/add-dir <path>/)
  keyboard.type(enter)
  await shows(/❯ \/add-dir <path>$/m)
  keyboard.type('\x15', '/zz')
  await shows(/No commands match "\/zz"/)
})

test('@ completes files, quotes names with spaces, and is silent in shell mode', async () => {
  const { submitted } = withPrompt()
  keyboard.type('see @scr')
  await shows(/❯ src\/tui\/screen\.ts/)
  keyboard.type(tab, '@my')
  await shows(/my file/)
  keyboard.type(tab, enter)
  assert.deepEqual(submitted, ['see @src/tui/screen.ts @"docs/my file.md"'])
  keyboard.type('!cat @sc')
  await shows(/shell: runs at once/)
})

test('Up brings back what was typed, Ctrl-R finds it, Ctrl-S puts a draft aside', async () => {
  const { submitted, prompt } = withPrompt()
  keyboard.type('first', enter, 'second', enter, up)
  await shows(/❯ second/)
  keyboard.type(up)
  await shows(/❯ first/)
  keyboard.type(down, down)
  assert.equal(prompt.text, '')
  keyboard.type('\x12', 'fir')
  await shows(/search history: fir/)
  keyboard.type(enter)
  assert.deepEqual(submitted, ['first', 'second', 'first'])
  keyboard.type('draft', '\x13')
  assert.equal(prompt.text, '')
  keyboard.type('\x13')
  assert.equal(prompt.text, 'draft')
})

test('Ctrl-C clears, then leaves on the second press; Ctrl-D the same on an empty line', async () => {
  const { calls, prompt } = withPrompt()
  keyboard.type('text', '\x03')
  assert.equal(prompt.text, '')
  keyboard.type('\x03')
  await shows(/press ctrl\+c again to leave/)
  keyboard.type('\x03')
  assert.deepEqual(calls, ['exit'])
  keyboard.type('\x04', '\x04')
  assert.deepEqual(calls, ['exit', 'exit'])
})

test('Esc Esc on an empty line rewinds, with text it clears; while the agent works one Esc interrupts', async () => {
  const { calls, prompt } = withPrompt()
  keyboard.type('text')
  prompt.press({ key: 'esc' })
  prompt.press({ key: 'esc' })
  assert.equal(prompt.text, '')
  prompt.press({ key: 'esc' })
  await shows(/press esc again to rewind/)
  prompt.press({ key: 'esc' })
  assert.deepEqual(calls, ['rewind'])
  open()
  const busy = withPrompt({ busy: true })
  keyboard.type(esc)
  // for a moment an Esc may be the start of a longer key
  while (busy.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.deepEqual(busy.calls, ['interrupt'])
})

test('the other keys reach what they name', async () => {
  const { calls, prompt } = withPrompt()
  keyboard.type('\x1b[Z', '\x0f', '\x14', '\x0c', '\x1a', '\x1bp')
  assert.deepEqual(calls, ['mode', 'transcript', 'todos', 'redraw', 'suspend', 'model'])
  keyboard.type('?')
  await shows(/shift\+tab +cycle the permission mode/)
  keyboard.type('x', '\x07')
  await shows(/x edited/)
  assert.equal(prompt.text, 'x edited')
})

test('vim mode: Esc to normal, motions work, i goes back, Esc in normal mode does not lose the text', async () => {
  const { prompt } = withPrompt({ vim: true })
  keyboard.type('hello world')
  prompt.press({ key: 'esc' })
  await shows(/-- NORMAL --/)
  keyboard.type('bdw', 'A', '!')
  assert.equal(prompt.text, 'hello !')
  await shows(/-- INSERT --/)
  for (let presses = 0; presses < 4; presses++) prompt.press({ key: 'esc' })
  keyboard.type('x')
  assert.equal(prompt.text, 'hello ')
})

test('vim mode: k and j walk through what was typed before, as far as it goes', async () => {
  const { prompt } = withPrompt({ vim: true })
  keyboard.type('first', enter, 'second', enter, 'draft')
  prompt.press({ key: 'esc' })
  const seen = ['k', 'k', 'j', 'j'].map((letter) => {
    keyboard.type(letter)
    return prompt.text
  })
  assert.deepEqual(seen, ['second', 'first', 'second', 'draft'])
})

test('permission: the command, the reason, the exact rule and its place; each answer is what was picked', async () => {
  terminal.open()
  const request = {
    toolUseId: 't1',
    tool: 'Bash',
    input: { command: 'npm test -- \u202egnp', description: 'run the tests' },
    summary: 'npm test',
    reason: 'the mode default asks',
    suggestions: [
      {
        type: 'addRules',
        rules: [{ toolName: 'Bash', ruleContent: 'npm test:*' }],
        behavior: 'allow',
        destination: 'localSettings',
      },
    ],
  } as const
  const ask = () => askPermission(terminal, request, folder, never)
  const once = ask()
  assert.deepEqual(
    (await shows(/esc to say no/)).map((line) => line.trimEnd()),
    [
      '',
      '─'.repeat(80),
      'Bash command',
      '',
      '  npm test -- <U+202E>gnp',
      '  the agent says: run the tests',
      '',
      '  the mode default asks',
      '',
      'Do you want to run it?',
      '❯ 1. Yes',
      '  2. Yes, and always allow Bash(npm test:*)  saved in .ona/settings.local.json',
      '  3. Yes, and allow Bash(npm test:*)         until this session ends',
      '  4. No, and say what to do instead',
      '',
      'enter to choose · esc to say no',
    ],
  )
  keyboard.type(enter)
  assert.deepEqual(await once, { allow: true })
  const always = ask()
  await shows(/1\. Yes/)
  keyboard.type('2')
  assert.deepEqual(await always, { allow: true, updates: [request.suggestions[0]] })
  const session = ask()
  await shows(/1\. Yes/)
  keyboard.type('3')
  const [saved] = request.suggestions
  assert.deepEqual(await session, { allow: true, updates: [{ ...saved, destination: 'session' }] })
  const changed = ask()
  await shows(/1\. Yes/)
  keyboard.type('\u001b[B', '\t')
  await shows(/enter to send/)
  keyboard.type(...Array.from({ length: 3 }, () => '\u007f'), ' --watch:*)', enter)
  assert.deepEqual(await changed, {
    allow: true,
    updates: [{ ...saved, rules: [{ toolName: 'Bash', ruleContent: 'npm test --watch:*' }] }],
  })
  const no = ask()
  await shows(/1\. Yes/)
  keyboard.type('n', 'use pnpm', enter)
  assert.deepEqual(await no, { allow: false, feedback: 'use pnpm' })
  const stop = ask()
  await shows(/1\. Yes/)
  keyboard.type(esc)
  assert.deepEqual(await stop, { allow: false, interrupt: true })
})

test('permission: on a narrow screen neither the command nor the rule loses its end', async () => {
  open(40, 30)
  terminal.open()
  const request = {
    toolUseId: 't1',
    tool: 'Bash',
    input: { command: `git log --oneline ${'--quiet '.repeat(8)}; rm -rf /important` },
    summary: '',
    reason: '',
    suggestions: [
      {
        type: 'addRules',
        rules: [{ toolName: 'Bash', ruleContent: 'git log --oneline --quiet and a long rule:*' }],
        behavior: 'allow',
        destination: 'localSettings',
      },
    ],
  } as const
  const asked = askPermission(terminal, request, folder, never)
  const screenText = (await shows(/esc to say no/)).join(' ').replace(/\s+/g, ' ')
  assert.match(screenText, /; rm -rf \/important/)
  assert.match(screenText, /and a long rule:\*\) saved in \.ona\/settings\.local\.json/)
  keyboard.type('y')
  assert.deepEqual(await asked, { allow: true })
})

test('permission: an edit is shown as a diff, a new file in full, a file that is there as what would change', async () => {
  terminal.open()
  writeFileSync(join(folder, 'a.txt'), 'one\ntwo\nthree\n')
  const ask = (tool: string, input: Record<string, string>) =>
    askPermission(
      terminal,
      { toolUseId: 't', tool, input, summary: 'a.txt', reason: '', suggestions: [] },
      folder,
      never,
    )
  const edit = ask('Edit', { file_path: 'a.txt', old_string: 'two', new_string: 'zwei' })
  await shows(/ {2}1 {3}one\n {4}2 - two\n {4}2 \+ zwei\n {4}3 {3}three\n\nDo you want to make this edit to a\.txt\?/)
  keyboard.type('y')
  assert.deepEqual(await edit, { allow: true })
  const write = ask('Write', { file_path: 'a.txt', content: 'one\ntwo\nthree\nfour\n' })
  await shows(/ {2}4 \+ four\n\nDo you want to overwrite a\.txt\?/)
  keyboard.type('y')
  await write
  const create = ask('Write', { file_path: 'b.txt', content: 'new\n' })
  await shows(/ {2}new\n\nDo you want to create b\.txt\?/)
  keyboard.type('y')
  await create
})

test('a body taller than the screen is cut, and Ctrl-O shows all of it and comes back', async () => {
  open(60, 16)
  terminal.open()
  const command = Array.from({ length: 40 }, (_, i) => `echo ${i}`).join('\n')
  const asked = askPermission(
    terminal,
    { toolUseId: 't', tool: 'Bash', input: { command }, summary: '', reason: '', suggestions: [] },
    folder,
    never,
  )
  await shows(/… \+\d+ lines \(ctrl\+o shows all\)/)
  keyboard.type('\x0f', 'G')
  await shows(/echo 39/)
  keyboard.type('q')
  await shows(/Do you want to run it\?/)
  keyboard.type('y')
  assert.deepEqual(await asked, { allow: true })
})

test('plan: approve, approve and accept edits, keep planning with feedback', async () => {
  terminal.open()
  const first = askPlan(terminal, '# Do it\n\n- step', never)
  await shows(/Do it[\s\S]*- step[\s\S]*Do you approve it[\s\S]*esc to keep planning/)
  keyboard.type('1')
  assert.deepEqual(await first, { approve: true, plan: '# Do it\n\n- step', acceptEdits: true })
  const second = askPlan(terminal, 'p', never)
  await shows(/Do you approve it/)
  keyboard.type('y')
  assert.deepEqual(await second, { approve: true, plan: 'p', acceptEdits: false })
  const third = askPlan(terminal, 'p', never)
  await shows(/Do you approve it/)
  keyboard.type('n', 'smaller steps', enter)
  assert.deepEqual(await third, { approve: false, feedback: 'smaller steps' })
})

test('questions: one choice, several, own words, and a look at all before they are sent', async () => {
  terminal.open()
  const option = (label: string) => ({ label, description: `about ${label}` })
  const questions = [
    { question: 'Which colour?', header: 'Colour', options: [option('red'), option('blue')], multiSelect: false },
    { question: 'Which parts?', header: 'Parts', options: [option('a'), option('b'), option('c')], multiSelect: true },
  ]
  const asked = askQuestions(terminal, questions, never)
  await shows(/Colour \(1 of 2\)[\s\S]*2\. blue {3}about blue/)
  keyboard.type('3')
  await shows(/3\. Other\n {4}in your own words/)
  keyboard.type('green', enter)
  await shows(/Parts \(2 of 2\)/)
  keyboard.type(' ', '3')
  await shows(/◉ a[\s\S]*◯ b[\s\S]*❯ 3\. ◉ c/)
  keyboard.type(enter)
  await shows(/Send them/)
  keyboard.type(enter)
  assert.deepEqual(await asked, { 'Which colour?': 'green', 'Which parts?': 'a, c' })
  const declined = askQuestions(terminal, questions.slice(0, 1), never)
  await shows(/Which colour/)
  keyboard.type('\x03')
  assert.equal(await declined, undefined)
})

test('permission: a sub-agent is shown by what it is told, not as JSON', async () => {
  terminal.open()
  const input = { description: 'look round', prompt: 'Find the tests.\nName them.', subagent_type: 'explore' }
  const asked = askPermission(
    terminal,
    { toolUseId: 't', tool: 'Agent', input, summary: 'look round', reason: 'why', suggestions: [] },
    folder,
    never,
  )
  const lines = (await shows(/esc to say no/)).map((line) => line.trimEnd())
  assert.deepEqual(lines.slice(2, 11), [
    'Start a sub-agent: explore',
    '',
    '  look round',
    '',
    '  Find the tests.',
    '  Name them.',
    '',
    '  why',
    '',
  ])
  keyboard.type('y')
  await asked
})

test('hints stand in one column, go on in it, and a list longer than the screen says where one is', async () => {
  open(60, 14)
  terminal.open()
  const choice = (label: string, hint: string) => ({ label, value: label, hint })
  const few = terminal.choose({
    title: 'Preferences',
    choices: [
      choice('a longer label here', 'short'),
      choice('b', 'a hint that is too long for what is left of the line'),
    ],
  })
  assert.deepEqual((await shows(/Preferences[\s\S]*esc to cancel/)).slice(4, 8), [
    '❯ 1. a longer label here  short',
    '  2. b                    a hint that is too long for what',
    '                          is left of the line',
    'enter to choose · esc to cancel',
  ])
  keyboard.type(esc)
  await few
  const many = terminal.choose({
    title: 'Many',
    filter: true,
    choices: Array.from({ length: 40 }, (_, i) => choice(`number ${i}`, 'hint')),
  })
  await shows(/1 of 40 · enter to choose/)
  keyboard.type(down)
  await shows(/2 of 40 · enter to choose/)
  keyboard.type(esc)
  await many
})

test('trust, and a form of an MCP server', async () => {
  terminal.open()
  const trust = askTrust(terminal, '/some/folder', ['hooks: 2 commands'])
  await shows(/\/some\/folder[\s\S]*hooks: 2 commands/)
  keyboard.type('y')
  assert.equal(await trust, true)
  const schema = {
    type: 'object',
    properties: { name: { type: 'string' }, size: { type: 'integer', minimum: 1 }, loud: { type: 'boolean' } },
    required: ['name'],
  }
  const form = askElicit(terminal, { server: 's', message: 'tell me', mode: 'form', schema }, never)
  await shows(/tell me/)
  keyboard.type('y')
  await shows(/^name$/m)
  keyboard.type('Ada', enter)
  await shows(/size \(optional\)/)
  keyboard.type('x', enter)
  await shows(/"x" is not a number/)
  keyboard.type('\x15', '7', enter)
  await shows(/loud/)
  keyboard.type('2')
  assert.deepEqual(await form, { action: 'accept', content: { name: 'Ada', size: 7, loud: false } })
})

test('a question that is withdrawn goes away, and the one behind it is asked', async () => {
  terminal.open()
  const abort = new AbortController()
  const first = terminal.ask({ title: 'first?' }, abort.signal)
  const second = terminal.ask({ title: 'second?' })
  await shows(/1 more question after this one[\s\S]*first\?/)
  abort.abort()
  assert.equal(await first, undefined)
  await shows(/second\?/)
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 350 }) // long enough to have seen it
  keyboard.type('yes', enter)
  mock.timers.reset()
  assert.equal(await second, 'yes')
})

test('a dialog that comes up while one types is not answered by what is being typed', async () => {
  const { submitted, prompt } = withPrompt()
  keyboard.type('rewrite the ')
  const asked = terminal.choose({ title: 'Delete all?', choices: [{ label: 'Yes', value: true, key: 'y' }] })
  await shows(/Delete all\?/)
  keyboard.type('y', 'ears', enter)
  assert.deepEqual(submitted, ['rewrite the years'])
  assert.equal(prompt.text, '')
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 750 }) // the pause after which keys are for the dialog
  keyboard.type('y')
  mock.timers.reset()
  assert.deepEqual(await asked, { value: true, values: [true] })
})

test('the pager finds what is searched for wherever it stands, goes on with n, and says when there is nothing', async () => {
  withPrompt()
  const lines = Array.from({ length: 200 }, (_, i) => `line ${i}${[10, 195, 198].includes(i) ? ' with a needle' : ''}`)
  const left = terminal.page('a page', lines)
  keyboard.type('G')
  await shows(/line 199/)
  const found = []
  for (const keys of [['/', 'needle', enter], ['n'], ['n'], ['n'], ['N']]) {
    keyboard.type(...keys)
    found.push((await screen.all()).at(-1)!)
  }
  assert.deepEqual(
    found.map((foot) => /needle: .*/.exec(foot)?.[0].split(' (')[0]),
    ['needle: 2 of 3', 'needle: 3 of 3', 'needle: 1 of 3', 'needle: 2 of 3', 'needle: 1 of 3'],
  )
  assert.match((await screen.all()).join('\n'), /^line 10 with a needle/m)
  keyboard.type('/', 'hay', enter)
  assert.match((await screen.all()).at(-1)!, /hay: not found/)
  keyboard.type('q')
  await left
})

test('a question that comes up while a page is read is told at its foot, and asked when the page is left', async () => {
  withPrompt()
  const left = terminal.page('a page', ['one', 'two'])
  await shows(/a page · all/)
  const asked = terminal.choose({ title: 'Delete all?', choices: [{ label: 'Yes', value: true, key: 'y' }] })
  await shows(/a question waits/)
  keyboard.type('q')
  await left
  await shows(/Delete all\?/)
  const own = terminal.page('the question', ['in full'])
  await shows(/the question · all/)
  assert.doesNotMatch((await screen.all()).join('\n'), /waits/)
  keyboard.type('q')
  await own
  keyboard.type('y')
  assert.deepEqual(await asked, { value: true, values: [true] })
})

test('a line printed by a command is broken between words, under its own column', async () => {
  withPrompt()
  terminal.print(
    'No MCP servers. They stand in .mcp.json of the project, or under mcpServers in the settings.',
    '  /help  What ona is, what it can do here, and how the user gets it to do what is wanted',
  )
  assert.deepEqual((await shows(/wanted/)).slice(0, 4), [
    '  No MCP servers. They stand in .mcp.json of the project, or under mcpServers in',
    '  the settings.',
    '    /help  What ona is, what it can do here, and how the user gets it to do what',
    '           is wanted',
  ])
})

const turn: AgentEvent[] = [
  { type: 'turn-started' },
  { type: 'request', model: 'm', messageCount: 1 },
  { type: 'text', text: 'Let me look.' },
  { type: 'assistant', text: 'Let me look.', toolUses: [] },
  { type: 'tool-started', id: '1', name: 'Bash', input: {}, summary: 'ls' },
  { type: 'tool-progress', id: '1', text: 'a\nb\n' },
  {
    type: 'tool-finished',
    id: '1',
    name: 'Bash',
    output: { content: Array.from({ length: 9 }, (_, i) => `file ${i}`).join('\n'), isError: false },
    ms: 1234,
    outcome: 'ran',
  },
  { type: 'hook', note: { hook: 'no-friday', event: 'PreToolUse', effect: 'denied', reason: 'not today' } },
  { type: 'tool-started', id: '2', name: 'Edit', input: {}, summary: 'a.ts' },
  {
    type: 'tool-finished',
    id: '2',
    name: 'Edit',
    output: {
      content: 'ok',
      isError: false,
      display: { kind: 'diff', path: 'a.ts', patch: '@@ -1 +1 @@\n-x\n+y\n', added: 1, removed: 1 },
    },
    ms: 5,
    outcome: 'ran',
  },
  { type: 'tool-started', id: '3', name: 'Agent', input: { description: 'look round' }, summary: 'look round' },
  {
    type: 'tool-started',
    id: '4',
    name: 'Read',
    input: {},
    summary: 'b.ts',
    agent: { id: 'a1', type: 'explore', about: 'look round' },
  },
]

test('a turn on the screen: words, calls, folded results, hooks, diffs, a sub-agent as a tree', async () => {
  const { prompt } = withPrompt()
  for (const event of turn) terminal.turn.on(event)
  const live = await shows(/├ . Read\(b\.ts\)/)
  assert.ok(live.some((line) => /Running Agent… \(.*esc to interrupt\)/.test(line)))
  terminal.turn.on({
    type: 'tool-finished',
    id: '4',
    name: 'Read',
    output: { content: 'x', isError: false },
    ms: 2,
    outcome: 'ran',
    agent: { id: 'a1', type: 'explore', about: 'look round' },
  })
  terminal.turn.on({
    type: 'tool-finished',
    id: '3',
    name: 'Agent',
    output: { content: 'found it', isError: false },
    ms: 900,
    outcome: 'ran',
  })
  terminal.turn.on({ type: 'text', text: 'Done: **yes**.' })
  terminal.turn.on({ type: 'assistant', text: 'Done: **yes**.', toolUses: [] })
  terminal.turn.on({ type: 'turn-ended', stop: 'end_turn', text: '' })
  await shows(/● Done: yes\.\n\n─/)
  assert.deepEqual((await screen.all()).slice(0, -4), [
    '',
    '● Let me look.',
    '',
    '● Bash(ls) 1.2s',
    '  └ file 0',
    '    file 1',
    '    file 2',
    '    … +4 lines (ctrl+o shows all)',
    '    file 7',
    '    file 8',
    '  ⚑ hook no-friday denied: not today (PreToolUse)',
    '',
    '● Edit(a.ts)',
    '  └ a.ts +1 -1',
    '      1 - x',
    '      1 + y',
    '',
    '● Agent(look round) 900ms',
    '  ├ ● Read(b.ts)',
    '  └ found it',
    '',
    '● Done: yes.',
  ])
  assert.equal(prompt.text, '')
})

test('what a hook did to a call stands under the call, once, with a long name cut short', async () => {
  withPrompt()
  const [hook, reason] = [`check ${'very '.repeat(20)}carefully`, '[0] not on a Friday']
  terminal.turn.on({ type: 'turn-started' })
  terminal.turn.on({ type: 'tool-started', id: '1', name: 'Bash', input: {}, summary: 'rm x' })
  terminal.turn.on({ type: 'hook', note: { hook, event: 'PreToolUse', effect: 'denied', reason } })
  await shows(/Bash\(rm x\)\n {2}⚑ hook check very .*… denied/)
  const output = { content: reason, isError: true }
  terminal.turn.on({ type: 'tool-finished', id: '1', name: 'Bash', output, ms: 5, outcome: 'denied' })
  terminal.turn.on({ type: 'turn-ended', stop: 'end_turn', text: '' })
  await shows(/Bash\(rm x\) denied/)
  assert.deepEqual((await screen.all()).slice(0, -3), [
    '',
    '● Bash(rm x) denied',
    '  ⚑ hook check very very very very very very very very v… denied: [0] not on a',
    '    Friday (PreToolUse)',
    '',
  ])
})

test('a long line of code can be copied whole, at the end of an answer too', async () => {
  withPrompt()
  await terminal.turn.prepare()
  const code = `run(${Array.from({ length: 30 }, (_, i) => `argument${i}`).join(', ')})`
  for (const text of ['```\nfirst\n', `${code}\n\`\`\``]) terminal.turn.on({ type: 'text', text })
  terminal.turn.on({ type: 'assistant', text: 'x', toolUses: [] })
  await shows(/argument29\)/)
  assert.ok((await screen.all()).join('').includes(code))
})

test('a command that runs while an answer comes in stands together, between two parts of the answer', async () => {
  withPrompt()
  await terminal.turn.prepare()
  terminal.turn.on({ type: 'turn-started' })
  terminal.turn.on({ type: 'text', text: 'One.\n\n```\na\nb\n' })
  await shows(/● One\./)
  const told = Promise.withResolvers<void>()
  const aside = terminal.turn.aside(async () => {
    terminal.turn.add({ kind: 'user', text: '/status' })
    terminal.print('Version: 1')
    await told.promise
    terminal.print('Folder: x')
  })
  await shows(/❯ \/status\n {2}Version: 1/)
  terminal.turn.on({ type: 'text', text: 'c\nd\n' })
  await shows(/^ {2}c$/m)
  told.resolve()
  await aside
  terminal.turn.on({ type: 'text', text: 'e\n```\n\nTwo.' })
  terminal.turn.on({ type: 'assistant', text: 'x', toolUses: [] })
  terminal.turn.on({ type: 'turn-ended', stop: 'end_turn', text: '' })
  await shows(/Two\.\n\n─/)
  const lines = (await screen.all()).slice(0, -4)
  const at = lines.indexOf('❯ /status')
  assert.deepEqual(lines.slice(at - 1, at + 4), ['', '❯ /status', '  Version: 1', '  Folder: x', ''])
  assert.notEqual(lines[at + 4], '')
  assert.deepEqual(
    lines.toSpliced(at, 4).filter((line) => line !== ''),
    ['● One.', '  a', '  b', '  c', '  d', '  e', '  Two.'],
  )
})

test('one empty line parts a command from the answer that goes on, between two paragraphs too', async () => {
  withPrompt()
  await terminal.turn.prepare()
  terminal.turn.on({ type: 'turn-started' })
  terminal.turn.on({ type: 'text', text: 'One.\n\nTwo' })
  await shows(/● One\.\n\n {2}Two/)
  await terminal.turn.aside(async () => terminal.print('Version: 1'))
  await shows(/Version: 1/)
  terminal.turn.on({ type: 'text', text: '.\n\nThree' })
  await shows(/Three/)
  terminal.turn.on({ type: 'assistant', text: 'x', toolUses: [] })
  terminal.turn.on({ type: 'turn-ended', stop: 'end_turn', text: '' })
  await shows(/Three\n\n─/)
  assert.deepEqual((await screen.all()).slice(1, -4), ['● One.', '  Version: 1', '', '  Two.', '', '  Three'])
})

test('in the transcript the lines of one command stand together', () => {
  terminal.turn.add({ kind: 'user', text: '/status' })
  terminal.print('Version: 1')
  terminal.print('Folder: x')
  terminal.turn.add({ kind: 'user', text: 'next' })
  const lines = transcriptLines(terminal.turn.items, 80, () => [])
  assert.deepEqual(lines, ['', '❯ /status', '  Version: 1', '  Folder: x', '', '❯ next'])
})

test('the todo list does not look like part of the call above it while a question is open', async () => {
  withPrompt()
  terminal.turn.on({ type: 'turn-started' })
  terminal.turn.on({ type: 'todos', todos: [{ content: 'write it', status: 'in_progress', activeForm: 'writing' }] })
  terminal.turn.on({ type: 'tool-started', id: '1', name: 'Agent', input: {}, summary: 'look' })
  const asked = terminal.choose({ title: 'Start it?', choices: [{ label: 'Yes', value: true }] })
  await shows(/● Agent\(look\)\n\n {2}▸ write it\n\n─/)
  keyboard.type(enter)
  await asked
})

test('two thousand streamed lines, resized in the middle, are each in the scrollback once', async () => {
  open(100, 24)
  withPrompt()
  terminal.turn.on({ type: 'turn-started' })
  await terminal.turn.prepare()
  for (let i = 0; i < 2000; i++) {
    terminal.turn.on({ type: 'text', text: `Line ${i} says something.\n\n` })
    if (i % 50 === 49) keyboard.type('x')
    if (i % 400 === 399) {
      await until(screen, new RegExp(`Line ${i} says`), 30_000)
      screen.resize(i % 800 === 399 ? 60 : 140, 24)
    }
  }
  terminal.turn.on({ type: 'turn-ended', stop: 'end_turn', text: '' })
  const lines = await until(screen, /❯ x{40}/)
  assert.deepEqual(
    lines.filter((line) => line.includes('Line ')).map((line) => line.slice(2)),
    Array.from({ length: 2000 }, (_, i) => `Line ${i} says something.`),
  )
  assert.equal(lines.filter((line) => line.includes('❯')).length, 1)
  assert.equal(lines.filter((line) => line.includes('─')).length, 1)
})
