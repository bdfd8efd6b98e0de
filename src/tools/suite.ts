/** What every tool passes, so that adding one is a file, a line in all.ts and a row in suite.test.ts. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Bench, bench } from '../../test/support/tool-host.ts'
import type { JsonObject } from '../hooks/shape.ts'
import { definitionOf } from './all.ts'
import { streamCap } from './bounded.ts'
import { readInput, type Tool } from './tool.ts'

export interface Sample {
  /** Prepares the folder and gives an input that the tool takes. */
  valid(b: Bench): JsonObject | Promise<JsonObject>
  /** The same call with strings that are hard: not UTF-8, odd names, huge. */
  hard?(b: Bench): readonly JsonObject[] | Promise<readonly JsonObject[]>
  host?: Parameters<typeof bench>[1]
}

export function toolSuite(tool: Tool, sample: Sample): void {
  const start = (t: TestContext) => bench(t, sample.host)
  const required = Object.entries(tool.input.fields).filter(([, field]) => !field.optional)

  test(`${tool.name}: an empty input is answered with what is missing`, async (t) => {
    const { content, isError } = await start(t).use(tool.name, {})
    if (required.length === 0) return
    const names = required.map(([name]) => name)
    const what =
      names.length === 1 ? `${names[0]} is missing` : `${names.slice(0, -1).join(', ')} and ${names.at(-1)} are missing`
    assert.deepEqual([isError, content], [true, `${tool.name}: the input does not fit: ${what}`])
  })

  test(`${tool.name}: an input of the wrong kind is refused without running`, async (t) => {
    const b = start(t)
    for (const input of [null, [], 'text', 7]) {
      const { content, isError } = await b.use(tool.name, input)
      assert.deepEqual(
        [isError, content.startsWith(`${tool.name}: the input does not fit: must be an object`)],
        [true, true],
      )
    }
    const valid = await sample.valid(b)
    for (const [key] of required) {
      const { content, isError } = await b.use(tool.name, { ...valid, [key]: { not: 'it' } })
      assert.deepEqual(
        [isError, content.startsWith(`${tool.name}: the input does not fit: ${key} must be`)],
        [true, true],
      )
    }
  })

  test(`${tool.name}: a valid call works, and fields it does not know do not matter`, async (t) => {
    const b = start(t)
    const input = { ...(await sample.valid(b)), a_field_of_tomorrow: { x: 1 } }
    const output = await b.use(tool.name, input)
    assert.deepEqual([output.isError, output.content.length > 0], [false, true], output.content)
    const parsed = readInput(tool, input, b.folder)
    assert.ok(parsed.ok)
    assert.match(tool.summary(parsed.input), /^[^\n]+/)
  })

  test(`${tool.name}: the model gets it as a JSON Schema object, briefly described`, () => {
    const { name, description, inputSchema } = definitionOf(tool)
    assert.match(name, /^[A-Z][A-Za-z]+$/)
    assert.ok(description.length > 30 && description.length < 1500, `${description.length} characters`)
    assert.equal(inputSchema['type'], 'object')
    assert.doesNotThrow(() => structuredClone(inputSchema))
  })

  test(`${tool.name}: once interrupted it ends soon`, async (t) => {
    const b = start(t)
    const input = await sample.valid(b)
    const ended = b.use(tool.name, input, { signal: AbortSignal.abort() })
    const late = new Promise<'late'>((resolve) => setTimeout(resolve, 10_000, 'late').unref())
    assert.notEqual(await Promise.race([ended, late]), 'late')
  })

  test(`${tool.name}: hard inputs give an answer of bounded, well-formed text`, async (t) => {
    const b = start(t)
    for (const input of (await sample.hard?.(b)) ?? []) {
      const { content } = await b.use(tool.name, input)
      assert.ok(content.isWellFormed(), JSON.stringify(input).slice(0, 200))
      assert.ok(Buffer.byteLength(content) <= streamCap * 2 + 1000, JSON.stringify(input).slice(0, 200))
    }
  })
}
