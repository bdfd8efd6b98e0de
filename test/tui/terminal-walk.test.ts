/** What a user meets on the way, in a real terminal: each thing that the terminal page promises and no other test walks. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, afterEach, beforeEach, type TestContext, test } from 'node:test'
import { call, type Line, testModel } from '../support/model/model.ts'
import { startScripted } from '../support/model/tui-model.ts'
import { hasTmux, newPlace, type Ona, openOna, type Place, stopTmux } from '../support/terminal.ts'

const skip = hasTmux() ? false : 'tmux is not installed'
const idle = /❯ ask for something/
let place: Place
beforeEach(() => {
  place = newPlace({ 'a.txt': 'one\ntwo\n' })
})
afterEach(() => place.remove())
after(stopTmux)

const say = (ona: Ona, text: string) => {
  ona.type(text)
  ona.keys('Enter')
}
const opened = async (options: Parameters<typeof openOna>[1] = {}): Promise<Ona> => {
  const ona = openOna(place, options)
  await ona.until(idle, 30_000)
  return ona
}
const withModel = async (t: TestContext, lines: readonly Line[], options: Parameters<typeof openOna>[1] = {}) => {
  const { env } = await testModel(t, lines)
  return opened({ ...options, env: { ...env, ...options.env } })
}
const bypass = ['--permission-mode', 'bypassPermissions']

/** Waits for something beside the screen. */
async function become(what: () => boolean): Promise<void> {
  for (const end = Date.now() + 30_000; !what(); ) {
    if (Date.now() > end) throw new Error(`it never became true: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

test('a failed request counts down to the next one, and Esc ends the wait', { skip }, async (t) => {
  let asked = 0
  const server = createServer((request, response) => {
    if (request.method === 'GET') return response.end(JSON.stringify({ object: 'list', data: [{ id: 'm' }] }))
    asked++
    response.writeHead(503, { 'retry-after': '50', 'content-type': 'application/json' })
    return response.end(JSON.stringify({ error: { message: 'no room in the hotel' } }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const ona = await opened({
    columns: 110,
    env: { LM_STUDIO_BASE_URL: `http://127.0.0.1:${port}/v1`, LM_STUDIO_MODEL: 'm' },
  })
  say(ona, 'the question')
  await ona.until(/Retrying in \d+s \(attempt 1 of \d+\): .*no room in the hotel.*esc to interrupt\)/)
  await ona.until(/Retrying in 4[0-8]s/)
  ona.keys('Escape')
  await ona.until(/Interrupted[\s\S]*❯ the question/)
  assert.equal(asked, 1)
})

test('@file says what was attached, and why something was not', { skip }, async (t) => {
  place.remove()
  place = newPlace({
    'a.txt': 'one\ntwo',
    'b.txt': 'one',
    'key.pem': 'x',
    '~/.ona/settings.json': JSON.stringify({ permissions: { deny: ['Read(key.pem)'] } }),
  })
  const ona = await withModel(t, [])
  say(ona, 'compare @a.txt with @b.txt and @key.pem ')
  const screen = await ona.until(/● Done\./)
  assert.match(screen, /attached a\.txt \(2 lines\)/)
  assert.match(screen, /attached b\.txt \(1 line\)/)
  assert.match(screen, /@\S*key\.pem is left out: [^●]*Read\(key\.pem\)/)
})

test('/keybindings lists the keys; /model names models as users know them', { skip }, async () => {
  const ona = await opened({ columns: 100, rows: 40 })
  say(ona, '/keybindings')
  const keys = await ona.until(/\/vim turns vim keys on or off/)
  for (const key of ['ctrl+b', 'ctrl+v', 'ctrl+t', 'ctrl+o', 'shift+tab']) assert.ok(keys.includes(`  ${key} `), key)
  say(ona, '/model')
  const models = await ona.until(/Which model\?[\s\S]*esc to cancel/)
  assert.match(models, /\d\. Claude Sonnet 4 +claude_sonnet_4 · 200k context/)
  assert.match(models, /❯ \d\. Rehearsal/)
})

