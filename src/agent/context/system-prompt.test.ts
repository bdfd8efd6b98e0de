import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtInTools, definitionOf } from '../../tools/all.ts'
import { systemPrompt } from './system-prompt.ts'

test('what every request carries stays small: the prompt under 2,000 characters, the tools under 20,000', () => {
  assert.ok(systemPrompt.length < 2_000, `the system prompt has ${systemPrompt.length} characters`)
  const tools = JSON.stringify(builtInTools.map(definitionOf)).length
  assert.ok(tools < 20_000, `the tools' definitions have ${tools} characters`)
})

test('every tool that the prompt names is there', () => {
  const names = builtInTools.map(({ name }) => name)
  const named = systemPrompt.match(/\b(?:[A-Z][a-z]+){2,}\b|\b(?:Read|Glob|Grep|Edit|Write|Bash)\b/g) ?? []
  assert.deepEqual(
    named.filter((name) => !names.includes(name)),
    [],
  )
})
