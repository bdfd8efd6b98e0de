import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Policy } from '../replay/judge-call.ts'
import type { RecordedCall } from '../replay/recorded-calls.ts'
import { suggestRules } from './suggest.ts'

const policy: Policy = {
  ...{
    permissions: { allow: ['Bash(echo *)'] },
    mode: 'default',
    handlers: [],
    home: '/home/x',
    dbPath: '/nowhere.db',
  },
  ...{ env: {}, runCommands: false, tool: (_, input) => ({ input, safety: 'mutating', brought: false }) },
}

const call = (command: string, was: RecordedCall['was'], projectDir = '/no/project'): RecordedCall => ({
  ...{ at: '2026-11-01 10:00:00', conversationId: 'c', sessionId: 's', toolUseId: 't', tool: 'Bash' },
  ...{ input: { command }, projectDir, agent: null, source: 'ona', was },
})
const approved = { decision: 'ask', by: 'person', ended: 'allow' } as const
const denied = { decision: 'deny', by: 'hook', ended: 'deny' } as const

test('a call that was denied and that the settings allow today keeps no rule from being suggested', async () => {
  const calls = [
    call('echo forbidden-word', denied),
    call('echo forbidden-word', denied, '/another/project'),
    ...Array.from({ length: 3 }, () => call('npm test', approved)),
  ]
  const { suggestions, dropped } = await suggestRules(calls, policy)
  const [allow, deny] = suggestions
  assert.deepEqual([allow?.behavior, allow?.calls, allow?.answered], ['allow', 3, 3])
  assert.match(allow!.rule, /^Bash\(npm test/)
  assert.deepEqual([deny?.rule, deny?.calls], ['Bash(echo forbidden-word)', 2])
  assert.deepEqual(deny?.examples, ['Bash echo forbidden-word'], 'the same text is shown once')
  assert.deepEqual(dropped, [])
})

test('a rule that would newly allow a call that was denied is dropped', async () => {
  const calls = [...Array.from({ length: 3 }, () => call('npm test', approved)), call('npm test', denied, '/another')]
  const { suggestions, dropped } = await suggestRules(calls, policy)
  assert.deepEqual(
    suggestions.filter(({ behavior }) => behavior === 'allow'),
    [],
  )
  assert.match(dropped[0]!.why, /it would allow a call that was denied: Bash npm test/)
})
