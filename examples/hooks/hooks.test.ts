import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Scope, Steps } from 'ona/hooks'
import { plane } from './guard.ts'

const here = import.meta.dirname
const home = mkdtempSync(join(tmpdir(), 'ona-example-'))
after(() => rmSync(home, { recursive: true }))

/** `ona hooks fire` on the settings beside this file. */
function fire(event: string, input: object, settings = 'settings.json') {
  return ona(['hooks', 'fire', event, '--settings', settings, '--input', JSON.stringify(input), '--json']).answer
}

function ona(words: string[]) {
  const { stdout, stderr } = spawnSync(process.execPath, [join(here, '../../bin/ona.mjs'), ...words], {
    cwd: here,
    env: { ...process.env, HOME: home, AGENT_SDLC_DB: join(home, 'agent.db') },
    encoding: 'utf8',
  })
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}

test('the settings keep a push from happening, also behind another command', () => {
  const push = fire('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'npm test && git push origin main' } })
  assert.deepEqual([push.decision, push.reason], ['deny', '[0] pushing is for people; ask one'])
  assert.equal(fire('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'git status' } }).decision, 'none')
})

test('the settings ask before a migration', () => {
  const write = (file_path: string) => fire('PreToolUse', { tool_name: 'Write', tool_input: { file_path } }).decision
  assert.deepEqual([write('/app/migrations/1.sql'), write('/app/main.ts')], ['ask', 'none'])
})

test('the settings keep the turn going once', () => {
  assert.deepEqual(fire('Stop', { stop_hook_active: false }).control, { kind: 'continue' })
  assert.deepEqual(fire('Stop', { stop_hook_active: true }).control, { kind: 'proceed' })
})

test('parallel hooks are all asked, and each refusal is in the reason', () => {
  const check = (command: string) => {
    const { decision, reason } = fire('PreToolUse', { tool_name: 'Bash', tool_input: { command } }, 'parallel.json')
    return [decision, reason]
  }
  assert.deepEqual(check('psql prod-db.internal'), ['deny', '[1] production databases are for people'])
  assert.deepEqual(check(`AWS_ACCESS_KEY_ID=AKIA${'A'.repeat(16)} psql prod.db`), [
    'deny',
    '[0] the command holds an AWS key\n[1] production databases are for people',
  ])
  assert.deepEqual(check('ls'), ['none', ''])
})

test('the functions do the same', async () => {
  const scope: Scope = { sessionId: 's', conversationId: 'c', dbPath: '', cwd: here, record() {} }
  const call = async (command: string) => {
    const step: Steps['before_tool_apply'] = {
      toolName: 'Bash',
      safety: 'destructive',
      args: { command },
      result: null,
    }
    const fields = { tool_name: 'Bash', tool_input: { command }, tool_use_id: 't' }
    const { decision } = await plane.ask('before_tool_apply', step, scope, { name: 'PreToolUse', fields })
    return [decision, step.args]
  }
  assert.deepEqual(await call('git push'), ['deny', { command: 'git push' }])
  assert.deepEqual(await call('npm install'), ['none', { command: 'npm ci' }])
  const end: Steps['before_turn_end'] = { stopReason: 'end_turn', continuesSoFar: 0, voluntary: true, feedback: [] }
  const { control } = await plane.ask('before_turn_end', end, scope)
  assert.deepEqual([control.kind, end.feedback.length], ['continue', 1])
})

test('the pages of the documentation open with settings that do what they say', () => {
  const opening = (page: string) => {
    const [, json] = /```json[^\n]*\n(.*?)```/s.exec(readFileSync(join(here, '../../docs', page), 'utf8'))!
    writeFileSync(join(home, page), json!)
    return join(home, page)
  }
  const push = { tool_name: 'Bash', tool_input: { command: 'npm test && git push' } }
  assert.equal(fire('PreToolUse', push, opening('hooks.md')).reason, '[0] pushing is for people; ask one')
  const install = { tool: 'Bash', safety: 'destructive', args: { command: 'npm install' } }
  const words = ['hooks', 'fire', 'before_tool_apply', '--json', '--settings', opening('steps.md')]
  assert.deepEqual(ona([...words, '--input', JSON.stringify(install)]).step.result, {
    body: { kind: 'text', text: 'dependencies are installed already' },
    isError: false,
  })
})
