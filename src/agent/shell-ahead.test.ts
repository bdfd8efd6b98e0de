/** Which commands of a session find a shell that waits, and what the record says of it. */
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { type TestOptions, type TestSession, testSession } from '../../test/support/agent-session.ts'
import { textBlock } from '../hooks/step/blocks.ts'
import { runTurn } from './turn.ts'

const skip = process.platform !== 'linux' && 'shells wait where /proc tells whose a process is'
const open: TestSession[] = []
afterEach(() => {
  for (const each of open.splice(0)) each.end()
})

function start(options: TestOptions): TestSession {
  const started = testSession({ mode: 'bypassPermissions', ...options })
  open.push(started)
  return started
}

/** The shells that the record says waited, and the processes that ran the commands. */
async function shellsOf(it: TestSession): Promise<{ waited: (string | undefined)[]; ran: string[] }> {
  const { reply } = it.model
  it.model.reply = async (...of) => {
    await new Promise((resolve) => setImmediate(setImmediate, resolve)) // a model takes longer than a shell takes to be started
    return reply.apply(it.model, of)
  }
  await runTurn(it.session, [textBlock('go')])
  const details = it.rows("SELECT detail FROM events WHERE event_type = 'tool_start' ORDER BY id")
  const results = it.transcript().filter((entry) => entry._t === 'tool_result')
  return {
    waited: details.map(({ detail }) => JSON.parse(String(detail)).shell_process?.split(':')[0]),
    ran: results.map(({ content }) => String(content).trim()),
  }
}

const bash = (command: string, more: object = {}) => ({ calls: [{ name: 'Bash', input: { command, ...more } }] })

test('the first command starts its shell, the next ones find one that waits, which the record names', {
  skip,
}, async () => {
  const { waited, ran } = await shellsOf(
    start({
      script: [
        bash('echo $$'),
        bash('echo $$'),
        { calls: [...bash('echo $$').calls, ...bash('echo $$').calls] },
        'done',
      ],
    }),
  )
  assert.deepEqual(waited, [undefined, ran[1], ran[2], undefined])
  assert.equal(new Set(ran).size, 4)
})

test('a command that moves the session leaves the next one a shell in the new folder', { skip }, async () => {
  const it = start({ script: [bash('mkdir in; cd in'), bash('pwd; cd ..'), bash('pwd'), 'done'] })
  const { waited, ran } = await shellsOf(it)
  assert.deepEqual(ran.slice(1), [`${it.folder}/in`, it.folder])
  assert.deepEqual(
    waited.map((each) => each !== undefined),
    [false, true, true],
  )
})

test('other tools take no shell', { skip }, async () => {
  const read = { calls: [{ name: 'Glob', input: { pattern: '*' } }] }
  const { waited } = await shellsOf(start({ script: [bash('true'), read, 'done'] }))
  assert.deepEqual(waited, [undefined, undefined])
})
