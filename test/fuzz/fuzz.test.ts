/**
 * Fuzz of every door. `FUZZ_RUNS=20000 node scripts/test.ts test/fuzz/fuzz.test.ts` is the long form. What once went wrong is kept in
 * test/fixtures/fuzz-regressions.json, as `{ door, text }`, and tried first.
 */
import assert from 'node:assert/strict'
import { appendFileSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { world } from '../support/world.ts'
import { closeDoors, doors, doorsFolder, texts } from './doors.ts'

const runs = Number(process.env['FUZZ_RUNS'] ?? 300)
const longestMs = 2_000
const regressions = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/fuzz-regressions.json'), 'utf8'),
) as {
  door: string
  text: string
}[]

after(() => {
  closeDoors()
  rmSync(doorsFolder, { recursive: true, force: true })
})

for (const { name, words, take } of doors) {
  test(`whatever comes in as ${name}, it is taken or refused`, async () => {
    const examples = regressions.filter(({ door }) => door === name).map(({ text }): [string] => [text])
    const property = fc.asyncProperty(texts(words), async (text) => {
      const begun = performance.now()
      await take(text)
      assert.ok(performance.now() - begun < longestMs, `it took ${Math.round(performance.now() - begun)} ms`)
    })
    const found = await fc.check(property, { numRuns: runs, examples })
    if (found.failed && process.env['FUZZ_SAVE'])
      appendFileSync(process.env['FUZZ_SAVE'], `${JSON.stringify({ door: name, text: found.counterexample?.[0] })}\n`)
    assert.equal(found.failed, false, `${JSON.stringify(found.counterexample)}\n${String(found.errorInstance)}`)
    assert.deepEqual(Object.keys(Object.prototype), [], 'a prototype was changed')
    console.log(`${name}: ${found.numRuns} cases, ${found.numRuns} survived`)
  })
}

/** Through the program: what cannot be had in one process. */
const throughProgram = Math.max(6, Math.round(runs / 25))

test('an MCP server that sends anything is survived', async () => {
  const at = world()
  const frame = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc
      .record({ jsonrpc: fc.constant('2.0'), id: fc.oneof(fc.nat(3), fc.string()), result: fc.jsonValue() })
      .map((value) => JSON.stringify(value)),
    fc
      .record({
        jsonrpc: fc.constant('2.0'),
        method: fc.constantFrom('ping', 'notifications/x', 'tools/list'),
        params: fc.jsonValue(),
      })
      .map((value) => JSON.stringify(value)),
  )
  try {
    for (const frames of fc.sample(fc.array(frame, { maxLength: 6 }), Math.min(throughProgram, 40))) {
      const script = `process.stdout.write(${JSON.stringify(frames.join('\n'))} + '\\n'); setTimeout(() => process.exit(), 150)`
      const settings = { mcpServers: { x: { command: process.execPath, args: ['-e', script] } } }
      const ran = await at.run(['-p', 'list', '--settings', JSON.stringify(settings)])
      assert.deepEqual(
        [ran.code, /fault of ours/.test(ran.stderr)],
        [0, false],
        `${JSON.stringify(frames)}: ${ran.stderr}`,
      )
    }
  } finally {
    at.close()
  }
})

test('whatever the program is called with, it ends with 0, 1 or 2 and in words', async () => {
  const at = world()
  const word = fc.oneof(
    fc.constantFrom(
      'init',
      'hooks',
      'fire',
      'plan',
      'verify',
      'mcp',
      'audit',
      'role',
      'status',
      'dispatcher',
      'permissions',
      'rehearse',
      'test',
      'list',
      'add',
      'PreToolUse',
      'x',
    ),
    fc.constantFrom(
      '--json',
      '--help',
      '--conversation',
      '--cwd',
      '--input',
      '--tool',
      '--eval',
      '--transition',
      '--init-db',
      '-p',
      '--model',
      '--settings',
      '{}',
      '{"tool":1}',
      '--',
      '-',
      '--resume',
    ),
    fc.string({ maxLength: 8 }).map((text) => text.replaceAll('\0', '')),
  )
  try {
    for (const words of fc.sample(fc.array(word, { minLength: 1, maxLength: 5 }), throughProgram)) {
      const ran = await at.run(words.filter((each) => !['login', 'serve', 'acp'].includes(each)))
      assert.ok(ran.code !== null && ran.code <= 2, `${JSON.stringify(words)} ended with ${ran.code}: ${ran.stderr}`)
      assert.doesNotMatch(ran.stderr, /fault of ours/, JSON.stringify(words))
    }
  } finally {
    at.close()
  }
})