test('/hooks names the functions of a file', { skip }, async () => {
  place.remove()
  place = newPlace({ '~/guard.mjs': '' })
  const file = join(place.home, 'guard.mjs')
  const define = join(import.meta.dirname, '../../src/hooks/define.ts')
  writeFileSync(
    file,
    `import { defineHook } from ${JSON.stringify(define)}
export const a = defineHook('PreToolUse', () => undefined, { name: 'no-friday', matcher: 'Bash' })
export const b = defineHook('PreToolUse', () => undefined, { name: 'no-force-push', matcher: 'Bash' })
`,
  )
  const settings = { hooks: [{ hook_event_name: 'PreToolUse', type: 'function', file }] }
  writeFileSync(join(place.home, 'hooks.json'), JSON.stringify(settings))
  const ona = await opened({ columns: 140, words: ['--settings', join(place.home, 'hooks.json')] })
  say(ona, '/hooks')
  await ona.until(/PreToolUse \* +no-friday in \S*guard\.mjs, no-force-push in \S*guard\.mjs/)
})

test('a question says why it is asked, and one that waits rings and notifies', { skip }, async () => {
  const ona = await opened()
  say(ona, 'run mkdir -v one')
  await ona.until(/default mode prompts for Bash; no rule allows `mkdir -v one`[\s\S]*1\. Yes/)
  await become(() => ona.raw().includes('\x1b]9;Bash command\x07\x07'))
})

test('links can be clicked where the terminal is said to know them', { skip }, async (t) => {
  const ona = await withModel(t, [{ text: 'See [the page](https://example.com/page).' }], {
    env: { ONA_HYPERLINKS: 'on', NO_COLOR: '' },
  })
  say(ona, 'where?')
  await ona.until(/See the page/)
  await become(() => ona.raw().includes('\x1b]8;;https://example.com/page\x1b\\'))
})

for (const [background, ground] of [
  ['#fdf6e3', '254'],
  ['#1d1f21', '237'],
  ['default', '237'],
] as const)
  test(`on a background of ${background} the colours fit`, { skip }, async () => {
    const ona = await opened({ background, env: { NO_COLOR: '' } })
    say(ona, 'hello there')
    await ona.until(/● I am/)
    assert.match(ona.styled(), new RegExp(`\x1b\\[[0-9;]*48;5;${ground}m`))
    assert.doesNotMatch(ona.all(), /rgb:/)
  })

test('what the terminal says beforehand counts where it does not answer', { skip }, async () => {
  const ona = await opened({ env: { NO_COLOR: '', COLORFGBG: '0;15' } })
  say(ona, 'hello there')
  await ona.until(/● I am/)
  assert.match(ona.styled(), /\x1b\[[0-9;]*48;5;254m/)
})

test('the todo list is redrawn in place, and stands in the scrollback once', { skip }, async (t) => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const todos = (done: number) => ({
    todos: ['Read it', 'Change it', 'Test it'].map((content, at) => ({
      content,
      status: at < done ? 'completed' : at === done ? 'in_progress' : 'pending',
      activeForm: content,
    })),
  })
  const after =
    (gate: Promise<void>, line: Line): Line =>
    async (chat) => {
      await gate
      return typeof line === 'function' ? line(chat) : line
    }
  const ona = await withModel(t, [
    call('TodoWrite', todos(0)),
    after(gates[0]!.promise, call('TodoWrite', todos(2))),
    after(gates[1]!.promise, { text: 'Ready.' }),
  ])
  say(ona, 'go')
  await ona.until(/▸ Read it\n {2}○ Change it\n {2}○ Test it\n/)
  gates[0]!.resolve()
  await ona.until(/✔ Read it\n {2}✔ Change it\n {2}▸ Test it\n/)
  ona.keys('C-t')
  await become(() => !/Test it/.test(ona.all()))
  ona.keys('C-t')
  await ona.until(/▸ Test it/)
  gates[1]!.resolve()
  await ona.until(/● Ready\.\n\n● Todos\(2 of 3 done\)\n {2}└ ✔ Read it\n {4}✔ Change it\n {4}▸ Test it\n\n─/)
  assert.equal(ona.all().match(/Read it/g)?.length, 1)
})

