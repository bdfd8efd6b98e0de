import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, beforeEach, type TestContext, test } from 'node:test'
import { call, type Line, testModel } from '../support/model/model.ts'
import { startScripted } from '../support/model/tui-model.ts'
import { hasTmux, newPlace, type Ona, openOna, type Place, stopTmux } from '../support/terminal.ts'

const skip = hasTmux() ? false : 'tmux is not installed'
const rule = /─{20}/
const idle = /❯ ask for something/
let place: Place
beforeEach(() => {
  place = newPlace({ 'a.txt': 'one\ntwo\n', 'src/main.ts': 'export {}\n' })
})
afterEach(() => place.remove())
after(stopTmux)

const ready = async (options: Parameters<typeof openOna>[1] = {}): Promise<Ona> => {
  const ona = openOna(place, options)
  await ona.until(/rehearsal: not a language model/)
  return ona
}
const say = (ona: Ona, text: string) => {
  ona.type(text)
  ona.keys('Enter')
}
const leave = async (ona: Ona) => {
  ona.keys('C-c')
  say(ona, '/exit')
  await ona.until(/LEFT WITH 0/)
}

test('a first session: the prompt is there, an answer comes, /exit leaves the shell as it was', { skip }, async () => {
  const ona = await ready()
  say(ona, 'hello there')
  await ona.until(/● I am the built-in rehearsal model/)
  const screen = await ona.until(idle)
  assert.equal(screen.match(/❯ hello there/g)?.length, 1)
  say(ona, '/exit')
  await ona.until(/LEFT WITH 0/)
  assert.doesNotMatch(ona.all(), /❯ ask for something/)
})

test('what an agent in the background found begins a turn of its own when nothing is under way', {
  skip,
}, async (t) => {
  const gate = Promise.withResolvers<void>()
  const line: Line = async (chat) => {
    if (chat.messages.some(({ text }) => text === 'Look.')) {
      await gate.promise
      return { text: 'It is in a.ts.' }
    }
    return {
      text: chat.messages.some(({ text }) => /<result>It is in a\.ts/.test(text)) ? 'Found: a.ts.' : 'It looks.',
    }
  }
  const input = { description: 'look', prompt: 'Look.', subagent_type: 'explore', run_in_background: true }
  const { env } = await testModel(t, [call('Agent', input), line, line, line])
  const ona = openOna(place, { env, words: ['--permission-mode', 'bypassPermissions'] })
  await ona.until(idle)
  say(ona, 'find it')
  await ona.until(/● It looks\.[\s\S]*❯ ask/)
  gate.resolve()
  await ona.until(/● Found: a\.ts\.[\s\S]*❯ ask/)
})

