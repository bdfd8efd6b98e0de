/** A turn as lines: what goes to the scrollback, and what is drawn in place below it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentEvent } from '../../src/agent/events.ts'
import type { Todo, ToolOutput } from '../../src/tools/output.ts'
import { ChoiceView } from '../../src/tui/dialogs/choice-view.ts'
import { TurnView } from '../../src/tui/render/turn-view.ts'

const plan = (...states: Todo['status'][]): Todo[] =>
  states.map((status, at) => ({ content: `step ${at + 1}`, status, activeForm: `doing step ${at + 1}` }))

function finished(name: string, output: Partial<ToolOutput>, ms = 5): AgentEvent[] {
  return [
    { type: 'tool-started', id: name, name, input: {}, summary: 'x' },
    { type: 'tool-finished', id: name, name, output: { content: '', isError: false, ...output }, ms, outcome: 'ran' },
  ]
}

const todoWrite = (todos: readonly Todo[]): AgentEvent[] => [
  { type: 'todos', todos },
  ...finished('TodoWrite', { content: 'ok', display: { kind: 'todos', todos } }),
]

function play(view: TurnView, ...events: AgentEvent[]): string[] {
  for (const event of events) view.on(event)
  return view.take(60)
}

test('the todo list is drawn in place while a turn runs, and printed once when it ends', () => {
  const view = new TurnView(() => {})
  const [first, second] = [plan('in_progress', 'pending'), plan('completed', 'in_progress')]
  assert.deepEqual(play(view, { type: 'turn-started' }, ...todoWrite(first)), [])
  assert.deepEqual(view.live(60, 20, Date.now()).slice(-2), ['  ▸ step 1', '  ○ step 2'])
  assert.deepEqual(play(view, ...todoWrite(second)), [])
  assert.deepEqual(view.live(60, 20, Date.now()).slice(-2), ['  ✔ step 1', '  ▸ step 2'])
  assert.deepEqual(play(view, { type: 'turn-ended', stop: 'end_turn', text: '' }), [
    '',
    '● Todos(1 of 2 done)',
    '  └ ✔ step 1',
    '    ▸ step 2',
  ])
  // a turn that does not touch the list does not print it again, and the transcript has every call
  assert.deepEqual(play(view, { type: 'turn-started' }, { type: 'turn-ended', stop: 'end_turn', text: '' }), [])
  assert.equal(view.items.filter((item) => item.kind === 'tool').length, 2)
})

test('a todo call that failed or that a hook touched is printed like any other', () => {
  const view = new TurnView(() => {})
  const todos = plan('pending')
  const note = { hook: 'count', event: 'PreToolUse', effect: 'changed', reason: '' } as const
  const [started, ended] = finished('TodoWrite', { display: { kind: 'todos', todos } })
  const lines = play(view, { type: 'turn-started' }, started!, { type: 'hook', note } as AgentEvent, ended!)
  assert.deepEqual(lines, ['', '● TodoWrite(x)', '  ⚑ hook count changed (PreToolUse)', '  └ ○ step 1'])
  assert.deepEqual(play(view, ...finished('TodoWrite', { content: 'todos: not a list', isError: true })), [
    '',
    '● TodoWrite(x)',
    '  └ todos: not a list',
  ])
})

test('a result begins with its first line that says something; a call of a moment has no time', () => {
  const view = new TurnView(() => {})
  assert.deepEqual(play(view, ...finished('Bash', { content: '\n  \n  two\nthree\n' }, 2100)), [
    '',
    '● Bash(x) 2.1s',
    '  └   two',
    '    three',
  ])
  assert.deepEqual(play(view, ...finished('Read', { content: 'one' }, 99)), ['', '● Read(x)', '  └ one'])
})

test('what a start reports stands below the banner, and is seen while the start goes on', () => {
  const view = new TurnView(() => {})
  view.hold()
  view.add({ kind: 'notice', level: 'warning', text: 'a key is unknown' }, false)
  assert.deepEqual(view.take(60), [])
  assert.deepEqual(view.live(60, 20, 0), ['  a key is unknown'])
  view.release({ kind: 'lines', lines: ['ona 1.0'] })
  assert.deepEqual(view.take(60), ['ona 1.0', '  a key is unknown'])
  assert.deepEqual(view.live(60, 20, 0), [])
})

test('in a dialog a changed line that is too long goes on under its own text', () => {
  const body = [
    '  2 + const price = (cents: number) => round(cents) / 100',
    '    plain words that are long enough to wrap',
  ]
  const view = new ChoiceView({ title: 'Edit price.ts', body, choices: [{ label: 'Yes', value: 1 }] }, () => {})
  const { lines } = view.draw(40, 30)
  assert.deepEqual(lines.slice(2, 8), [
    '',
    '    2 + const price = (cents: number) =>',
    '        round(cents) / 100',
    '      plain words that are long enough',
    '      to wrap',
    '',
  ])
})
