import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testTerminal } from '../../../test/support/screen.ts'
import { Screen } from './screen.ts'

test('what is printed stands above the live area once, and the live area is drawn in place', async () => {
  const terminal = testTerminal(40, 10)
  const screen = new Screen(terminal, {})
  screen.draw({ lines: ['working', '> hello'], cursor: { row: 1, column: 7 } })
  screen.print(['one', 'two'])
  screen.draw({ lines: ['working harder', 'and more', '> hello'], cursor: { row: 2, column: 7 } })
  screen.draw({ lines: ['> hello'], cursor: { row: 0, column: 7 } })
  assert.deepEqual(await terminal.all(), ['one', 'two', '> hello'])
  assert.deepEqual(await terminal.cursor(), { row: 2, column: 7 })
})

test('drawing the same again writes nothing', async () => {
  const terminal = testTerminal()
  const screen = new Screen(terminal, {})
  screen.draw({ lines: ['a', 'b'] })
  const { writes } = terminal
  screen.draw({ lines: ['a', 'b'] })
  assert.equal(terminal.writes, writes)
})

test('two thousand lines with resizes between them are each there once, in order', async () => {
  const terminal = testTerminal(100, 20)
  const screen = new Screen(terminal, { TERM_PROGRAM: 'vscode' })
  const live = () => ['─'.repeat(terminal.columns), '> 日本 typing', '─'.repeat(terminal.columns), 'status']
  for (let i = 0; i < 2000; i++) {
    screen.print([`line ${i}`])
    screen.draw({ lines: live(), cursor: { row: 1, column: 4 } })
    if (i % 100 === 50) {
      await terminal.cursor()
      terminal.resize(40 + ((i * 7) % 160), 20)
      screen.draw({ lines: live(), cursor: { row: 1, column: 4 } })
    }
  }
  const lines = await terminal.all()
  assert.deepEqual(
    lines.filter((line) => line.startsWith('line ')),
    Array.from({ length: 2000 }, (_, i) => `line ${i}`),
  )
  assert.equal(lines.length, 2004)
})

test('a live area taller than the screen shows its end and garbles nothing', async () => {
  const terminal = testTerminal(30, 6)
  const screen = new Screen(terminal, {})
  for (let count = 1; count < 20; count++)
    screen.draw({ lines: Array.from({ length: count }, (_, i) => `row ${i}`), cursor: { row: count - 1, column: 2 } })
  screen.draw({ lines: ['> '], cursor: { row: 0, column: 2 } })
  assert.deepEqual(await terminal.all(), ['> '])
})

test('wide characters, emoji and combining marks keep the cursor where the text ends', async () => {
  for (const text of ['日本語', 'e\u0301a\u0300', '한국어', '👍🏽 ok', 'ﬁne']) {
    const terminal = testTerminal(40, 5)
    const screen = new Screen(terminal, {})
    const { width } = await import('./width.ts')
    screen.draw({ lines: ['x', text, 'y'], cursor: { row: 1, column: width(text) } })
    screen.draw({ lines: ['x', `${text}!`, 'y'], cursor: { row: 1, column: width(text) + 1 } })
    assert.deepEqual(await terminal.all(), ['x', `${text}!`, 'y'])
  }
})