test('permission: yes runs it, always saves the rule that was shown, no with words reaches the model; all are rows', {
  skip,
}, async () => {
  const ona = await ready()
  say(ona, 'run mkdir -v one')
  await ona.until(
    /Bash command[\s\S]*mkdir -v one[\s\S]*1\. Yes[\s\S]*always allow Bash\(mkdir .*settings\.local\.json[\s\S]*and allow Bash[\s\S]*until this session ends/,
  )
  ona.keys('Enter')
  await ona.until(/● Bash\(mkdir -v one\)[\s\S]*└ .*'one'[\s\S]*❯ ask/)
  say(ona, 'run mkdir -v two')
  await ona.until(/2\. Yes, and always allow/)
  ona.type('2')
  await ona.until(/└ .*'two'[\s\S]*❯ ask/)
  const saved = JSON.parse(readFileSync(join(place.project, '.ona', 'settings.local.json'), 'utf8'))
  assert.deepEqual(saved, { permissions: { allow: ['Bash(mkdir *)'] } }, 'exactly the one rule that the dialog showed')
  say(ona, 'run mkdir -v three')
  await ona.until(/└ .*'three'[\s\S]*❯ ask/)
  say(ona, 'run touch x')
  await ona.until(/4\. No/)
  ona.type('4')
  await ona.until(/enter to send/)
  say(ona, 'use mkdir')
  await ona.until(/Bash\(touch x\) denied[\s\S]*❯ ask/)
  const rows = place.query<{ decision: string; reason_json: string }>(
    'SELECT decision, reason_json FROM tool_permission_log ORDER BY id',
  )
  assert.deepEqual(
    rows.map(({ decision }) => decision),
    ['allow', 'allow', 'deny'],
  )
  assert.match(rows[2]!.reason_json, /use mkdir/)
  await leave(ona)
})

test('permission: Esc says no and stops the turn', { skip }, async () => {
  const ona = await ready()
  say(ona, 'run mkdir no')
  await ona.until(/Do you want to run it/)
  ona.keys('Escape')
  await ona.until(/Interrupted|denied[\s\S]*❯ ask/)
  await leave(ona)
})

test('a new file is shown before it is written, and an edit as a diff after', { skip }, async () => {
  const ona = await ready()
  say(ona, 'write "hello" to notes.txt')
  await ona.until(/Create .*notes\.txt[\s\S]*hello[\s\S]*Do you want to create/)
  ona.type('y')
  await ona.until(/● Write\([\s\S]*❯ ask/)
  assert.match(readFileSync(join(place.project, 'notes.txt'), 'utf8'), /hello/)
  await leave(ona)
})

test('plan: it is shown, can be sent back with a word, and approved; the phase is in the status line', {
  skip,
}, async () => {
  const ona = await ready()
  say(ona, 'plan: add a greeting; test it')
  await ona.until(/Plan ready[\s\S]*Yes, and accept edits without asking[\s\S]*No, keep planning/)
  ona.type('2')
  const screen = await ona.until(/implement[\s\S]*❯|❯[\s\S]*implement/)
  assert.match(screen, rule)
  assert.deepEqual(place.query('SELECT status FROM plans'), [{ status: 'approved' }])
  assert.deepEqual(place.query('SELECT phase FROM conversations'), [{ phase: 'implement' }])
  await leave(ona)
})

test('plan mode: the plan that the model gives is shown for approval, though it called no EnterPlanMode', {
  skip,
}, async (t) => {
  const model = await testModel(t, [call('ExitPlanMode', { plan: '# Greet\n\n## Success criteria\n- it greets' })])
  const ona = openOna(place, { env: model.env })
  await ona.until(idle)
  ona.keys('BTab', 'BTab')
  await ona.until(/plan mode on/)
  say(ona, 'plan a greeting')
  await ona.until(/Plan ready[\s\S]*Yes, and ask before each edit/)
  ona.type('2')
  await ona.until(/implement[\s\S]*❯|❯[\s\S]*implement/)
  assert.deepEqual(place.query('SELECT status FROM plans'), [{ status: 'approved' }])
  await leave(ona)
})

test('questions of the agent are answered by keys, in own words too', { skip }, async () => {
  const ona = await ready()
  const question = {
    question: 'Which colour?',
    header: 'Colour',
    options: [
      { label: 'red', description: 'warm' },
      { label: 'blue', description: 'cold' },
    ],
    multiSelect: false,
  }
  say(ona, `call AskUserQuestion ${JSON.stringify({ questions: [question] })}`)
  await ona.until(/Which colour\?[\s\S]*1\. red +warm[\s\S]*3\. Other/)
  ona.keys('Down', 'Enter')
  await ona.until(/blue[\s\S]*❯ ask/)
  await leave(ona)
})

test('Shift-Tab turns the mode, and accept edits writes without asking', { skip }, async () => {
  const ona = await ready()
  ona.keys('BTab')
  await ona.until(/accept edits on/)
  say(ona, 'write "x" to y.txt')
  await ona.until(/● Write\([\s\S]*❯ ask/)
  ona.keys('BTab')
  await ona.until(/plan mode on/)
  ona.keys('BTab')
  await ona.until(/^rehearsal: not a language model/m)
  await leave(ona)
})

test('! runs at once and the agent hears of it; Esc ends it', { skip }, async () => {
  const ona = await ready()
  say(ona, '!echo from-the-shell')
  await ona.until(/● !\(echo from-the-shell\)[\s\S]*└ from-the-shell/)
  say(ona, '!sleep 60')
  await ona.until(/Running !|!\(sleep 60\)/)
  ona.keys('Escape')
  await ona.until(/!\(sleep 60\) interrupted/)
  say(ona, 'hello')
  await ona.until(/● I am the built-in[\s\S]*❯ ask/)
  const said = place.query<{ n: number }>(
    "SELECT count(*) AS n FROM transcript_entries WHERE entry_type = 'user' AND payload_json LIKE '%from-the-shell%'",
  )
  assert.deepEqual(said, [{ n: 1 }])
  await leave(ona)
})

test('# asks where to keep it, and keeps it', { skip }, async () => {
  const ona = await ready()
  say(ona, '# always use tabs')
  await ona.until(/Where should this be kept\?/)
  ona.type('3')
  await ona.until(/Kept as memory/)
  assert.deepEqual(place.query('SELECT title, project_scope FROM memories'), [
    { title: 'always use tabs', project_scope: place.project },
  ])
  say(ona, '# second note')
  await ona.until(/Where should this be kept\?/)
  ona.type('1')
  await ona.until(/Added to/)
  assert.equal(readFileSync(join(place.project, 'ONA.md'), 'utf8'), '- second note\n')
  await leave(ona)
})

test('the / menu and @ completion work as one types', { skip }, async () => {
  const ona = await ready()
  ona.type('/perm')
  await ona.until(/❯ \/permissions \(\/allowed-tools\)/)
  ona.keys('Escape', 'C-u')
  ona.type('read @ma')
  await ona.until(/❯ src\/main\.ts/)
  ona.keys('Tab')
  await ona.until(/❯ read @src\/main\.ts/)
  await leave(ona)
})

test('what is typed while the agent works waits, is shown, and is sent after', { skip }, async () => {
  const ona = await ready()
  say(ona, '!sleep 2')
  await ona.until(/type ahead/)
  say(ona, 'hello')
  await ona.until(/❯ hello[\s\S]*─{20}/)
  await ona.until(/● I am the built-in/)
  await leave(ona)
})

test('history: Up over sessions, Ctrl-R, and it is in the database', { skip }, async () => {
  const first = await ready()
  say(first, '!echo remembered')
  await first.until(/└ remembered/)
  await leave(first)
  const second = await ready()
  second.keys('Up', 'Up')
  await second.until(/❯ !echo remembered/)
  second.keys('C-c', 'C-r')
  second.type('remem')
  await second.until(/❯ !echo remembered[\s\S]*search history: remem/)
  second.keys('C-c')
  await leave(second)
})

test('Esc Esc rewinds: the prompt comes back into the line and the file is put back', { skip }, async () => {
  const ona = await ready()
  ona.keys('BTab')
  await ona.until(/accept edits on/)
  say(ona, 'read a.txt then replace "one" with "uno" in a.txt')
  await ona.until(/● Edit\([\s\S]*❯ ask/)
  assert.equal(readFileSync(join(place.project, 'a.txt'), 'utf8'), 'uno\ntwo\n')
  ona.keys('Escape')
  await ona.until(/press esc again to rewind/)
  ona.keys('Escape')
  await ona.until(/Go back to before which prompt/)
  ona.keys('Enter')
  await ona.until(/What should be put back/)
  ona.keys('Enter')
  await ona.until(/Went back[\s\S]*❯ read a\.txt then replace/)
  assert.equal(readFileSync(join(place.project, 'a.txt'), 'utf8'), 'one\ntwo\n')
  await leave(ona)
})

test('Ctrl-O shows everything in full on a screen of its own and gives the old one back', { skip }, async () => {
  const ona = await ready()
  say(ona, '!seq 1 200')
  await ona.until(/\+195 lines \(ctrl\+o shows all\)[\s\S]*❯ ask/)
  ona.keys('C-o')
  await ona.until(/^ +200$[\s\S]*transcript/m)
  ona.type('g')
  await ona.until(/!\(seq 1 200\)/)
  ona.type('q')
  await ona.until(/\+195 lines[\s\S]*❯ ask/)
  await leave(ona)
})

test('Ctrl-C twice leaves; Ctrl-D twice too', { skip }, async () => {
  for (const key of ['C-c', 'C-d']) {
    const ona = await ready()
    ona.keys(key)
    await ona.until(/again to leave/)
    ona.keys(key)
    await ona.until(/LEFT WITH 0/)
  }
})

test('from 40 to 200 columns, resized while it shows text, nothing is garbled or lost', { skip }, async () => {
  const ona = await ready({ columns: 120 })
  // a filled screen: on an empty one tmux moves the rows of broken lines into its history, where no program reaches them
  for (const n of [1, 2, 3]) {
    say(ona, `!seq ${n} ${n + 6}`)
    await ona.until(new RegExp(`seq ${n} [^❯]* ${n + 6}$[\\s\\S]*❯ ask`, 'm'))
  }
  say(ona, '!seq 1 4; sleep 1; seq 5 9')
  await ona.until(/!\(seq 1 4/)
  for (const columns of [40, 200, 60, 100]) {
    ona.resize(columns, 30)
    await ona.until(/❯/)
  }
  await ona.until(/^ +9$[\s\S]*❯ ask/m)
  say(ona, 'hello')
  await ona.until(/For real work[\s\S]*❯ ask/)
  const all = ona.all()
  assert.equal(all.match(/❯ ask for something/g)?.length, 1, all)
  assert.equal(all.match(/!\(seq 1 4/g)?.length, 1, all)
  await leave(ona)
})

const scripted = async (t: TestContext, text: string, pace = {}) => {
  const model = await startScripted(text, pace)
  t.after(() => model.close())
  const ona = openOna(place, {
    columns: 100,
    env: { LM_STUDIO_BASE_URL: model.baseUrl, LM_STUDIO_MODEL: 'scripted' },
  })
  await ona.until(/^scripted/m)
  return ona
}

test('two thousand lines stream in, resized and typed into meanwhile: each is there once', { skip }, async (t) => {
  const lines = Array.from({ length: 2000 }, (_, i) => `line-${i}.`)
  const ona = await scripted(t, lines.join('\n\n'))
  say(ona, 'go')
  await ona.until(/line-\d\d+\./)
  ona.type('typed meanwhile')
  for (const columns of [70, 130, 90]) ona.resize(columns, 30)
  // while the turn ends, Ctrl-C would interrupt it and leave the typed words
  await ona.until(/line-1999\.(?![\s\S]*esc to interrupt)[\s\S]*❯ typed meanwhile/, 60_000)
  const seen = [...ona.all().matchAll(/line-(\d+)\./g)].map((match) => Number(match[1]))
  assert.deepEqual(
    seen,
    lines.map((_, i) => i),
  )
  await leave(ona)
})

test('Esc ends an answer: what came stays; before anything came the prompt is given back', { skip }, async (t) => {
  const ona = await scripted(t, 'word '.repeat(2000), { pieceMs: 20, pieceSize: 5, firstMs: 600 })
  say(ona, 'the first try')
  await ona.until(/esc to interrupt/)
  ona.keys('Escape')
  await ona.until(/Interrupted[\s\S]*❯ the first try/)
  ona.keys('Enter')
  await ona.until(/● word word/)
  ona.keys('Escape')
  await ona.until(/word[\s\S]*Interrupted[\s\S]*❯ ask/)
  await leave(ona)
})

test('a program ended from outside in the middle of an answer says goodbye to its hooks and leaves a whole database', {
  skip,
}, async (t) => {
  const hook = { hook_event_name: 'SessionEnd', matcher: '', command: 'cat > ../end.json' }
  const model = await startScripted('word '.repeat(2000), { pieceMs: 20, pieceSize: 5 })
  t.after(() => model.close())
  const hooked = newPlace({ '~/.ona/settings.json': JSON.stringify({ hooks: [hook] }) })
  const ona = openOna(hooked, { env: { LM_STUDIO_BASE_URL: model.baseUrl, LM_STUDIO_MODEL: 'scripted' } })
  await ona.until(/^scripted/m)
  say(ona, 'go')
  await ona.until(/● word word/)
  ona.kill('TERM')
  await ona.until(/LEFT WITH 143/)
  assert.match(readFileSync(join(hooked.project, '..', 'end.json'), 'utf8'), /"reason":"other"/)
  assert.deepEqual(hooked.query('PRAGMA integrity_check'), [{ integrity_check: 'ok' }])
  assert.deepEqual(hooked.query("SELECT count(*) AS n FROM transcript_entries WHERE payload_json LIKE '%word word%'"), [
    { n: 1 },
  ])
  hooked.remove()
})

for (const launcher of [false, true]) {
  test(`Ctrl-Z gives the shell back, and fg the screen and the draft${launcher ? ', under the launcher too' : ''}`, {
    skip,
  }, async () => {
    const ona = openOna(place, { shell: true, launcher })
    await ona.until(/rehearsal: not a language model/)
    ona.type('a draft')
    ona.keys('C-z')
    await ona.until(/Stopped/)
    say(ona, 'fg')
    await ona.until(/❯ a draft\n/)
    ona.keys('C-c')
    say(ona, '/exit')
    await ona.until(/bash-[\d.]+[#$]\s*$/)
  })
}

test('a command that fails shows its exit code, and a long output its head, its tail and how much lies between', {
  skip,
}, async () => {
  const ona = openOna(place)
  await ona.until(/rehearsal: not a language model/)
  say(ona, 'run `seq 1 3000; exit 3`')
  await ona.until(/Do you want to run it/)
  ona.keys('Enter')
  await ona.until(/and 2981 more lines/)
  assert.match(
    ona.all(),
    /● Bash\(seq 1 3000; exit 3\) exit 3(?: · [\d.]+m?s)?\n {2}└ 1\n {4}2\n {4}3\n {4}4\n {4}5\n {4}… \+2991 lines \(ctrl\+o shows all\)\n {4}2997\n {4}2998\n {4}2999\n {4}3000\n/,
  )
  await leave(ona)
})

test('what waits can be taken back with Up', { skip }, async (t) => {
  const ona = await scripted(t, 'word '.repeat(200), { pieceMs: 20, pieceSize: 5 })
  say(ona, 'go')
  await ona.until(/● word/)
  say(ona, 'later')
  await ona.until(/❯ later\n\n─/)
  ona.keys('Up')
  await ona.until(/─\n❯ later/)
  ona.keys('Escape')
  await ona.until(/Interrupted/)
  await leave(ona)
})

test('a sub-agent is shown as a tree under its call', { skip }, async () => {
  const ona = await ready()
  say(ona, 'ask an agent to list the files in src')
  await ona.until(/● Agent\(list the files in src\)[\s\S]*├ ● Glob|├ ● \w+\([\s\S]*❯ ask/)
  await leave(ona)
})

test('Ctrl-G and the plan go through $EDITOR', { skip }, async () => {
  const ona = await ready({ env: { EDITOR: "sed -i -e '1s/^/Edited: /'" } })
  ona.type('hello')
  ona.keys('C-g')
  await ona.until(/❯ Edited: hello/)
  ona.keys('C-c')
  say(ona, 'plan: add a greeting; test it')
  await ona.until(/Plan ready/)
  ona.type('e')
  await ona.until(/The plan, as you changed it[\s\S]*Edited: [\s\S]*Plan ready/)
  ona.type('4')
  say(ona, 'smaller')
  await ona.until(/❯ ask|Plan ready/)
  assert.deepEqual(place.query("SELECT count(*) AS n FROM plans WHERE status = 'approved'"), [{ n: 0 }])
  await leave(ona)
})

test('Ctrl-G without an editor says what to set, and the line stays', { skip }, async () => {
  const ona = await ready({ env: { EDITOR: '', VISUAL: '' } })
  ona.type('hello')
  ona.keys('C-g')
  await ona.until(/There is no editor to open the prompt with; set one, such as: export EDITOR=vi[\s\S]*❯ hello/)
  ona.keys('C-c')
  await leave(ona)
})

test('--resume without a name opens the list of sessions', { skip }, async () => {
  const first = await ready({ words: ['hello from before'] })
  await first.until(/● I am the built-in|I do not understand/)
  await leave(first)
  const second = openOna(place, { words: ['--resume'] })
  await second.until(/Resume a session[\s\S]*hello from before/)
  second.keys('Enter')
  await second.until(/Resumed [\s\S]*❯ ask/)
  await leave(second)
})

test('--resume with words that are no name searches the list', { skip }, async () => {
  const first = await ready({ words: ['hello from before'] })
  await first.until(/● I am the built-in|I do not understand/)
  await leave(first)
  const second = openOna(place, { words: ['--resume', 'from BEFORE'] })
  await second.until(/⌕ from BEFORE[\s\S]*❯ hello from before/)
  second.keys('Tab')
  await second.until(/● I am the built-in|I do not understand/)
  second.keys('Enter')
  await second.until(/Resumed [\s\S]*❯ ask/)
  await leave(second)
})

test('with NO_COLOR nothing is coloured, without it things are', { skip }, async () => {
  for (const [env, coloured] of [
    [{ NO_COLOR: '1' }, false],
    [{ NO_COLOR: '' }, true],
  ] as const) {
    const ona = await ready({ env })
    const styled = ona.styled()
    assert.equal(/\x1b\[(?:3[0-9]|9[0-7]|1)/.test(styled), coloured, JSON.stringify(styled))
    await leave(ona)
  }
})

test('? shows the keys, and they go away again', { skip }, async () => {
  const ona = await ready()
  ona.type('?')
  await ona.until(/shift\+tab +cycle the permission mode/)
  ona.type('?')
  await ona.until(/^rehearsal: not/m)
  await leave(ona)
})

test('a megabyte is pasted and recorded whole, though it is more than the window holds', { skip }, async () => {
  const ona = await ready()
  ona.paste('0123456789abcdef'.repeat(1 << 16))
  await ona.until(/\[Pasted text #1 \+1048576 characters\]/)
  ona.keys('Enter')
  await ona.until(/❯ \[Pasted text #1 \+1048576 characters\]\n[\s\S]*● I am the built-in[\s\S]*❯ ask/, 30_000)
  const [row] = place.query<{ n: number }>(
    "SELECT max(length(payload_json)) AS n FROM transcript_entries WHERE entry_type = 'user'",
  )
  assert.ok(row!.n > 1 << 20)
  await leave(ona)
})

test('a folder whose files ask for more is asked about once', { skip }, async () => {
  const asks = newPlace({
    '.ona/settings.json': '{"hooks":[{"hook_event_name":"Stop","matcher":"","command":"true"}]}',
  })
  const first = openOna(asks)
  await first.until(/Do you trust the files in this folder\?[\s\S]*hooks in/)
  first.type('y')
  await first.until(/rehearsal: not a language model/)
  await leave(first)
  const second = openOna(asks)
  await second.until(/rehearsal: not a language model/)
  await leave(second)
  asks.remove()
})

test('vim keys from the settings', { skip }, async () => {
  const vim = newPlace({ '~/.ona/settings.json': '{"editorMode":"vim"}' })
  const ona = openOna(vim)
  await ona.until(/-- INSERT --/)
  ona.type('hello world')
  ona.keys('Escape')
  await ona.until(/-- NORMAL --/)
  ona.type('0dwihi ')
  await ona.until(/❯ hi world/)
  await leave(ona)
  vim.remove()
})

test('a status line of one’s own replaces ours', { skip }, async () => {
  const own = newPlace({
    '~/.ona/settings.json':
      '{"statusLine":{"type":"command","command":"printf mine:; grep -o permission_mode...default"}}',
  })
  const ona = openOna(own)
  await ona.until(/mine:permission_mode":"default/)
  await leave(ona)
  own.remove()
})

test('a status line that the folder brings waits until the folder is trusted', { skip }, async () => {
  const theirs = newPlace({ '.ona/settings.json': '{"statusLine":{"type":"command","command":"echo theirs"}}' })
  const ona = openOna(theirs)
  await ona.until(/Do you trust/)
  ona.keys('2')
  await ona.until(/^rehearsal: not/m)
  await leave(ona)
  assert.doesNotMatch(ona.all(), /theirs$/m)
  const trusted = openOna(theirs, { words: ['--trust'] })
  await trusted.until(/^theirs$/m)
  await leave(trusted)
  theirs.remove()
})

test('a dumb terminal and plain mode get lines without escape codes, and are asked in lines', { skip }, async () => {
  const ona = openOna(place, { env: { TERM: 'dumb' } })
  await ona.until(/\/help lists the commands[\s\S]*^>$/m)
  say(ona, 'run mkdir plain')
  await ona.until(/1\. Yes[\s\S]*empty to cancel:/)
  say(ona, '1')
  await ona.until(/Bash\(mkdir plain\): ran/)
  say(ona, '/exit')
  await ona.until(/LEFT WITH 0/)
})
