/**
 * A guard that must not fail open, made to fail in every way its kind can: what it prints, answers, returns or leaves out. The canary
 * is the call: a refused one is never made.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { defineHook } from '../../src/hooks/define.ts'
import { createPlane, type PlaneOptions } from '../../src/hooks/dispatch.ts'
import type { Handler } from '../../src/hooks/handler.ts'
import { readHooks } from '../../src/hooks/settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'ona-guards-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const scope = { sessionId: 's', conversationId: 'c', dbPath: '/db', cwd: folder, record: () => {} }

const read = (hook: object) =>
  readHooks(
    { hooks: [{ hook_event_name: 'PreToolUse', onFailure: 'refuse', timeout_ms: 20_000, ...hook }] },
    { source: { kind: 'settings' } },
  )
function guard(hook: object): Handler[] {
  const { handlers, problems } = read(hook)
  assert.deepEqual(problems, [])
  return handlers
}
const decision = async (handlers: readonly Handler[], options: PlaneOptions = {}) => {
  const fields = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 't' }
  return (await createPlane(handlers, options).raise('PreToolUse', fields, scope)).decision
}
/** The hooks of a table that let the call through. */
async function passed(hooks: Readonly<Record<string, object>>): Promise<string[]> {
  const found: string[] = []
  for (const [name, hook] of Object.entries(hooks)) if ((await decision(guard(hook))) !== 'deny') found.push(name)
  return found
}

const command = (command: string, more: object = {}) => ({ command, shell: 'sh', ...more })
const prints = (value: unknown) => command(`printf %s '${typeof value === 'string' ? value : JSON.stringify(value)}'`)

test('a command: missing, killed, cut short, and every answer that is none', async () => {
  const ways = {
    'no such program': command('/no/such/guard'),
    'no such program, without a shell': { command: '/no/such/guard', args: ['x'] },
    'a folder as a program': { command: folder, args: [] },
    'no such program in a warm shell': { command: '/no/such/guard' },
    'killed in a warm shell': { command: 'kill -9 $$' },
    'ended by SIGTERM': command('kill -TERM $$'),
    'stdin closed, then exit 7': command('exec <&-; exit 7'),
    'forks away and fails': command('(sleep 1 &); exit 1'),
    'no time': command('sleep 20', { timeout_ms: 40 }),
    'half JSON': prints('{"decision":"bl'),
    'two documents': prints('{} {}'),
    'an array': prints([{ decision: 'block' }]),
    'a JSON string': prints('"deny"'),
    null: prints('null'),
    'text alone': command('echo all is well'),
    'text before the answer': command(`echo warning; echo '{"decision":"block"}'`),
    'a decision outside of its place': prints({ permissionDecision: 'deny' }),
    'a decision of another event': prints({ hookSpecificOutput: { hookEventName: 'PreToolUse', decision: 'deny' } }),
    'unknown keys alone': prints({ verdict: 'deny' }),
    'a decision that does not exist': prints({ decision: 'deny' }),
    'an answer for later': prints({ async: true }),
    'more text than is read': command("head -c 5000000 /dev/zero | tr '\\0' x"),
    'more JSON than is read': command(`printf '{"a":"'; head -c 5000000 /dev/zero | tr '\\0' x; printf '"}'`),
    'UTF-16': command(`printf '\\377\\376{\\0"\\0'`),
    'a NUL in it': command(`printf '{"decision":"block"\\000}'`),
    'a sandbox that is not there': command('true', { sandbox: true }),
  }
  assert.deepEqual(await passed(ways), [])
  const silent = { 'exit 0': command('true'), empty: prints('{}') }
  assert.deepEqual(await passed(silent), Object.keys(silent)) // control
})

const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  html: (response) => response.end('<html>log in to the network</html>'),
  null: (response) => response.setHeader('content-type', 'application/json').end('null'),
  array: (response) => response.end('[{"decision":"block"}]'),
  string: (response) => response.end('"deny"'),
  half: (response) => response.end('{"decision":"blo'),
  unknown: (response) => response.end('{"verdict":"deny"}'),
  redirect: (response) => response.writeHead(302, { location: '/ok' }).end(),
  huge: (response) => response.end('x'.repeat(5 * 1024 * 1024)),
  destroyed: (response) => response.destroy(),
  cut: (response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('{}', () => response.destroy())
  },
  silent: () => {},
}

