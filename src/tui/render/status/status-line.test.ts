import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawPrompt } from '../../input/prompt-render.ts'
import { useTheme } from '../style.ts'
import { width } from '../width.ts'
import { type StatusFacts, statusLine } from './status-line.ts'

const facts: StatusFacts = {
  model: 'claude-sonnet-4',
  phase: 'implement',
  mode: 'acceptEdits',
  contextShare: 0.42,
  costUsd: 1.5,
  branch: 'feature/greeting',
  name: 'the greeting',
  rehearsal: false,
  background: 0,
}

test('a narrow status line leaves out what matters least, and cuts no word', () => {
  useTheme('dark', false)
  assert.equal(
    statusLine(facts, 124),
    'accept edits on (shift+tab to cycle) · claude-sonnet-4 · implement · 42% context · $1.50 · feature/greeting · the greeting',
  )
  assert.equal(statusLine(facts, 80), 'accept edits on · claude-sonnet-4 · implement · 42% · $1.50 · feature/greeting')
  assert.equal(statusLine(facts, 60), 'accept edits on · claude-sonnet-4 · implement · 42% · $1.50')
  assert.equal(statusLine(facts, 40), 'accept edits on · implement')
  assert.equal(statusLine({ ...facts, rehearsal: true, mode: 'plan' }, 40), 'plan mode on · rehearsal · implement')
})

test('on a screen of few rows the line being typed stays in sight, whatever is open below it', () => {
  const items = Array.from({ length: 20 }, (_, i) => ({ label: `/c${i}`, hint: '', insert: '', runs: true }))
  const base = { search: undefined, hint: '', status: [], vim: undefined, arguments: '', busy: false }
  const draft = { text: '/c', cursor: 2 }
  const rows = (picture: { menu?: unknown; help: boolean }) =>
    drawPrompt({ ...base, draft, ...picture } as Parameters<typeof drawPrompt>[0], 80, 6).lines
  const menu = rows({ menu: { items, from: 0, to: 2, at: 9 }, help: false })
  const seen = menu.slice(1).map((line) => line.trimEnd())
  assert.deepEqual(seen, ['❯ /c', '  /c8', '❯ /c9', '  /c10', '  10 of 20'])
  assert.deepEqual(rows({ help: true }).slice(-1), ['… /keybindings shows all'])
  assert.equal(rows({ help: true }).length, 6)
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
