import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { applyOnAct, applyOnAsk, linkedDispatch } from './dispatch.ts'
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

test('the roles that are linked in a repository have their say, and one that is not linked has none', async (t) => {
  const from = mkdtempSync(join(tmpdir(), 'ona-dispatch-'))
  t.after(() => rmSync(from, { recursive: true, force: true }))
  assert.equal(await linkedDispatch({ from }), null)
  writeFileSync(
    join(from, 'ona.roles.mjs'),
    `
    const add = (word) => ({ hooks: { onDispatch: { onInvokeAskInput: (input) => ({ ...input, ask: input.ask + word }) } } })
    export const roles = [{ slug: 'linked', ...add(' please') }, { slug: 'other', ...add(' now') }]`,
  )
  mkdirSync(join(from, '.agent/repo=.this/role=linked'), { recursive: true })
  const dispatch = await linkedDispatch({ from })
  assert.deepEqual(await dispatch!.ask({ ask: 'fix it' }), { ask: 'fix it please' })
  assert.deepEqual(await dispatch!.act({ skill: 'Bash', input: {} }), { skill: 'Bash', input: {} })
})
