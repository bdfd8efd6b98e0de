import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Problem } from '../files/problem.ts'
import { parseRoles, readRoles } from './read-roles.ts'
import { hooksOf } from './role.ts'

const parse = (value: unknown) => parseRoles(value, 'ona.roles.yaml', '.this')
const hooks = (onBrain: unknown) => ({ roles: [{ slug: 'a', hooks: { onBrain } }] })

test('a role gives its hooks in the order of its declaration, with its name on them', () => {
  const [role] = parse({
    slug: 'acme',
    roles: [
      {
        slug: 'mechanic',
        hooks: {
          onBrain: {
            onTool: [{ command: 'guard', timeout: 'PT5S', filter: { what: 'Bash' } }],
            onBoot: [{ command: 'boot', timeout: { minutes: 1 } }],
          },
        },
      },
    ],
  })
  assert.deepEqual(hooksOf(role!), [
    { author: 'repo=acme/role=mechanic', event: 'onBoot', command: 'boot', timeout: { minutes: 1 } },
    { author: 'repo=acme/role=mechanic', event: 'onTool', command: 'guard', timeout: 'PT5S', filter: { what: 'Bash' } },
  ])
})

test('a registry, a list of roles and one role are all taken', () => {
  for (const given of [{ roles: [{ slug: 'a' }] }, [{ slug: 'a' }], { slug: 'a' }])
    assert.deepEqual(parse(given), [{ slug: 'a', repo: '.this' }])
})

test('what is wrong is said with its place', () => {
  const wrong: [unknown, string][] = [
    [null, 'ona.roles.yaml must be an object, not null'],
    [{ roles: {} }, 'ona.roles.yaml: roles must be a list, not object'],
    [{ roles: [{}] }, 'ona.roles.yaml: roles[0]: slug is missing'],
    [
      { roles: [{ slug: '../../etc' }] },
      'ona.roles.yaml: roles[0]: slug is "../../etc"; use letters, digits, ".", "_" and "-"',
    ],
    [hooks({ onTool: [{ timeout: 'PT5S' }] }), 'ona.roles.yaml: roles[0]: hooks.onBrain.onTool[0].command is missing'],
    [
      hooks({ onTool: [{ command: 'x' }] }),
      'ona.roles.yaml: roles[0]: hooks.onBrain.onTool[0].timeout is missing; say how long it may take, as PT30S',
    ],
    [
      hooks({ onTool: [{ command: 'x', timeout: 'PT5S', filter: { what: 'Bash', when: 'during' } }] }),
      'ona.roles.yaml: roles[0]: hooks.onBrain.onTool[0].filter.when is "during"; it is "before" or "after"',
    ],
    [
      hooks({ onTool: [{ command: 'x', timeout: 'PT5S', filter: { what: 'Bash(' } }] }),
      'ona.roles.yaml: roles[0]: hooks.onBrain.onTool[0].filter.what is neither a list of tools nor a regular expression: Bash(',
    ],
    [
      hooks({ onTool: [{ command: 'x', timeout: 'PT5S', onFailure: 'block' }] }),
      'ona.roles.yaml: roles[0]: hooks.onBrain.onTool[0].onFailure is "block"; it is "refuse" or "pass"',
    ],
    [
      hooks({
        onTool: [
          { command: 'x', timeout: 'PT5S', filter: { what: 'Bash' } },
          { command: 'x', timeout: 'PT9S', filter: { what: 'Edit', when: 'after' } },
        ],
      }),
      'repo=.this/role=a declares one hook twice, "onTool before Bash: x" and "onTool after Edit: x"; keep one of them',
    ],
    [
      { roles: [{ slug: 'a', hooks: { onDispatch: { onInvokeAskInput: 5 } } }] },
      'ona.roles.yaml: roles[0]: hooks.onDispatch.onInvokeAskInput must be a function or a list of functions',
    ],
  ]
  for (const [given, message] of wrong) assert.throws(() => parse(given), { name: 'Problem', message })
})

test('what is unknown is reported and left out, hook by hook; the rest of the role stands', () => {
  const declared = {
    slug: 'a',
    motto: 'x',
    hooks: {
      onBrain: {
        onStart: [],
        onTalk: [{ command: 'talk', timeout: 'PT5S' }],
        onBoot: [
          { command: 'all', timeout: 'PT5S', filter: { what: 'SessionStart' } },
          { command: 'again', timeout: 'PT5S', filter: { what: 'PostCompact' } },
          { command: 'never', timeout: 'PT5S', filter: { what: 'Bash' } },
          { command: 'wrong', timeout: 'soon' },
          7,
        ],
        onStop: [{ command: 'stop', timeout: 'PT5S', async: true }],
      },
    },
  }
  const { roles, failed } = readRoles({ roles: [declared, { slug: 'b', hooks: 5 }] }, 'x', '.this')
  assert.deepEqual(failed, [{ slug: 'b', repo: '.this', why: 'x: roles[1]: hooks must be an object, not number' }])
  assert.deepEqual(
    hooksOf(roles[0]!.role).map(({ event, command }) => `${event} ${command}`),
    ['onBoot all', 'onBoot again', 'onTalk talk', 'onStop stop'],
  )
  assert.deepEqual(roles[0]!.faults, [
    'x: roles[0]: hooks.onBrain.onBoot[3].timeout: "soon" is not an ISO 8601 duration; say PT30S, PT5M or { seconds: 30 }',
    'x: roles[0]: hooks.onBrain.onBoot[4] must be an object, not number',
  ])
  assert.deepEqual(roles[0]!.warnings, [
    'x: roles[0].motto: unknown key; ignored',
    'x: roles[0]: hooks.onBrain.onStart: unknown event; its hooks are left out',
    'x: roles[0]: hooks.onBrain.onBoot[2].filter: "Bash" is no start of a context; use startup, resume, clear, compact, PostCompact or PreCompact; the hook is left out',
    'x: roles[0]: hooks.onBrain.onStop[0].async: unknown key; ignored',
  ])
})

test('whatever comes, it is a role or a problem', () => {
  fc.assert(
    fc.property(
      fc.anything({ withNullPrototype: true }),
      fc.constantFrom('slug', 'roles', 'hooks', 'briefs', 'inits'),
      (value, key) => {
        for (const given of [
          value,
          { slug: 'a', [key]: value },
          hooks({ onTool: value }),
          hooks({ onTool: [value] }),
        ]) {
          try {
            parse(given)
          } catch (thrown) {
            assert.ok(thrown instanceof Problem, String(thrown))
          }
        }
      },
    ),
    { numRuns: 500 },
  )
})
