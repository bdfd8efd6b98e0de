import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawPrompt } from './prompt-picture.ts'
import { type StatusFacts, statusLine } from './status-line.ts'
import { useTheme } from './style.ts'
import { width } from './width.ts'

const facts: StatusFacts = {
  model: 'claude-sonnet-4',
  phase: 'implement',
  mode: 'acceptEdits',
  contextShare: 0.42,
  costUsd: 1.5,
  branch: 'feature/greeting',
  name: 'the greeting',
  rehearsal: false,
}

test('a narrow status line leaves out what matters least, and cuts no word', () => {
  useTheme('dark', false)
  assert.equal(
    statusLine(facts, 120),
    'accept edits on (shift+tab turns) · claude-sonnet-4 · implement · 42% context · $1.50 · feature/greeting · the greeting',
  )
  assert.equal(statusLine(facts, 80), 'accept edits on · claude-sonnet-4 · implement · 42% · $1.50 · feature/greeting')
  assert.equal(statusLine(facts, 60), 'accept edits on · claude-sonnet-4 · implement · 42% · $1.50')
  assert.equal(statusLine(facts, 40), 'accept edits on · implement')
  assert.equal(statusLine({ ...facts, rehearsal: true, mode: 'plan' }, 40), 'plan mode on · rehearsal · implement')
})

test('the keys of ? stand in columns, on a narrow screen too', () => {
  const nothing = { menu: undefined, search: undefined, hint: '', status: [], vim: undefined, arguments: '' }
  const picture = { ...nothing, draft: { text: '', cursor: 0 }, help: true, busy: false }
  const starts = (columns: number) => {
    const lines = drawPrompt(picture, columns, 40).lines.slice(2)
    for (const line of lines) assert.ok(width(line) <= columns, line)
    return [
      lines.find((line) => line.startsWith('/ '))!.indexOf('commands'),
      lines.find((line) => line.startsWith('esc'))!.indexOf('interrupt'),
    ]
  }
  assert.deepEqual(starts(80), [28, 28])
  assert.deepEqual(starts(40), [15, 15])
  assert.deepEqual(starts(120), [28, 28])
})
