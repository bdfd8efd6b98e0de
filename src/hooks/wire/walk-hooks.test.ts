import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type HookPlace, type HookVisitor, walkHooks } from './walk-hooks.ts'

function walked(hooks: unknown, more: Partial<HookVisitor> = {}) {
  const places: HookPlace[] = []
  const faults: string[] = []
  walkHooks(hooks, {
    hook: (place) => places.push(place),
    fault: (path, why) => faults.push(`${path} ${why}`),
    ...more,
  })
  return { places, faults }
}

test('each hook of a flat list, with its place; what is no hook is a fault', () => {
  const first = { hook_event_name: 'Stop', matcher: 'm', match: 1, command: 'a' }
  const hook = { command: 'a' }
  assert.deepEqual(walked([first, 7, {}]), {
    places: [
      {
        ...{ event: 'Stop', matcher: 'm', match: 1, hook, flat: first },
        ...{ path: 'hooks[0]', eventPath: 'hooks[0].hook_event_name' },
      },
      {
        ...{ event: undefined, matcher: undefined, match: undefined, hook: {}, flat: {} },
        ...{ path: 'hooks[2]', eventPath: 'hooks[2].hook_event_name' },
      },
    ],
    faults: ['hooks[1] must be an object with hook_event_name and command'],
  })
})

test('each hook of each group of each event; as an entry of the flat list a hook goes before its group', () => {
  const one = { command: 'a', matcher: 'own', name: 'n' }
  const two = { command: 'b' }
  const group = { matcher: 'm', match: 1, note: 'x' }
  const common = { event: 'Stop', matcher: 'm', match: 1, eventPath: 'hooks.Stop[0]' }
  const bare = { event: 'Setup', matcher: undefined, match: undefined, hook: {} }
  assert.deepEqual(walked({ Stop: [{ ...group, hooks: [one, 7, two] }, 8], Setup: [{}], Odd: 9 }), {
    places: [
      {
        ...{ ...common, hook: one, path: 'hooks.Stop[0].hooks[0]' },
        flat: { hook_event_name: 'Stop', ...group, ...one },
      },
      {
        ...{ ...common, hook: two, path: 'hooks.Stop[0].hooks[2]' },
        flat: { hook_event_name: 'Stop', ...group, ...two },
      },
      {
        ...{ ...bare, path: 'hooks.Setup[0].hooks[0]', eventPath: 'hooks.Setup[0]' },
        flat: { hook_event_name: 'Setup' },
      },
    ],
    faults: [
      'hooks.Stop[0].hooks[1] must be an object with type and command',
      'hooks.Stop[1] must be {"matcher": …, "hooks": […]}',
      'hooks.Odd must be a list of {"matcher": …, "hooks": […]}',
    ],
  })
})

test('an event and a group can be skipped; no hooks at all are no fault, and what is neither shape is one', () => {
  const hooks = {
    Stop: [{ hooks: [{ command: 'a' }] }],
    Setup: [{ skip: 1, hooks: [{}] }, { hooks: [{ command: 'b' }] }],
  }
  const { places } = walked(hooks, { event: (name) => name !== 'Stop', group: (group) => !('skip' in group) })
  assert.deepEqual(
    places.map(({ path }) => path),
    ['hooks.Setup[1].hooks[0]'],
  )
  const nothing = { places: [], faults: [] }
  assert.deepEqual(
    [undefined, null, [], {}].map((each) => walked(each)),
    Array(4).fill(nothing),
  )
  assert.deepEqual(walked(7), { places: [], faults: ['hooks must be a list of hooks, or an object of events'] })
})
