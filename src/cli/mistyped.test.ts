import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mistyped, mistypedFlag } from './mistyped.ts'
import { commands } from './table.ts'

const meant = (line: string) => mistyped(line.split(' '))?.match(/did you mean "ona (.*)"/)?.[1]

test('a slip in a command is reported, not sent to a model', () => {
  const lines = {
    'hook list': 'hooks',
    'hook fire PreToolUse --input call.json': 'hooks',
    verfy: 'verify',
    'verfy --run': 'verify',
    stauts: 'status',
    lgoin: 'login',
    'paln approve': 'plan',
    'rehears script.yaml': 'rehearse',
    'permision test Read': 'permissions',
    dispacher: 'dispatcher',
  }
  for (const [line, name] of Object.entries(lines)) assert.equal(meant(line), name, line)
})

test('what may be a prompt is one', () => {
  const prompts = [
    'fix the failing test',
    'add tests',
    'unit tests for the parser',
    'rule them all',
    'plans for tomorrow',
    'hook this into the build',
    'list',
    'commit',
    'hi',
    'why?',
    'Verfy',
    '-- verfy',
    '-p verfy',
  ]
  for (const line of prompts) assert.equal(meant(line), undefined, line)
})

test('no command is taken for a slip in another', () => {
  for (const name of Object.keys(commands)) assert.equal(meant(name) ?? name, name)
})

test('a command spelt as a flag is found behind a typo too', () => {
  assert.equal(mistypedFlag(['--evl', '{}']), 'unknown flag --evl; did you mean --eval?')
  assert.equal(mistypedFlag(['--transitoin', 'test']), 'unknown flag --transitoin; did you mean --transition?')
  assert.equal(mistypedFlag(['--zzz', 'x']), undefined)
})
