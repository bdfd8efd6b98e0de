/** What the terminal does beside the conversation: background, clipboard, banner, colours, bell, and the way back. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, beforeEach, mock, test } from 'node:test'
import { isLight } from '../../src/tui/render/style.ts'
import { Terminal } from '../../src/tui/session/terminal.ts'
import { Keyboard, testTerminal, until } from '../support/screen.ts'
import { hasTmux, newPlace, type Ona, openOna, type Place, stopTmux } from '../support/terminal.ts'

const skip = hasTmux() ? false : 'tmux is not installed'
const idle = /❯ ask for something/
let place: Place
beforeEach(() => {
  place = newPlace()
})
afterEach(() => place.remove())
after(stopTmux)

const say = (ona: Ona, text: string) => {
  ona.type(text)
  ona.keys('Enter')
}

test('Ctrl-B sends a running command to the background: the turn goes on, and the command too', { skip }, async () => {
  const ona = openOna(place, { words: ['--allowed-tools', 'Bash'] })
  await ona.until(idle)
  say(ona, 'run while [ ! -e gate ]; do sleep 0.1; done; echo finished at last > seen')
  await ona.until(/ctrl\+b to run in the background/)
  ona.keys('C-b')
  await ona.until(/Running in background \(bash_1\)/)
  await ona.until(idle)
  say(ona, '/tasks')
  await ona.until(/bash_1[\s\S]*running/)
  writeFileSync(join(place.project, 'gate'), '')
  await ona.until(/bash_1[^\n]*completed|completed[^\n]*bash_1|finished in the background/)
  const [row] = place.query<{ payload: string }>(
    "SELECT payload_json AS payload FROM transcript_entries WHERE entry_type = 'tool_result' ORDER BY id LIMIT 1",
  )
  assert.match(row!.payload, /The user sent the command to the background; it runs on with ID: bash_1/)
})

test('Ctrl-V pastes the image of the clipboard; without one it says so', { skip }, async () => {
  const bin = join(place.home, 'bin')
  mkdirSync(bin)
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  writeFileSync(join(bin, 'xclip'), `#!/bin/sh\n[ -e "$HOME/empty" ] && exit 1\necho ${png} | base64 -d\n`)
  chmodSync(join(bin, 'xclip'), 0o755)
  const ona = openOna(place, { env: { PATH: `${bin}:${process.env['PATH']}` } })
  await ona.until(idle)
  ona.type('what is this ')
  ona.keys('C-v')
  await ona.until(/❯ what is this \[Image #1\]/)
  ona.keys('Enter')
  await ona.until(/● /)
  await ona.until(idle)
  const [row] = place.query<{ payload: string }>(
    "SELECT payload_json AS payload FROM transcript_entries WHERE entry_type = 'attachment' ORDER BY id LIMIT 1",
  )
  assert.ok(row!.payload.includes(png))
  writeFileSync(join(place.home, 'empty'), '')
  ona.keys('C-v')
  await ona.until(/There is no image in the clipboard\./)
})

test('the banner says what governs the session; leaving says how to resume it', { skip }, async () => {
  place.remove()
  place = newPlace({
    '~/.ona/settings.json': JSON.stringify({
      permissions: { deny: ['Bash(rm *)', 'Read(.env)'], allow: ['Bash(ls *)'] },
      hooks: [
        { hook_event_name: 'PreToolUse', matcher: 'Bash', command: 'true' },
        { hook_event_name: 'Stop', command: 'true' },
      ],
    }),
  })
  const ona = openOna(place, { words: ['--trust'] })
  await ona.until(/2 hooks · 3 rules · sandbox (on|off) · trusted/)
  say(ona, 'hello there')
  await ona.until(/rehearsal model, not/)
  await ona.until(idle)
  say(ona, '/exit')
  const [, id] = /Resume this session with: ona --resume ([0-9a-f-]{36})/.exec(await ona.until(/LEFT WITH 0/))!
  const again = openOna(place, { words: ['--resume', id!] })
  await again.until(new RegExp(`resumed session ${id}`))
})

test('a background that the terminal reports as light is taken for one', () => {
  for (const [reported, light] of [
    ['rgb:ffff/ffff/ffff', true],
    ['rgb:fdfd/f6f6/e3e3', true],
    ['rgb:0000/0000/0000', false],
    ['rgb:2828/2c2c/3434', false],
    ['rgba:ffff/ffff/ffff/ffff', true],
  ] as const)
    assert.equal(isLight(reported), light, reported)
  const [keyboard, screen] = [new Keyboard(), testTerminal()]
  const terminal = new Terminal(keyboard, screen, {})
  const heard: string[] = []
  terminal.onBackground = (reported) => void heard.push(reported)
  terminal.open()
  keyboard.type('\x1b]11;rgb:ffff/ff', 'ff/ffff\x1b\\') // in two pieces, as a slow line brings it
  terminal.close()
  assert.deepEqual(heard, ['rgb:ffff/ffff/ffff'])
})

test('an answer about the background that comes late and in pieces presses no key and types nothing', () => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  try {
    const whole = '\x1b]11;rgb:ffff/ffff/ffff\x1b\\'
    for (const at of [1, 2, 3, 6, 20, whole.length - 1]) {
      const [keyboard, screen] = [new Keyboard(), testTerminal()]
      const terminal = new Terminal(keyboard, screen, {})
      const [heard, pressed]: [string[], unknown[]] = [[], []]
      terminal.onBackground = (reported) => void heard.push(reported)
      terminal.prompt = { text: '', press: (input) => void pressed.push(input), draw: () => ({ lines: [] }) }
      terminal.open()
      keyboard.type(whole.slice(0, at))
      mock.timers.tick(200)
      keyboard.type(whole.slice(at), 'x')
      assert.deepEqual([heard, pressed], [['rgb:ffff/ffff/ffff'], [{ text: 'x' }]], `cut after ${at}`)
      // the answer is there: Esc is a key again, at once
      keyboard.type('\x1b')
      mock.timers.tick(41)
      assert.deepEqual(pressed.at(-1), { key: 'esc' })
      // half of one that never ends is dropped
      keyboard.type('\x1b]11;rgb:ff')
      mock.timers.tick(2_001)
      keyboard.type('y')
      assert.deepEqual(pressed.at(-1), { text: 'y' })
      terminal.close()
    }
  } finally {
    mock.timers.reset()
  }
})

test('a question that nobody has seen yet is not answered by keys that came too early', async () => {
  const [keyboard, screen] = [new Keyboard(), testTerminal()]
  const terminal = new Terminal(keyboard, screen, {})
  terminal.open()
  const choices = [
    { label: 'Yes', value: 'yes', key: 'y' },
    { label: 'No', value: 'no', key: 'n' },
  ]
  const [first, second] = [terminal.choose({ title: 'One?', choices }), terminal.choose({ title: 'Two?', choices })]
  await until(screen, /1 more question after this one[\s\S]*One\?/)
  keyboard.type('yy', 'y') // in one piece, as a busy terminal brings it, and once more by a key that bounces
  assert.equal((await first)?.value, 'yes')
  await until(screen, /Two\?/)
  const answered = second.then((chosen) => chosen?.value)
  while ((await Promise.race([answered, new Promise((resolve) => setTimeout(resolve, 50))])) === undefined)
    keyboard.type('n')
  assert.equal(await answered, 'no')
  terminal.close()
})

test('keys typed fast come in one piece, and each counts', async () => {
  const [keyboard, screen] = [new Keyboard(), testTerminal()]
  const terminal = new Terminal(keyboard, screen, {})
  terminal.open()
  const choices = [{ label: 'No, and say why', value: 'no', key: 'n', text: 'why' }]
  const asked = terminal.choose({ title: 'One?', choices })
  await until(screen, /One\?/)
  keyboard.type('nuse pnpm', '\r')
  assert.deepEqual(await asked, { value: 'no', values: ['no'], text: 'use pnpm' })
  const page = terminal.page(
    'words',
    Array.from({ length: 200 }, (_, at) => (at === 150 ? 'needle' : `row ${at}`)),
  )
  keyboard.type('/needle', '\r')
  await until(screen, /needle: 1 of 1/)
  keyboard.type('q')
  await page
  terminal.close()
})

test('a question that waits rings once, by name, and not when it is answered in time or is set to be quiet', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const rung = async (env: NodeJS.ProcessEnv, waitMs: number) => {
      const [keyboard, screen] = [new Keyboard(), testTerminal()]
      let written = ''
      const write = screen.write.bind(screen)
      screen.write = (text) => {
        written += text
        return write(text)
      }
      const terminal = new Terminal(keyboard, screen, env)
      terminal.open()
      const question = terminal.choose({ title: 'Run it?', choices: [{ label: 'Yes', value: 1 }] })
      mock.timers.tick(waitMs)
      keyboard.type('1')
      assert.equal((await question)?.value, 1)
      mock.timers.tick(60_000)
      terminal.close()
      return written
        .split('\x1b]9;')
        .slice(1)
        .map((text) => text.slice(0, text.indexOf('\x07') + 2))
    }
    assert.deepEqual(await rung({}, 6_001), ['Run it?\x07\x07'])
    assert.deepEqual(await rung({}, 5_000), [])
    assert.deepEqual(await rung({ ONA_NOTIFICATIONS: 'off' }, 6_001), [])
  } finally {
    mock.timers.reset()
  }
})
