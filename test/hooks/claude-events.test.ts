/** Events that only Claude Code has: a hook that observes is left out with a warning, one that can block is an error. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostHooks } from '../../src/cli/control/host-hooks.ts'
import { blockingEvents, observingEvents } from '../../src/hooks/claude/events.ts'
import { checkLayer } from '../../src/store/settings/settings-check.ts'

const observing = ['PostModelSwitch', 'DirectoryAdded', 'MessageDisplay']
const blocking = ['PreModelSwitch', 'UserPromptExpansion', 'PostToolBatch']
const pipe = { request: async () => undefined }

test('the two lists', () => {
  assert.deepEqual({ observingEvents, blockingEvents }, { observingEvents: observing, blockingEvents: blocking })
})

test('a program that listens to an event that ona never raises is told so, and its other hooks count', () => {
  const hooks = Object.fromEntries([...observing, 'Stop'].map((event) => [event, [{ hookCallbackIds: ['h0'] }]]))
  const read = hostHooks(hooks, pipe)
  assert.ok('handlers' in read)
  assert.deepEqual(
    { neverRaised: read.neverRaised, events: read.handlers.map(({ event }) => event) },
    { neverRaised: observing, events: ['Stop'] },
  )
})

for (const event of blocking)
  test(`a guard at ${event} is refused: it would guard nothing`, () => {
    const read = hostHooks({ [event]: [{ hookCallbackIds: ['h0'] }] }, pipe)
    assert.match(
      'problem' in read ? read.problem : '',
      new RegExp(`^hooks: the event is "${event}"; it must be one of `),
    )
    const settings = { hooks: { [event]: [{ hooks: [{ type: 'command', command: 'x' }] }] } }
    const checked = checkLayer({ level: 'user', foreign: true, settings }, () => undefined)
    assert.deepEqual(checked.problems, [
      `${event} hook: ona does not raise this event, so the hook would guard nothing; remove it, or copy the others to .ona/settings.json`,
    ])
  })
