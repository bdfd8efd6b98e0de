import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { Keyboard, type TestTerminal, testTerminal, until } from '../../../../test/support/screen.ts'
import type { Session } from '../../../agent/session/session.ts'
import { addEvent } from '../../../store/audit.ts'
import { createConversation, createSession } from '../../../store/conversations.ts'
import { type Db, inMemory, openDb } from '../../../store/open.ts'
import type { SessionSummary } from '../../../store/session/session-list.ts'
import { appendEntries, type Entry } from '../../../store/session/transcript.ts'
import { getState } from '../../../store/state.ts'
import { useTheme } from '../../render/style.ts'
import { Lines } from '../../session/lines.ts'
import { Terminal } from '../../session/terminal.ts'
import { pickSession } from './pick-session.ts'

const [enter, esc, down, tab, ctrlA, ctrlR, ctrlU] = ['\r', '\x1b', '\x1b[B', '\t', '\x01', '\x12', '\x15']
const said = (type: 'user' | 'assistant', text: string): Entry => ({
  _t: type,
  uuid: 'u',
  content: [{ type: 'text', text }],
})

let db: Db
let screen: TestTerminal
let keyboard: Keyboard
let terminal: Terminal
let here: Session
const ids = new Map<string, string>()

function add(prompt: string, { project = '/shop', branch = 'main', minutes = 0, answer = 'Yes.' } = {}): void {
  const { id: conversationId } = createConversation(db, { projectDir: project })
  const { sessionId } = createSession(db, conversationId)
  addEvent(db, { conversationId, sessionId, type: 'session_start', detail: { cwd: project, branch } })
  appendEntries(db, sessionId, [
    said('user', prompt),
    {
      _t: 'assistant',
      uuid: 'u',
      content: [
        { type: 'tool_use', id: 't', name: 'Read', input: { file_path: 'price.ts' } },
        { type: 'text', text: answer },
      ],
    },
  ])
  db.transaction(() =>
    db.run(
      "UPDATE conversations SET last_active = datetime('now', ?) WHERE id = ?",
      `-${minutes} minutes`,
      conversationId,
    ),
  )
  ids.set(prompt, sessionId)
}

function open(columns = 80, rows = 30): void {
  useTheme('dark', false)
  screen = testTerminal(columns, rows)
  keyboard = new Keyboard()
  terminal = new Terminal(keyboard, screen, { TERM_PROGRAM: 'vscode' })
  terminal.open()
}
beforeEach(() => {
  db = openDb(inMemory)
  here = { db, projectDir: '/shop', cwd: '/shop', id: 'none' } as Session
  open()
})
afterEach(() => {
  terminal.close()
  db.close()
})
const shows = (text: RegExp) => until(screen, text)
const pick = (query = '') => pickSession(terminal, here, query)
const idOf = async (picked: Promise<SessionSummary | undefined>) => (await picked)?.sessionId

test('sessions are listed newest first, with when, how much and where; Enter picks', async () => {
  add('Old question', { minutes: 60 * 24 * 3, branch: 'feature/cart' })
  add('New question', { minutes: 5 })
  add('Elsewhere', { project: '/blog' })
  const picked = pick()
  assert.deepEqual((await shows(/Old question/)).slice(1), [
    '─'.repeat(80),
    'Resume a session in /shop',
    `╭${'─'.repeat(78)}╮`,
    `│ ⌕ ${'Search…'.padEnd(75)}│`,
    `╰${'─'.repeat(78)}╯`,
    '',
    '❯ New question',
    '  5 min ago · 2 messages · main',
    '',
    '  Old question',
    '  3 days ago · 2 messages · feature/cart',
    '',
    'enter to resume · space to preview · ctrl+r to rename · ctrl+a all projects ·',
    'esc to cancel',
  ])
  keyboard.type(down, enter)
  assert.equal(await idOf(picked), ids.get('Old question'))
})

test('typing searches title, prompt, branch and id; Esc clears, then leaves', async () => {
  add('Round half to even', { branch: 'feature/rounding' })
  add('Write the changelog')
  const picked = pick()
  await shows(/changelog/)
  keyboard.type('ROUND even')
  assert.doesNotMatch((await shows(/⌕ ROUND even/)).join('\n'), /changelog/)
  keyboard.type(ctrlU, 'feature/')
  await shows(/⌕ feature\/ [\s\S]*❯ Round half/)
  keyboard.type(ctrlU, ids.get('Write the changelog')!.slice(0, 8))
  await shows(/❯ Write the changelog/)
  keyboard.type('zzz')
  await shows(/no session matches "[0-9a-f]{8}zzz"/)
  keyboard.type(esc)
  await shows(/Search…[\s\S]*Round half[\s\S]*esc to cancel/)
  keyboard.type(esc)
  assert.equal(await picked, undefined)
})

