import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../hooks/shape.ts'
import { builtInTool } from './all.ts'
import { knownTool } from './known-tool.ts'
import { readInput } from './tool.ts'

test('a call of Bash on record has the input that the tool would have had', () => {
  const inputs: JsonObject[] = [
    ...[{ command: 'ls' }, { command: '' }, { command: 'a\0b' }, { command: 'ls', description: 'lists' }],
    ...[
      { command: 'ls', description: '' },
      { command: 'ls', description: 5 },
      { command: 'ls', timeout: 5 },
    ],
    ...[{ command: 'ls', timeout: '5' }, { command: 5 }, { description: 'x' }, { command: 'ls', other: true }, {}],
  ]
  for (const input of inputs) {
    const read = readInput(builtInTool('Bash')!, input, '/project')
    assert.deepEqual(
      knownTool('Bash', input, '/project'),
      { input: read.ok ? read.input : input, safety: 'destructive', brought: false },
      JSON.stringify(input),
    )
  }
})

test('a tool that is not built in keeps its input, and a program or an MCP server brings it', () => {
  const input = { command: 'ls' }
  assert.deepEqual(knownTool('Other', input, '/'), { input, safety: 'mutating', brought: true })
  assert.deepEqual(knownTool('mcp__x__Bash', input, '/'), { input, safety: 'mutating', brought: false })
})