test('sub-agents of one reply run at once, a line each; their questions come one after another', {
  skip,
}, async (t) => {
  const gate = Promise.withResolvers<void>()
  const start = (name: string) => ({
    name: 'Agent',
    input: { description: `look ${name}`, prompt: `Look at ${name}.`, subagent_type: 'general-purpose' },
  })
  const play: Line = async ({ messages }) => {
    const name = ['north', 'south'].find((one) => messages.some(({ text }) => text.includes(`Look at ${one}.`)))
    const calls = messages.filter(({ role }) => role === 'tool').length
    if (!name) return calls > 0 ? { text: 'Both are back.' } : { calls: [start('north'), start('south')] }
    if (calls === 0) return call('Bash', { command: `mkdir ${name}`, description: 'a folder' })
    await gate.promise
    return { text: `Seen ${name}.` }
  }
  const ona = await withModel(t, Array<Line>(12).fill(play), { words: ['--allowed-tools', 'Agent'] })
  say(ona, 'go')
  for (const _question of [1, 2]) {
    const screen = await ona.until(
      /Bash command \(asked by the agent "look (north|south)"\)[\s\S]*mkdir \1\n[\s\S]*1\. Yes/,
    )
    const [name] = /mkdir (north|south)(?=\n)/.exec(screen)!
    ona.keys('y')
    await become(() => !ona.all().includes(`\n  ${name}\n`))
  }
  await ona.until(
    /. Agent\(look north\)[^\n]* · Bash\(mkdir north\)\n. Agent\(look south\)[^\n]* · Bash\(mkdir south\)\n\n. Running 2 agents…/,
  )
  gate.resolve()
  await ona.until(/● Both are back\./)
  for (const name of ['north', 'south'])
    assert.match(
      ona.all(),
      new RegExp(`● Agent\\(look ${name}\\)[^\\n]*\\n  ├ ● Bash\\(mkdir ${name}\\)[^\\n]*\\n  └ Seen ${name}\\.`),
    )
})

