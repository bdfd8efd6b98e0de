import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyOnAct, applyOnAsk } from './dispatch.ts'
import { parseRoles, type Role } from './role.ts'

const role = (slug: string, onDispatch: NonNullable<Role['hooks']>['onDispatch']): Role => ({
  slug,
  repo: 'acme',
  hooks: { onDispatch },
})

test('each transform gets what the one before it gave, role after role', async () => {
  const roles = [
    role('polite', {
      onInvokeAskInput: [
        (input) => ({ ...input, ask: `Please ${input.ask}` }),
        async (input) => ({ ...input, ask: `${input.ask}.` }),
      ],
    }),
    { slug: 'silent' },
    role('loud', { onInvokeAskInput: (input) => ({ ...input, ask: input.ask.toUpperCase(), tone: 'loud' }) }),
  ]
  assert.deepEqual(await applyOnAsk(roles, { ask: 'fix it' }), { ask: 'PLEASE FIX IT.', tone: 'loud' })
})

test('what a tool is run with passes through the roles too', async () => {
  const roles = [
    role('careful', { onInvokeActInput: ({ skill, input }) => ({ skill, input: { ...input, dryRun: true } }) }),
  ]
  assert.deepEqual(await applyOnAct(roles, { skill: 'Bash', input: { command: 'rm x' } }), {
    skill: 'Bash',
    input: { command: 'rm x', dryRun: true },
  })
})

test('with no roles the input is what it was', async () => {
  const input = { ask: 'a' }
  assert.equal(await applyOnAsk([], input), input)
})

test('a transform that fails or gives back nothing usable is named', async () => {
  const throws = [
    role('bad', {
      onInvokeAskInput: [
        (input) => input,
        () => {
          throw new Error('no')
        },
      ],
    }),
  ]
  await assert.rejects(applyOnAsk(throws, { ask: 'a' }), {
    message: 'repo=acme/role=bad: hooks.onDispatch.onInvokeAskInput[1] failed: no',
  })
  const nothing = [role('bad', { onInvokeActInput: () => undefined as never })]
  await assert.rejects(
    applyOnAct(nothing, { skill: 'x', input: {} }),
    /onInvokeActInput\[0\] must give back the input, with "skill" and an object in "input"/,
  )
})

test('transforms of a role that is declared in code are kept by the parser', async () => {
  const [parsed] = parseRoles(
    { slug: 'a', hooks: { onDispatch: { onInvokeAskInput: ({ ask }: { ask: string }) => ({ ask: `${ask}!` }) } } },
    'x',
    '.this',
  )
  assert.deepEqual(await applyOnAsk([parsed!], { ask: 'hey' }), { ask: 'hey!' })
})
