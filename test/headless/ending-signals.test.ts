/** Whatever ends a command of ours, Ctrl-C, `kill` or a terminal that is closed, ends what it runs. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sampled } from '../support/campaign-size.ts'
import { live } from '../support/live.ts'
import { type Place, place } from '../support/program.ts'

const command = 'echo $$ > pid; touch begun; sleep 60'
const bash = { tool: 'Bash', input: { command } }
const hook = { hook_event_name: 'PreToolUse', matcher: '', shell: 'sh', command }

/** By the command of ours: its words, and what is written to it. */
const runs: Record<string, (at: Place) => { words: string[]; lines?: object[] }> = {
  '--eval': () => ({ words: ['--eval', JSON.stringify(bash)] }),
  'mcp serve': () => ({
    words: ['mcp', 'serve', '--permission-mode', 'bypassPermissions'],
    lines: [
      {
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
      },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: { name: 'Bash', arguments: bash.input } },
    ].map((message) => ({ jsonrpc: '2.0', ...message })),
  }),
  'hooks fire': (at) => {
    at.write('.ona/settings.json', { hooks: [hook] })
    const input = JSON.stringify({ tool_name: 'Bash', tool_input: { command: 'true' } })
    return { words: ['hooks', 'fire', 'PreToolUse', '--trust', '--input', input] }
  },
  rehearse: (at) => {
    const steps = [{ prompt: 'go' }, { call: 'Bash', input: bash.input }]
    at.write('script.json', { mode: 'bypassPermissions', steps })
    return { words: ['rehearse', 'script.json'] }
  },
}

const signals = ['SIGHUP', 'SIGTERM', 'SIGINT'] as const
const cases = Object.entries(runs).flatMap(([name, start]) => signals.map((signal) => ({ name, start, signal })))

for (const { name, start, signal } of sampled(cases, 2)) {
  test(`${signal} ends what ${name} runs`, async (t) => {
    const at = place(t)
    const { words, lines = [] } = start(at)
    const running = live(t, at, words)
    for (const line of lines) running.send(JSON.stringify(line))
    await running.until(() => existsSync(join(at.folder, 'begun')))
    const pid = Number(readFileSync(join(at.folder, 'pid'), 'utf8'))
    t.after(() => {
      try {
        process.kill(-pid, 'SIGKILL')
      } catch {
        // as it should be
      }
    })
    running.kill(signal)
    const { code } = await running.end()
    assert.notEqual(code, null, 'it ended by itself')
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
  })
}
