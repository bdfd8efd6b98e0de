/** Credentials in the environment of ona itself, looked for by a program that a tool starts. The canary is the key. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { hideVariables } from '../../src/files/hide-variables.ts'
import { sampled } from '../support/campaign-size.ts'
import { type Place, place } from '../support/program.ts'

const canary = 'sk-ant-api03-canary-5e1f0c'
/** Spelled so that neither the script nor its words hold the canary or name the file that it reads. */
const looks = `#!/bin/bash
want=sk-ant-api03-canary
exec 2>/dev/null
for name in environ cmdline; do
  for file in $(grep -als -- "$want-5e1f" /proc/[0-9]*/$name); do
    tr '\\0' '\\n' < $file | grep -a -- "$want-5e1f" | sed "s|^|$(cat \${file%/*}/comm) $name: |"
  done
done
echo looked
`

/** Alone: it is about what the process was started with. */
const bash = (at: Place, command: string, env: Record<string, string>) =>
  at.run(['--eval', JSON.stringify({ tool: 'Bash', input: { command } })], { env, alone: true })

const seen = async (at: Place, env: Record<string, string>): Promise<string> => {
  at.write('look.sh', looks)
  const { stdout, stderr } = await bash(at, './look.sh', env)
  assert.match(stdout, /looked/, stderr)
  return stdout
}

test('control: the same program finds the key in the environment of a process that holds it', async (t) => {
  const holder = spawn('sleep', ['600'], { env: { OPENAI_API_KEY: canary }, stdio: 'ignore' })
  t.after(() => holder.kill('SIGKILL'))
  assert.match(await seen(place(t), {}), /sleep environ: OPENAI_API_KEY=/)
})

const keys = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN']
for (const name of sampled(keys, 3))
  test(`no process of ona shows ${name} to what a tool starts`, async (t) => {
    const at = place(t)
    assert.equal(await seen(at, { [name]: canary }), '{"content":"looked\\n","is_error":false}\n')
  })

test('headers that carry a key are hidden, too', async (t) => {
  const headers = { ANTHROPIC_CUSTOM_HEADERS: `x-key: ${canary}`, ANTHROPIC_API_KEY: 'sk-ant-other-000000000' }
  assert.equal((await seen(place(t), headers)).includes('environ:'), false)
})

test('a shell that waits for hooks does not show the key, and the hook still gets it', async (t) => {
  const at = place(t)
  const hook = (event: string) => ({
    hook_event_name: event,
    matcher: 'Bash',
    command: `printf '%s\\n' "$ANTHROPIC_API_KEY" >> ${at.folder}/../${event}`,
  })
  at.write('../home/.ona/settings.json', { hooks: [hook('PreToolUse'), hook('PostToolUse')] })
  at.write('look.sh', looks)
  // two calls: the first has shells made, which wait while the second looks
  const { stdout } = await bash(at, 'sleep 0.5; ./look.sh', { ANTHROPIC_API_KEY: canary })
  assert.equal(stdout, '{"content":"looked\\n","is_error":false}\n')
  for (const event of ['PreToolUse', 'PostToolUse'])
    assert.equal(readFileSync(`${at.folder}/../${event}`, 'utf8'), `${canary}\n`)
})

test('the process itself keeps the variable, and so do its children', (t) => {
  process.env['ONA_TEST_CANARY'] = 'first' // set after the start: not in the block
  t.after(() => delete process.env['ONA_TEST_CANARY'])
  assert.equal(hideVariables(process.pid, ['PATH_NOT_THERE', 'ONA_TEST_CANARY']), true)
  assert.equal(process.env['ONA_TEST_CANARY'], 'first')
})
