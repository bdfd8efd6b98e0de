/**
 * The server of `ona inspect` asked by others than its page, and the dispatcher given input that no host would send. The canaries are
 * an approval that the page could give, and a call that is let through unseen.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { serveInspect } from '../../src/audit/inspect/server.ts'
import { parseInput, toHostEvent } from '../../src/dispatcher/host/host-input.ts'
import { requestApproval } from '../../src/store/approvals.ts'
import { createConversation, createSession } from '../../src/store/conversations.ts'
import { openDb } from '../../src/store/open.ts'

async function inspecting(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ona-door-'))
  const db = openDb(join(folder, 'agent.db'))
  createConversation(db, { projectDir: '/x', id: 'c1' })
  const { sessionId } = createSession(db, 'c1')
  const served = await serveInspect(db, { operator: 'Ada' })
  t.after(async () => {
    await served.close()
    db.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const { port, search } = new URL(served.url)
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET', body = '') =>
    new Promise<{ status: number; cookie: string; text: string }>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
        let text = ''
        response.on('data', (piece) => {
          text += piece
        })
        const cookie = response.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
        response.on('end', () => resolve({ status: response.statusCode!, cookie, text }))
      })
      sent.on('error', reject).end(body)
    })
  const line = (text: string) =>
    new Promise<string>((resolve) => {
      let said = ''
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(text))
      socket.on('data', (piece) => {
        said += piece
        if (said.includes('\r\n')) socket.destroy()
      })
      socket.on('close', () => resolve(said.split('\r\n')[0]!))
    })
  return { db, sessionId, port, search, ask, line }
}

test('inspect opens to nobody without its token, and under no other name', async (t) => {
  const { port, search, ask, line } = await inspecting(t)
  const statuses = [
    await ask('/'),
    await ask('/?token=x'),
    await ask(`/?token=${'a'.repeat(5000)}`),
    await ask('/api/live'),
    await ask(`/${search}`, {}, 'POST'),
    await ask(`/${search}`, { host: `evil.test:${port}` }),
    await ask(`/${search}`, { host: `localhost:${port}` }),
    await ask(`//evil.test/${search}`),
  ].map(({ status }) => status)
  assert.deepEqual(statuses, [403, 403, 403, 403, 405, 421, 421, 421])
  const get = (target: string, hosts: string) => line(`GET ${target} HTTP/1.1\r\n${hosts}\r\n`)
  for (const said of [
    await get(`http://evil.test/${search}`, `Host: 127.0.0.1:${port}\r\n`),
    await get(`/${search}`, `Host: evil.test\r\nHost: 127.0.0.1:${port}\r\n`),
    await line(`GET /${search} HTTP/1.0\r\n\r\n`),
  ])
    assert.match(said, /^HTTP\/1\.1 4/)
  assert.deepEqual([(await ask(`/${search}`)).status, (await ask(`/${search}`)).status], [303, 403]) // control, once
})

test('a decision comes from the page alone; other paths lead nowhere', async (t) => {
  const { db, sessionId, port, search, ask } = await inspecting(t)
  const { cookie } = await ask(`/${search}`)
  const call = {
    tool: 'Bash',
    toolUseId: 'u1',
    input: '{}',
    summary: 'x',
    reason: 'r',
    owner: 'Ada',
    expiresInSeconds: 600,
  }
  const id = requestApproval(db, { ...call, conversationId: 'c1', sessionId } as never)
  const page = { cookie, origin: `http://127.0.0.1:${port}`, 'content-type': 'application/json' }
  const yes = '{"allow":true}'
  const tries: readonly (readonly [Record<string, string>, string])[] = [
    [{ ...page, cookie: '' }, yes],
    [{ cookie, 'content-type': 'application/json' }, yes],
    [{ ...page, origin: 'http://evil.test' }, yes],
    [{ ...page, origin: 'null' }, yes],
    [{ ...page, origin: 'http://127.0.0.1:1' }, yes],
    [{ ...page, 'sec-fetch-site': 'cross-site' }, yes],
    [{ ...page, 'content-type': 'text/plain' }, yes],
    [page, '{"__proto__":{"allow":true}}'],
    [page, '{"allow":"true"}'],
    [page, '['.repeat(9000)],
    [page, 'null'],
  ]
  const statuses: number[] = []
  for (const [headers, body] of tries) statuses.push((await ask(`/api/approvals/${id}`, headers, 'POST', body)).status)
  assert.deepEqual(statuses, [403, 403, 403, 403, 403, 403, 415, 400, 400, 400, 400])
  const paths = ['/../../etc/passwd', '/%2e%2e/%2e%2e/etc/passwd', '/..%2f..%2fetc/passwd', '/c/%E0%A4%A', '/c/%00']
  for (const path of [...paths, '/?page=-1', '/?page=1e99', '/__proto__'])
    assert.equal((await ask(path, { cookie })).status, 404, path)
  for (const q of ['"', 'AND', '\0', "' OR 1=1 --", 'NEAR(', '*'])
    assert.equal((await ask(`/api/search?q=${encodeURIComponent(q)}`, { cookie })).text, '{"found":[],"more":false}', q)
  assert.match((await ask(`/api/approvals/${id}`, page, 'POST', yes)).text, /approved|for the operator/) // control
})

test('the dispatcher takes no input that hides a call for one that has none', () => {
  const unseen = [
    '',
    ' ',
    '{',
    '{} {}',
    '{}\n{"tool_name":"x"}',
    '\0{}',
    '{"a":1}\0',
    '[{}]',
    '7',
    'null',
    '"x"',
    '\ufeff\ufeff{}',
    '{}',
    '{"tool_name":7}',
    '{"__proto__":{"tool_name":"Bash"}}',
  ]
  const passed = unseen.filter(
    (text) => !parseInput(text === '' ? { problem: 'empty' } : { text }, 'PreToolUse').unseen,
  )
  assert.deepEqual(passed, [])
  const call = (text: string) => {
    const { raw, unseen } = parseInput({ text }, 'PreToolUse')
    const { toolName, toolInput } = toHostEvent('PreToolUse', raw, '/repo')
    return [unseen, toolName, toolInput]
  }
  const seen = [false, 'Bash', { command: 'rm' }]
  for (const text of [
    '\ufeff{"tool_name":"Bash","tool_input":{"command":"rm"}}',
    '{"tool_name":"Read","tool_name":"Bash","tool_input":{"command":"rm"}}', // the last one counts, as for the hosts
    '{"__proto__":{"tool_name":"Read"},"tool_name":"Bash","tool_input":{"command":"rm"}}',
    '{"tool_name":"Bash","toolName":"Read","tool_input":{"command":"rm"},"toolInput":{}}',
    `{"tool_name":"Bash","tool_input":{"command":"rm"},"pad":"${'x'.repeat(10_000_000)}"}`,
    '{"tool_name":"Bash","tool_input":"{\\"command\\":\\"rm\\"}"}',
  ])
    assert.deepEqual(call(text), seen, text.slice(0, 80))
  assert.equal(({} as Record<string, unknown>)['tool_name'], undefined)
})
