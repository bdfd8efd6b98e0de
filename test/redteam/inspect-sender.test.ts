/** An agent's command that has read the address of `ona inspect`, and decides on an approval as the page would. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { requestApproval } from '../../src/store/approvals.ts'
import { createConversation, createSession } from '../../src/store/conversations.ts'
import { openDb } from '../../src/store/open.ts'
import { type Place, place } from '../support/program.ts'
import { initDb } from '../support/workflow.ts'

/** Opens the address, keeps the cookie and sends a yes, with the headers that a browser sets. */
const script = `const [url, id] = process.argv.slice(2)
const opened = await fetch(url, { redirect: 'manual' })
const headers = { cookie: opened.headers.get('set-cookie').split(';')[0], origin: new URL(url).origin, 'content-type': 'application/json' }
const sent = await fetch(new URL('/api/approvals/' + id, url), { method: 'POST', headers, body: '{"allow":true}' })
console.log(sent.status, await sent.text())
`

async function waiting(t: TestContext): Promise<{ at: Place; url: string; id: string; script: string }> {
  const at = place(t)
  await initDb(at)
  const db = openDb(at.db)
  createConversation(db, { projectDir: at.folder, id: 'tools' })
  const { sessionId } = createSession(db, 'tools')
  const call = { resume: sessionId, agent: null, projectDir: at.folder, prompt: null, toolUseId: 't1', tool: 'Bash' }
  const asked = { input: '{"command":"x"}', summary: 'x', reason: 'r', owner: null, expiresInSeconds: 600 }
  const id = requestApproval(db, { ...call, ...asked, conversationId: 'tools', sessionId } as never)
  db.close()
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../bin/ona.mjs'), 'inspect'], {
    cwd: at.folder,
    env: { PATH: process.env['PATH'], HOME: at.home },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(() => child.kill('SIGKILL'))
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (piece) => {
      text += piece
      if (text.includes('\n')) resolve(text.trim())
    })
    child.on('exit', (code) => reject(new Error(`it ended with ${code}`)))
  })
  return { at, url, id, script: at.write('decide.mjs', script) }
}

const decision = (at: Place) => at.rows<{ decision: string | null }>('SELECT decision FROM ona_approvals')[0]!.decision
const refused = /403 .*deciding an approval is for the operator, and this was sent by an agent's /

test('control: the same requests from outside of the agent decide', async (t) => {
  const { at, url, id, script } = await waiting(t)
  const { stdout } = spawnSync(process.execPath, [script, url, id], { encoding: 'utf8' })
  assert.deepEqual([stdout, decision(at)], ['200 {"decided":"approved"}\n', 'approved'])
})

test("a tool's command that has the address cannot decide, whatever it takes out of its environment", async (t) => {
  const { at, url, id, script } = await waiting(t)
  const command = `env -i ${process.execPath} ${script} '${url}' ${id}`
  const eval_ = JSON.stringify({ tool: 'Bash', input: { command } })
  const { stdout } = await at.run(['--eval', eval_, '--conversation', 'tools'], { alone: true })
  assert.match(stdout, refused)
  assert.equal(decision(at), null)
})

test('nor can one that detaches itself', async (t) => {
  const { at, url, id, script } = await waiting(t)
  const seen = join(at.folder, 'seen')
  const later = `sleep 1; ${process.execPath} ${script} "${url}" ${id} > ${seen}.part 2>&1; mv ${seen}.part ${seen}`
  const command = `setsid --fork env -i PATH="$PATH" bash -c '${later}' > /dev/null 2>&1 < /dev/null`
  const eval_ = JSON.stringify({ tool: 'Bash', input: { command } })
  await at.run(['--eval', eval_, '--conversation', 'tools'], { alone: true })
  for (let tries = 0; tries < 600 && !existsSync(seen); tries++) await wait(100)
  assert.match(readFileSync(seen, 'utf8'), refused)
  assert.equal(decision(at), null)
})
