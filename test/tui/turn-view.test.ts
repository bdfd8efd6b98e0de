/** A turn as lines: what goes to the scrollback, and what is drawn in place below it. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import type { AgentEvent } from '../../src/agent/events.ts'
import type { Todo, ToolOutput } from '../../src/tools/output.ts'
import { ChoiceView } from '../../src/tui/dialogs/choice-view.ts'
import { TurnView } from '../../src/tui/render/turn-view.ts'

// the clock stands still: times on the screen are those that a test asks for
beforeEach(() => mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-01-01T12:00:00Z') }))
afterEach(() => mock.timers.reset())

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
  assert.deepEqual(lines, ['', '● Todos(x)', '  ⚑ hook count changed (PreToolUse)', '  └ ○ step 1'])
  assert.deepEqual(play(view, ...finished('TodoWrite', { content: 'todos: not a list', isError: true })), [
    '',
    '● Todos(x)',
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
  assert.deepEqual(view.take(60), ['ona 1.0', '', '  a key is unknown'])
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

const agent = (id: string) => ({ id: `agent-${id}`, type: 'explore', about: `look ${id}`, toolUseId: id })
const startAgent = (id: string): AgentEvent => ({
  type: 'tool-started',
  id,
  name: 'Agent',
  input: { description: `look ${id}` },
  summary: `look ${id}`,
})
const callOf = (id: string, name: string, summary: string): AgentEvent => ({
  type: 'tool-started',
  id: `${id}-${name}`,
  name,
  input: {},
  summary,
  agent: agent(id),
})
const endOf = (id: string, content: string): AgentEvent => ({
  type: 'tool-finished',
  id,
  name: 'Agent',
  output: { content, isError: false },
  ms: 1500,
  outcome: 'ran',
})

test('sub-agents that run at once have one line each, redrawn in place, and are printed as each ends', () => {
  const view = new TurnView(() => {})
  const shown = (columns = 60) => view.live(columns, 20, now + 5_400, true)
  const now = Date.now()
  assert.deepEqual(play(view, { type: 'turn-started' }, startAgent('a'), startAgent('b'), startAgent('c')), [])
  play(view, callOf('b', 'Grep', 'price'), callOf('a', 'Read', 'a.ts'), callOf('a', 'Bash', 'npm test --silent'))
  assert.deepEqual(shown(), [
    '',
    '● Agent(look a) 5s · 2 calls · Bash(npm test --silent)',
    '● Agent(look b) 5s · 1 call · Grep(price)',
    '● Agent(look c) 5s',
  ])
  assert.deepEqual(shown(40), ['', '● Agent(look a) 5s · 2 calls', '● Agent(look b) 5s · 1 call', '● Agent(look c) 5s'])
  assert.deepEqual(play(view, endOf('b', 'One caller.')), [
    '',
    '● Agent(look b) 1.5s',
    '  ├ ● Grep(price)',
    '  └ One caller.',
  ])
  assert.deepEqual(shown(), ['', '● Agent(look a) 5s · 2 calls · Bash(npm test --silent)', '● Agent(look c) 5s'])
  // one that is left has room for its calls
  play(view, endOf('c', 'Nothing.'))
  assert.deepEqual(shown(), ['', '● Agent(look a) 5.4s', '  ├ ● Read(a.ts)', '  ├ ● Bash(npm test --silent)'])
})

test('what a hook did stands under the call it is about, though others run', () => {
  const view = new TurnView(() => {})
  const note = { hook: 'watch', event: 'PreToolUse', effect: 'changed', reason: '' } as const
  play(view, { type: 'turn-started' }, startAgent('a'), startAgent('b'), { type: 'hook', note, toolUseId: 'b' })
  assert.deepEqual(play(view, endOf('a', 'x'), endOf('b', 'y')), [
    '',
    '● Agent(look a) 1.5s',
    '  └ x',
    '',
    '● Agent(look b) 1.5s',
    '  ⚑ hook watch changed (PreToolUse)',
    '  └ y',
  ])
})

test('calls of an agent in the background do not hang under the call of another', () => {
  const view = new TurnView(() => {})
  play(view, { type: 'turn-started' }, startAgent('a'), callOf('gone', 'Read', 'b.ts'), callOf('a', 'Read', 'a.ts'))
  assert.deepEqual(play(view, endOf('a', 'x')), ['', '● Agent(look a) 1.5s', '  ├ ● Read(a.ts)', '  └ x'])
})

test('a narrow window cuts the facts about the turn, never how to interrupt it', () => {
  const view = new TurnView(() => {})
  const usage = { usage: { outputTokens: 1234 }, costUsd: 0, contextShare: 0 }
  play(view, { type: 'turn-started' }, { type: 'request', model: 'Claude Sonnet 4', messageCount: 1 })
  play(view, { type: 'usage', ...usage } as AgentEvent)
  const line = (columns: number) => view.live(columns, 20, Date.now()).at(-1)!.replace(/^./, '*')
  assert.equal(line(80), '* Waiting for Claude Sonnet 4… (0s · 1.2k tokens · esc to interrupt)')
  assert.equal(line(60), '* Waiting for Claude Sonnet 4… (0s · esc to interrupt)')
  assert.equal(line(50), '* Waiting for Claude Sonnet 4… (esc to interrupt)')
  assert.equal(line(40), '* Waiting for Claude… (esc to interrupt)')
})

test('a request that is sent again counts down, and says why and how to stop', () => {
  const view = new TurnView(() => {})
  const failure = { kind: 'overloaded', message: 'the server is overloaded' }
  play(view, { type: 'turn-started' }, { type: 'retry', waitMs: 8_000, attempt: 2, most: 10, failure } as AgentEvent)
  const line = (ms: number, columns = 90) =>
    view
      .live(columns, 20, Date.now() + ms)
      .at(-1)!
      .replace(/^./, '*')
  assert.match(line(0), /^\* Retrying in 8s \(attempt 2 of 10\): the server is overloaded… \(0s · esc to interrupt\)$/)
  assert.match(line(5_500), /^\* Retrying in 3s .* \(5s · esc to interrupt\)$/)
  assert.match(line(9_000), /^\* Retrying in 0s/)
  assert.match(line(0, 50), /^\* Retrying in 8s .*… \(esc to interrupt\)$/)
})

test('of a long todo list the part around the work is drawn, and the rest counted', () => {
  const view = new TurnView(() => {})
  const states = Array.from({ length: 14 }, (_, at): Todo['status'] =>
    at < 5 ? 'completed' : at === 5 ? 'in_progress' : 'pending',
  )
  play(view, { type: 'turn-started' }, ...todoWrite(plan(...states)))
  assert.deepEqual(view.live(60, 30, Date.now()).slice(-8), [
    '  ✔ step 5',
    '  ▸ step 6',
    ...[7, 8, 9, 10, 11].map((at) => `  ○ step ${at}`),
    '  … +4 done, +3 to do',
  ])
})

test('of a failure more lines are shown, none of them empty beside the fold', () => {
  const view = new TurnView(() => {})
  const text = ['--- stderr ---', 'cat: x: no such file', 'a', 'b', '', '', ...Array(20).keys(), '', 'end']
  const display = { kind: 'output', text: text.join('\n'), status: 'exit 1' } as const
  assert.deepEqual(play(view, ...finished('Bash', { isError: true, display })), [
    '',
    '● Bash(x) exit 1',
    '  └ cat: x: no such file',
    '    a',
    '    b',
    '    … +20 lines (ctrl+o shows all)',
    '    18',
    '    19',
    '    ',
    '    end',
  ])
})
