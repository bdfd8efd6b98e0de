import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { applyOnAct, applyOnAsk, linkedDispatch } from './dispatch.ts'
import { parseRoles } from './read-roles.ts'
import type { Role } from './role.ts'

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
  assert.deepEqual(await linkedDispatch({ from }), { handlers: [], problems: [] })
  const file = join(from, 'ona.roles.mjs')
  const add = `const add = (word) => ({ hooks: { onDispatch: { onInvokeAskInput: (input) => ({ ...input, ask: input.ask + word }) } } })`
  writeFileSync(
    file,
    `${add}\nexport const roles = [{ slug: 'linked', ...add(' please') }, { slug: 'other', ...add(' now') }]`,
  )
  assert.deepEqual(
    await linkedDispatch({ from }),
    { handlers: [], problems: [] },
    'nothing is linked, so nothing is loaded',
  )
  mkdirSync(join(from, '.agent/repo=.this/role=linked'), { recursive: true })
  const { handlers } = await linkedDispatch({ from })
  const [ask] = handlers as unknown as { event: string; run(args: object): Promise<undefined> }[]
  const image = { type: 'image', data: '', mimeType: 'image/png' }
  const step = { source: 'user', input: [{ type: 'text', text: 'fix it' }, image] }
  await ask!.run({ step })
  assert.deepEqual([ask!.event, step.input], ['before_ingest', [{ type: 'text', text: 'fix it please' }, image]])
})

test('a linked role that cannot be loaded is reported', async (t) => {
  const from = mkdtempSync(join(tmpdir(), 'ona-dispatch-'))
  t.after(() => rmSync(from, { recursive: true, force: true }))
  mkdirSync(join(from, '.agent/repo=.this/role=a'), { recursive: true })
  writeFileSync(join(from, '.agent/repo=.this/role=a/role.mjs'), 'throw new Error("no")')
  const { handlers, problems } = await linkedDispatch({ from })
  assert.deepEqual(handlers, [])
  assert.match(problems.join(), /role\.mjs fails when it is loaded: no/)
})