test('Space shows the last messages, and Enter resumes from there', async () => {
  add('What rounds?', { answer: 'Only **cart.ts** rounds.' })
  const picked = pick()
  await shows(/What rounds/)
  keyboard.type(' ')
  const shown = await shows(/Only cart\.ts rounds/)
  assert.deepEqual(
    shown.slice(-9),
    [
      'What rounds?',
      'just now · 2 messages · main',
      '',
      '❯ What rounds?',
      '',
      '● Read(price.ts)',
      '',
      '● Only cart.ts rounds.',
      '',
    ]
      .concat('enter to resume · up and down to scroll · esc to go back')
      .slice(-9),
  )
  keyboard.type(esc)
  await shows(/Search…/)
  keyboard.type(tab)
  await shows(/up and down to scroll/)
  keyboard.type(enter)
  assert.equal(await idOf(picked), ids.get('What rounds?'))
})

test('Ctrl-R renames a session in place; the name is found', async () => {
  add('A long first prompt')
  const picked = pick()
  await shows(/A long/)
  keyboard.type(ctrlR, ctrlU, 'rounding', enter)
  await shows(/❯ rounding\n {2}just now · 2 messages · main · A long first prompt/)
  keyboard.type('rounding')
  await shows(/⌕ rounding[\s\S]*❯ rounding/)
  keyboard.type(enter)
  const { conversationId } = (await picked)!
  assert.equal(getState(db, conversationId, 'name'), 'rounding')
})

test('Ctrl-A lists the sessions of all projects', async () => {
  add('Here')
  add('There', { project: '/blog', minutes: 9 })
  const picked = pick()
  assert.doesNotMatch((await shows(/Here/)).join('\n'), /There/)
  keyboard.type(ctrlA)
  await shows(/in all projects[\s\S]*There\n {2}9 min ago · 2 messages · \/blog · main/)
  keyboard.type(down, enter)
  assert.equal((await picked)!.projectDir, '/blog')
})

test('of hundreds a window is shown, and a search finds the oldest', async () => {
  db.transaction(() => {
    for (let at = 0; at < 350; at++) add(`Question ${at}`, { minutes: 350 - at })
  })
  const picked = pick()
  await shows(/❯ Question 349/)
  assert.doesNotMatch((await screen.all()).join('\n'), /Question 330/)
  keyboard.type('\x1b[6~', '\x1b[6~', '\x1b[6~')
  await shows(/❯ Question 3\d\d\b(?<!349)[\s\S]*\d+ of \d+\+/)
  keyboard.type('question 0')
  await shows(/❯ Question 340/)
  keyboard.type(ctrlU, ids.get('Question 3')!)
  await shows(/❯ Question 3\n/)
  keyboard.type(enter)
  assert.equal(await idOf(picked), ids.get('Question 3'))
})

for (const [columns, rows] of [
  [20, 5],
  [20, 12],
  [40, 20],
  [200, 60],
] as const)
  test(`the list fits ${columns} by ${rows} cells`, async () => {
    for (let at = 0; at < 30; at++) add(`Question ${at} about 日本語 and a_very_long_word_without_a_space`)
    terminal.close()
    open(columns, rows)
    const picked = pick()
    await shows(/❯ Question 29/)
    const lines = await screen.all()
    assert.ok(lines.length <= rows, `${lines.length} lines`)
    keyboard.type(' ')
    await shows(/● Yes/)
    assert.ok((await screen.all()).length <= rows)
    keyboard.type(enter)
    assert.ok(await picked)
  })

test('on plain lines the newest are numbered; over a pipe they are printed with their ids', async () => {
  add('Old question', { minutes: 90 })
  add('New question')
  const plain = async (isInteractive: boolean, typed: string, query = '') => {
    let out = ''
    const input = {
      setEncoding() {},
      [Symbol.asyncIterator]: async function* () {
        yield typed
      },
    }
    const front = new Lines(input, { write: (text) => (out += text) }, isInteractive)
    return { picked: await pickSession(front, here, query), out }
  }
  const numbered = await plain(true, '2\n')
  assert.equal(numbered.picked?.sessionId, ids.get('Old question'))
  assert.match(numbered.out, /1\. New question \(just now · 2 messages · main\)\n {2}2\. Old question \(1 h ago/)
  const piped = await plain(false, '')
  assert.deepEqual(
    [piped.picked, piped.out.split('\n')[1]],
    [undefined, `${ids.get('Old question')}  Old question (1 h ago · 2 messages · main)`],
  )
  assert.match((await plain(true, '', 'nothing like it')).out, /No session matches "nothing like it"\./)
})
