/** What is kept of the worth of each case: the mutants that it was tried on, those that it failed on, and its flaw. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate as immediate } from 'node:timers/promises'
import { createConversation } from '../../store/conversations.ts'
import { openDb } from '../../store/open.ts'
import { draftPlan } from '../../store/plans.ts'
import { type Case, saveCase } from './cases.ts'
import { flawInWords, proofOf, saveProof } from './proofs.ts'
import { type Change, changeOf, flawOf, passesEmptied, proveCases } from './prove.ts'
import type { ScriptPlace } from './run-script.ts'

/** Prints the numbers up to `last`, a line each: a mutant for every line. */
const counting = (last: number): string =>
  `#!/bin/sh\n${Array.from({ length: last }, (_, at) => `echo ${at + 1}\n`).join('')}`
const mutant = (file: string, number: number): string => `${file}:${number + 1} ${number} → ${number + 1}`
const mutants = (file: string, ...numbers: number[]): string[] => numbers.map((number) => mutant(file, number))

function stage(t: TestContext, files: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), 'ona-prove-cases-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const projectDir = join(root, 'project')
  mkdirSync(projectDir)
  for (const [file, text] of Object.entries(files)) writeFileSync(join(projectDir, file), text)
  const db = openDb(join(root, 'agent.db'))
  t.after(() => db.close())
  const { id: conversationId } = createConversation(db, { projectDir })
  const plan = draftPlan(db, { conversationId, content: 'plan' })
  const change = changeOf({ files: new Map(Object.keys(files).map((file) => [file, 'x'])), hash: 'h' }, projectDir)
  let runs = 0
  const place: ScriptPlace = {
    ...{ projectDir, db, conversationId, env: process.env },
    async wrap(words, { env }) {
      runs++
      return { words, env }
    },
  }
  const proof = (each: Case) => {
    const { flaw, mutants, killed } = proofOf(db, each) ?? {}
    return { flaw, mutants, killed }
  }
  return {
    db,
    change,
    place,
    proof,
    newCase: (name: string, content: string) => saveCase(db, plan.id, { name, criterion: 'C1', content }),
    runs: () => runs,
    async prove(cases: readonly Case[], on: Change = change, more: Partial<ScriptPlace> = {}) {
      await proveCases(cases, on, { ...place, ...more })
      return cases.map(proof)
    },
  }
}

const lineOf = (file: string, at: number) => `[ "$(sh "$PROJECT_DIR/${file}" | sed -n ${at}p)" = ${at} ]\n`
const anything = (file: string) => `[ -n "$(sh "$PROJECT_DIR/${file}")" ]\n`

test('every case is tried on twelve mutants from all over the change; one that fails on none, on the others too', async (t) => {
  const at = stage(t, { one: counting(7), two: counting(7) })
  const first = [...mutants('one', 1, 2, 3, 4, 5, 6), ...mutants('two', 1, 2, 3, 4, 5, 6)]
  const seen = await at.prove([
    at.newCase('whole', `[ "$(sh "$PROJECT_DIR/two" | tr -d '\\n')" = 1234567 ]\n`),
    at.newCase('last line', lineOf('one', 7)),
    at.newCase('any line', anything('one')),
    at.newCase('nothing', 'true\n'),
  ])
  assert.deepEqual(seen, [
    { flaw: undefined, mutants: first, killed: mutants('two', 1, 2, 3, 4, 5, 6) },
    { flaw: undefined, mutants: [...first, mutant('one', 7)], killed: [mutant('one', 7)] },
    { flaw: 'kills no mutant', mutants: [...first, mutant('one', 7), mutant('two', 7)], killed: [] },
    { flaw: 'passes without the change', mutants: [], killed: [] },
  ])
})

test('of more than forty mutants forty are tried, and a case that fails on none of those is not judged', async (t) => {
  const at = stage(t, { long: counting(41) })
  const [proof] = await at.prove([at.newCase('any line', anything('long'))])
  assert.deepEqual(
    { ...proof, mutants: proof!.mutants!.toSorted() },
    {
      flaw: undefined,
      mutants: mutants('long', ...Array.from({ length: 40 }, (_, n) => n + 1)).toSorted(),
      killed: [],
    },
  )
})