test('a running command shows the end of its output as it comes; the line below counts what runs behind', {
  skip,
}, async () => {
  const ona = await opened({ words: ['--allowed-tools', 'Bash'] })
  const script = 'i=0; while [ ! -e gate ]; do i=$((i+1)); echo tick-$i; sleep 0.1; done; echo end'
  say(ona, `run ${script}`)
  await ona.until(/└ tick-\d+\n {4}tick-\d+\n {4}tick-\d+\n {4}tick-\d+\n {4}tick-\d+\n/)
  await ona.until(/ctrl\+b to run in the background/)
  ona.keys('C-b')
  await ona.until(/1 in background \(\/tasks\)/)
  writeFileSync(join(place.project, 'gate'), '')
  await become(() => !/\d in background \(/.test(ona.all()))
})

test('the pager finds a word far up, goes on to the next and comes back', { skip }, async (t) => {
  const text = Array.from({ length: 300 }, (_, at) => `paragraph ${at}${at % 90 === 7 ? ' needle' : ''}`).join('\n\n')
  const ona = await withModel(t, [{ text }])
  say(ona, 'go')
  await ona.until(/paragraph 299[\s\S]*❯ ask/)
  ona.keys('C-o')
  await ona.until(/transcript/)
  ona.type('/needle')
  ona.keys('Enter')
  await ona.until(/paragraph 7 needle/)
  ona.type('n')
  await ona.until(/paragraph 97 needle/)
  ona.type('q')
  await ona.until(/paragraph 299[\s\S]*❯ ask/)
})

test('what a tool prints can neither move the cursor, nor name the window, nor fill the clipboard', {
  skip,
}, async (t) => {
  const hostile = String.raw`printf '\033[2J\033[1;1Hgone\033]0;owned\007\033]52;c;b3duZWQ=\007\033[?1049h\033P+q\033\\\r\nover\rwritten\b\b\n\233 31mred\n'`
  const ona = await withModel(
    t,
    [
      call('Bash', { command: `${hostile}; seq -f 'line %g' 10000`, description: '\x1b]0;owned\x07look' }),
      { text: 'It says \x1b]0;owned\x07\x1b[2J\x1b[31mred\u202Edetrevni.' },
    ],
    { words: bypass },
  )
  say(ona, 'go')
  const screen = await ona.until(/● It says red<U\+202E>detrevni\./)
  assert.match(screen, /❯ go/)
  assert.match(screen, /line 10000/)
  const raw = ona.raw()
  for (const bad of ['\x1b]0;owned', '\x1b]52', '\x1b[2J', '\x1b[1;1H', '\x1b[?1049h', '\x1bP', '\u202e', '\u009b'])
    assert.ok(!raw.includes(bad), JSON.stringify(bad))
})

test('a line of 100 KB and ten thousand lines are shown short, and found whole on their own screen', {
  skip,
}, async (t) => {
  const ona = await withModel(
    t,
    [call('Bash', { command: `head -c 100000 /dev/zero | tr '\\0' x; echo; seq 10000`, description: 'much' })],
    { words: bypass },
  )
  say(ona, 'go')
  const screen = await ona.until(/● Done\.[\s\S]*❯ ask/)
  assert.match(screen, /└ x+…\n[\s\S]*… \+\d+ lines \(ctrl\+o shows all\)/)
  assert.ok(screen.split('\n').length < 24, screen)
  ona.keys('C-o')
  await ona.until(/transcript/)
  ona.type('/xxxxxxxxxx')
  ona.keys('Enter')
  await ona.until(/x{80}\n {4}x{80}/)
  ona.type('q')
  await ona.until(idle)
})

const words = [
  '日本語の文字',
  'emoji 👩‍👩‍👧‍👦 🇩🇪 👍🏽',
  'e\u0301 combining n\u0303',
  'שלום עולם',
  'a\tb',
  'x'.repeat(70),
]

test('resized from 120 to 20 columns and back while an answer with wide characters streams in, each line is there once', {
  skip,
}, async (t) => {
  const text = Array.from({ length: 400 }, (_, at) => `line-${at}. ${words[at % words.length]}`).join('\n\n')
  const model = await startScripted(text, { pieceMs: 8, pieceSize: 30 })
  t.after(() => model.close())
  const ona = openOna(place, { env: { LM_STUDIO_BASE_URL: model.baseUrl, LM_STUDIO_MODEL: 'scripted' } })
  await ona.until(/^scripted/m)
  say(ona, 'go')
  for (const columns of [60, 120, 40, 20, 33, 120, 60]) {
    await ona.until(/line-\d+\./)
    ona.resize(columns, 30)
  }
  ona.type('typed')
  await ona.until(/line-399\.[\s\S]*❯ typed/, 60_000)
  const all = ona.all()
  const seen = [...all.matchAll(/line-(\d+)\./g)].map((match) => Number(match[1]))
  assert.deepEqual(
    seen,
    Array.from({ length: 400 }, (_, at) => at),
  )
  assert.equal(all.match(/─{20}/g) && all.split('\n').filter((line) => /^─+$/.test(line)).length, 1)
})

test('a paste with escapes in it is text: it presses no key and changes no colour', { skip }, async (t) => {
  const model = await testModel(t, [])
  const ona = await opened({ env: model.env })
  ona.paste('first \x1b[31mred\x1b[0m \x1b[A\x03 last')
  await ona.until(/❯ first red {1,2}last/)
  ona.keys('Enter')
  await ona.until(/● Done\./)
  assert.ok(!ona.raw().includes('\x1b[31mred'))
  assert.equal(model.chats.length, 1)
})

test('the terminal is closed in the middle of an answer: hooks hear of the end, and the database is whole', {
  skip,
}, async (t) => {
  const model = await startScripted('word '.repeat(4000), { pieceMs: 20, pieceSize: 5 })
  t.after(() => model.close())
  place.remove()
  const hook = { hook_event_name: 'SessionEnd', matcher: '', command: 'cat > ../end.json' }
  place = newPlace({ '~/.ona/settings.json': JSON.stringify({ hooks: [hook] }) })
  const ona = openOna(place, { env: { LM_STUDIO_BASE_URL: model.baseUrl, LM_STUDIO_MODEL: 'scripted' } })
  await ona.until(/^scripted/m)
  say(ona, 'go')
  await ona.until(/● word/)
  ona.close()
  const end = join(place.project, '..', 'end.json')
  await become(() => existsSync(end) && readFileSync(end, 'utf8').includes('"reason"'))
  assert.deepEqual(place.query('PRAGMA integrity_check'), [{ integrity_check: 'ok' }])
})