let server: Server
before(async () => {
  server = createServer((request, response) => {
    request.resume()
    const answer = answers[request.url!.slice(1)]
    if (answer) answer(response)
    else response.end('{}')
  })
  server.on('upgrade', (_, socket) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
after(() => {
  server.closeAllConnections()
  server.close()
})
const http = (path: string, more: object = {}) => ({
  type: 'http',
  url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`,
  ...more,
})

test('a server: every answer that is none, and headers that HTTP forbids', async () => {
  const ways = {
    ...Object.fromEntries(
      Object.keys(answers).map((path) => [path, http(path, path === 'silent' ? { timeout_ms: 60 } : {})]),
    ),
    'nobody listens': { type: 'http', url: 'http://127.0.0.1:1/' },
    'a header with a line end': http('ok', { headers: { 'x-a': 'a\r\nx-b: c' } }),
    'a header with NUL': http('ok', { headers: { 'x-a': 'a\0b' } }),
    'a header outside of Latin-1': http('ok', { headers: { 'x-a': '日本' } }),
    'a name that is no header': http('ok', { headers: { 'x a': 'b' } }),
    'another protocol': http('ok', { headers: { connection: 'Upgrade', upgrade: 'x' } }),
  }
  assert.deepEqual(await passed(ways), [])
  assert.deepEqual(await passed({ ok: http('ok') }), ['ok']) // control
})

/** A program that stays and answers each call by this expression of `m`, the message. */
const staying = (answer: string) => ({
  command: process.execPath,
  args: [
    '-e',
    `let b='';process.stdin.on('data',(d)=>{b+=d;const ls=b.split('\\n');b=ls.pop();for(const l of ls){const m=JSON.parse(l);
     if(m.protocol){console.log('{"protocol":1}');continue};${answer}}})`,
  ],
  persistent: true,
})
const says = (value: string) => staying(`console.log(JSON.stringify(${value}))`)

test('a program that stays: every answer that is none', async () => {
  const ways = {
    'no verdict': says('{id:m.id}'),
    'a verdict that is text': says("{id:m.id,verdict:'deny'}"),
    'a verdict that is a list': says('{id:m.id,verdict:[1]}'),
    'a block that is no text': says('{id:m.id,block:true}'),
    'an error that is no text': says('{id:m.id,error:{a:1}}'),
    'no JSON': staying("console.log('garbage')"),
    'a list': staying("console.log('[]')"),
    'it exits': staying('process.exit(0)'),
    'the id of nobody': { ...says('{id:99,verdict:{}}'), timeout_ms: 500 },
    'half a line': { ...staying(`process.stdout.write('{"id":')`), timeout_ms: 500 },
    'an echo': { command: 'cat', shell: 'sh', persistent: true },
    'no such program': { command: '/no/such/guard', args: [], persistent: true },
  }
  assert.deepEqual(await passed(ways), [])
  const fine = { verdict: says('{id:m.id,verdict:{}}'), null: says('{id:m.id,verdict:null}') }
  assert.deepEqual(await passed(fine), Object.keys(fine)) // control
})

test('a model that is asked: every reply that is none', async () => {
  const handlers = guard({ type: 'prompt', prompt: 'may it?', timeout_ms: 500 })
  const replies = [
    '{"ok":"false"}',
    '{"ok":0}',
    '{"OK":false}',
    '{"result":"deny"}',
    '{}',
    'no',
    '',
    '{"ok":false',
    'null',
  ]
  const found: string[] = []
  for (const reply of replies)
    if ((await decision(handlers, { askModel: async () => reply })) !== 'deny') found.push(reply)
  const ways = [() => Promise.reject(1), () => new Promise(() => {}), async () => undefined, async () => ({})]
  for (const way of ways) if ((await decision(handlers, { askModel: way as never })) !== 'deny') found.push(String(way))
  assert.deepEqual(found, [])
  assert.equal(await decision(handlers, { askModel: async () => '{"ok":true}' }), 'none') // control
})

test('a function: everything that is no answer', async () => {
  const ways: (() => unknown)[] = [
    ...[() => [], () => 'deny', () => true, () => Symbol('x'), () => new Map(), () => new Date()],
    ...[() => ({ permissionDecision: 'deny' }), () => ({ verdict: 'deny' }), () => ({ hookSpecificOutput: 'deny' })],
    ...[() => new Promise(() => {}), () => Promise.reject(Object.create(null)), () => ({ decision: Symbol('block') })],
    () => ({
      get decision() {
        throw new Error('no')
      },
    }),
    () => new Proxy({}, { ownKeys: () => Reflect.ownKeys(null as never) }),
  ]
  const found: string[] = []
  for (const way of ways) {
    const hook = defineHook('PreToolUse', way as never, { timeoutMs: 100, onFailure: 'refuse' })
    if ((await decision([hook])) !== 'deny') found.push(String(way))
  }
  assert.deepEqual(found, [])
  assert.equal(await decision([defineHook('PreToolUse', () => ({}), { onFailure: 'refuse' })]), 'none') // control
})

test('a guard that runs once and failed runs again; one that could never run, or that nobody waits for, is an error', async () => {
  const plane = createPlane(guard(command('exit 1', { once: true })))
  const fields = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 't' }
  const twice = [await plane.raise('PreToolUse', fields, scope), await plane.raise('PreToolUse', fields, scope)]
  assert.deepEqual(
    twice.map((answer) => answer.decision),
    ['deny', 'deny'],
  )
  assert.deepEqual(
    read({ ...command('exit 2'), matcher: 'Bash(' }).problems.map(({ level, path }) => [level, path]),
    [['error', 'hooks[0].matcher']],
  )
  const later = { type: 'command', command: 'exit 2', async: true, onFailure: 'refuse' }
  const { problems } = readHooks(
    { hooks: { PreToolUse: [{ hooks: [later] }] } },
    { source: { kind: 'settings' }, profile: 'claude' },
  )
  assert.deepEqual(
    problems.map(({ level, path }) => [level, path]),
    [['error', 'hooks.PreToolUse[0].hooks[0].async']],
  )
})
