/** The program itself, called with words and met by servers that nobody would write. `FUZZ_RUNS=1000` is the long form. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../support/any-text.ts'
import { sized } from '../support/campaign-size.ts'
import { world } from '../support/world.ts'

const runs = Number(process.env['FUZZ_RUNS'] ?? sized(3, 12))

test('an MCP server that sends anything is survived', async () => {
  const at = world()
  const frame = fc.oneof(
    anyText({ maxLength: 80 }),
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
    for (const frames of fc.sample(fc.array(frame, { maxLength: 6 }), Math.min(runs, 40))) {
      const script = `process.stdout.write(${JSON.stringify(frames.join('\n'))} + '\\n'); setTimeout(() => process.exit(), 150)`
      const settings = { mcpServers: { x: { command: process.execPath, args: ['-e', script] } } }
      const ran = await at.run(['-p', 'list', '--model', 'rehearsal', '--settings', JSON.stringify(settings)])
      assert.deepEqual(
        [ran.code, /bug in ona/.test(ran.stderr)],
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
    for (const words of fc.sample(fc.array(word, { minLength: 1, maxLength: 5 }), runs)) {
      const ran = await at.run(words.filter((each) => !['login', 'serve', 'acp'].includes(each)))
      assert.ok(ran.code !== null && ran.code <= 2, `${JSON.stringify(words)} ended with ${ran.code}: ${ran.stderr}`)
      assert.doesNotMatch(ran.stderr, /bug in ona/, JSON.stringify(words))
    }
  } finally {
    at.close()
  }
})