test('two mutants do not judge a case, three do', async (t) => {
  const at = stage(t, { two: counting(2), three: counting(3) })
  const on = (file: string): Change => ({
    ...at.change,
    files: [file],
    texts: new Map([[file, at.change.texts.get(file)!]]),
  })
  assert.deepEqual(
    [
      await at.prove([at.newCase('of two', anything('two'))], on('two')),
      await at.prove([at.newCase('of three', anything('three'))], on('three')),
    ],
    [
      [{ flaw: undefined, mutants: mutants('two', 1, 2), killed: [] }],
      [{ flaw: 'kills no mutant', mutants: mutants('three', 1, 2, 3), killed: [] }],
    ],
  )
})

test('a case that was proved on this very change is tried on mutants alone', async (t) => {
  const at = stage(t, { one: counting(1) })
  const seen: number[] = []
  const prior = { mutants: [], killed: [] }
  for (const [name, known] of Object.entries({
    'not known': undefined,
    known: { codeHash: 'h', flaw: undefined },
    'known on other code': { codeHash: 'other', flaw: undefined },
    'known to be worth nothing': { codeHash: 'h', flaw: 'reads the source' as const },
  })) {
    const each = at.newCase(name, `# ${name}\n${lineOf('one', 1)}`)
    if (known) saveProof(at.db, { caseId: each.id, hash: each.hash, ...prior, ...known })
    const before = at.runs()
    assert.deepEqual(await at.prove([each]), [
      { flaw: undefined, mutants: mutants('one', 1), killed: mutants('one', 1) },
    ])
    assert.deepEqual(proofOf(at.db, each), {
      ...{ caseId: each.id, hash: each.hash, codeHash: 'h', flaw: undefined },
      ...{ mutants: mutants('one', 1), killed: mutants('one', 1) },
    })
    seen.push(at.runs() - before)
  }
  // emptied, commented out, ended first and with a comment more; then the mutant
  assert.deepEqual(seen, [5, 1, 5, 5])
})

test('after two minutes no further case is tried, and no further mutant', async (t) => {
  const at = stage(t, { one: counting(2) })
  let clock = 500
  t.mock.method(performance, 'now', () => clock)
  const cases = ['in time', 'to the last', 'too late'].map((name) => at.newCase(name, `# ${name}\n${lineOf('one', 2)}`))
  // four runs without the change and two mutants of each
  const times = { 6: 120_500, 11: 120_501 } as Record<number, number>
  const wrap: ScriptPlace['wrap'] = async (words, folders) => {
    const wrapped = await at.place.wrap!(words, folders)
    clock = times[at.runs()] ?? clock
    return wrapped
  }
  assert.deepEqual(await at.prove(cases, at.change, { wrap }), [
    { flaw: undefined, mutants: mutants('one', 1, 2), killed: mutants('one', 2) },
    { flaw: undefined, mutants: mutants('one', 1), killed: [] },
    { flaw: undefined, mutants: undefined, killed: undefined },
  ])
})

test('with a fault in it, a program that hangs for twenty seconds has failed', { timeout: 20_000 }, async (t) => {
  const at = stage(t, { one: counting(1) })
  const begun = join(at.place.projectDir, '../begun')
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const stop = new AbortController()
  t.after(() => stop.abort())
  let passed: boolean | undefined
  const running = passesEmptied(`echo > "${begun}"; sleep 1000`, at.change, {
    ...{ ...at.place, timeoutMs: 600_000, signal: stop.signal },
  }).then((passes) => {
    passed = passes
  })
  while (!existsSync(begun)) await immediate()
  t.mock.timers.tick(19_999)
  await once(spawn('true'), 'exit')
  assert.equal(passed, undefined)
  t.mock.timers.tick(1)
  await running
  assert.equal(passed, false)
})

test('every run of a case gets the folder of the packages', async (t) => {
  const at = stage(t, { one: counting(1) })
  const installed = join(at.place.projectDir, 'node_modules')
  mkdirSync(join(installed, 'dep'), { recursive: true })
  const told: unknown[] = []
  const wrap: ScriptPlace['wrap'] = (words, folders) => {
    told.push(folders.packages)
    return at.place.wrap!(words, folders)
  }
  const each = at.newCase('one', lineOf('one', 1))
  await at.prove([each], at.change, { wrap, sandboxed: async () => true })
  assert.deepEqual(told.splice(0), Array(5).fill(realpathSync(installed)))
  for (const more of [{}, { sandboxed: async () => false }]) {
    await at.prove([each], at.change, { wrap, ...more })
    assert.deepEqual(
      told.splice(0).map((folder) => typeof folder === 'string' && folder !== realpathSync(installed)),
      [true],
      'without a sandbox, of a copy',
    )
  }
})

test('without cases or a change nothing runs; aborted, nothing is kept', async (t) => {
  const at = stage(t, { one: counting(1) })
  const each = at.newCase('one', lineOf('one', 1))
  const none = { flaw: undefined, mutants: undefined, killed: undefined }
  assert.deepEqual(await at.prove([]), [])
  assert.deepEqual(await at.prove([each], { hash: 'h', files: [], texts: new Map() }), [none])
  assert.deepEqual(await at.prove([each], at.change, { signal: AbortSignal.abort() }), [none])
  const empty = changeOf({ files: new Map([['gone', '']]), hash: 'h' }, at.place.projectDir)
  assert.deepEqual(empty, { hash: 'h', files: [], texts: new Map() })
  assert.deepEqual(
    [await flawOf('true', empty, at.place), await passesEmptied('true', empty, at.place)],
    [undefined, false],
  )
  assert.equal(at.runs(), 0)
})

test('a script is tried on mutants until the first that it fails on', async (t) => {
  const at = stage(t, { one: counting(9) })
  const counted = async (script: string, place = at.place) => {
    const before = at.runs()
    return [await flawOf(script, at.change, place), at.runs() - before]
  }
  // emptied, commented out, ended first and with a comment more; then the mutants
  assert.deepEqual(
    [await counted(lineOf('one', 2)), await counted(anything('one'))],
    [
      [undefined, 4 + 2],
      ['kills no mutant', 4 + 9],
    ],
  )
  const turn = new AbortController()
  const place = { ...at.place, signal: turn.signal }
  const wrap: ScriptPlace['wrap'] = (words, folders) => {
    if (at.runs() >= 6 + 13 + 5) turn.abort()
    return at.place.wrap!(words, folders)
  }
  assert.deepEqual(await counted(anything('one'), { ...place, wrap }), [undefined, 4 + 2])
})

test('a flaw is stored by its number, which never changes', (t) => {
  const at = stage(t, {})
  const each = at.newCase('one', 'true\n')
  const flaws = ['passes without the change', 'reads the source', 'not the same twice', 'kills no mutant'] as const
  const stored = [undefined, ...flaws].map((flaw) => {
    saveProof(at.db, { caseId: each.id, hash: each.hash, codeHash: 'h', flaw, mutants: ['m'], killed: [] })
    return [
      at.db.get<{ number: number }>('SELECT passes_emptied AS number FROM ona_test_proofs')!.number,
      proofOf(at.db, each)?.flaw,
    ]
  })
  assert.deepEqual(
    stored,
    [undefined, ...flaws].map((flaw, number) => [number, flaw]),
  )
  assert.equal(proofOf(at.db, at.newCase('its twin', 'true\n')), undefined)
})

test('each flaw is told in words that say nothing of the code', () => {
  assert.deepEqual(flawInWords, {
    'passes without the change': 'passes without the change as well, so it proves nothing',
    'reads the source':
      'passes on the program with all its code there and none of it running: it looks at the text of the program, not at what it does',
    'not the same twice':
      'fails when it runs again, or when a comment is added to the program: it looks at the text, or keeps something between its runs',
    'kills no mutant': 'passes whatever fault is put into the program, so it proves nothing',
  })
})
