/** A program that stays, call by call: what each end of a call says, and what becomes of the program. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../../test/support/until.ts'
import { askPersistent, expectPersistent, type PersistentRun, type Place } from './persistent.ts'

const folder = mkdtempSync(join(tmpdir(), 'ona-staying-'))
const alive = setInterval(() => {}, 60_000) // an idle program does not keep the process alive
after(() => {
  clearInterval(alive)
  rmSync(folder, { recursive: true, force: true })
})

const env = { PATH: process.env['PATH'] }
const greet = `read -r line; echo '{"protocol":1}'; `
type Run = Place & PersistentRun
const run = (script: string, more: Partial<Run> = {}): Run => ({
  ...{ argv: ['/bin/sh', '-c', script], cwd: folder, env, input: '{"a":1}', timeoutMs: 60_000 },
  ...more,
})
const ask = (script: string, more?: Partial<Run>) => {
  const whole = run(script, more)
  return askPersistent(whole, whole)
}
/** For each call what the script prints; `$id` is the call's. */
const saying = (what: string) => `${greet}while read -r line; do id=\${line#'{"id":'}; id=\${id%%,*}; ${what}; done`
const failed = (why: string, stderr = '') => ({ kind: 'failure', why, cause: 'failed', stderr })
const verdict = (text: string, stderr = '') => ({ kind: 'verdict', text, stderr })

/** Waits until no process has the id. */
async function gone(pid: number): Promise<void> {
  for (let look = 0; isThere(pid); look++) {
    assert.ok(look < 2000, `${pid} still runs`)
    await wait(10)
  }
}
function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('what an answer means', async () => {
  const long = 'x'.repeat(100)
  const deep = `${'['.repeat(600)}${']'.repeat(600)}`
  const rows: [string, object][] = [
    ['"verdict":null', verdict('')],
    ['"verdict":{"continue":false}', verdict('{"continue":false}')],
    ['"block":"no","verdict":null', { kind: 'block', text: 'no', stderr: '' }],
    ['"block":""', { kind: 'block', text: '', stderr: '' }],
    ['"error":"broke","verdict":null', failed('broke')],
    ['"error":{"code":7}', failed('{"code":7}')],
    ['"error":"broke","block":"no"', { kind: 'block', text: 'no', stderr: '' }],
    ['"block":null,"error":null,"verdict":{"decision":"block"}', verdict('{"decision":"block"}')],
    ['"block":false,"error":false,"verdict":null', verdict('')],
    ['"block":"no","error":null,"verdict":null', { kind: 'block', text: 'no', stderr: '' }],
    ['"block":true', { kind: 'block', text: 'its "block" is not a string', stderr: '' }],
    ['"block":{"reason":"no"},"verdict":{}', { kind: 'block', text: 'its "block" is not a string', stderr: '' }],
    [`"block":"no","other":${deep}`, { kind: 'block', text: 'no', stderr: '' }],
    ['"error":null', failed('answered with neither a verdict nor a block')],
    ['"block":null', failed('answered with neither a verdict nor a block')],
    ['"verdict":"yes"', failed('answered with neither a verdict nor a block')],
    ['"verdict":[]', failed('answered with neither a verdict nor a block')],
    ['"block":null,"verdict":null', verdict('')],
    ['"other":1', failed('answered with neither a verdict nor a block')],
    [`"verdict":{"a":${deep}}`, failed('answered with JSON that is nested too deep')],
    [`"error":${deep}`, failed('answered with JSON that is nested too deep')],
  ]
  for (const [said, end] of rows) assert.deepEqual(await ask(saying(`echo '{"id":'$id',${said}}'`)), end, said)
  const lines: [string, object][] = [
    [`echo; echo ' '; echo '{"id":'$id',"verdict":null}'`, verdict('')],
    [`printf '{"id":'$id; sleep 0.05; echo ',"verdict":null}'`, verdict('')],
    [
      `echo '{"id":99,"verdict":null}{'`,
      failed('printed a line that is not a JSON object: {"id":99,"verdict":null}{; print nothing but answers'),
    ],
    [
      `echo ${long}`,
      failed(`printed a line that is not a JSON object: ${long.slice(0, 80)}; print nothing but answers`),
    ],
    ['echo 7', failed('printed a line that is not a JSON object: 7; print nothing but answers')],
    ['echo trouble >&2; sleep 0.1; exit 3', failed('ended with 3: trouble', 'trouble\n')],
    ['kill -9 $$', failed('ended with SIGKILL')],
    ['exec >&-; sleep 600', failed('closed its stdout')],
    ['sleep 60 & exit 4', failed('ended with 4')], // which holds its stdout open
  ]
  for (const [script, end] of lines) assert.deepEqual(await ask(saying(script)), end, script)
})

test('a byte order mark, and a carriage return at the end, are no part of a line', async () => {
  const marked = `read -r line; printf '\\357\\273\\277{"protocol":1}\\r\\n'; read -r line; printf '{"id":1,"block":"no"}\\r\\n'`
  assert.deepEqual(await ask(marked), { kind: 'block', text: 'no', stderr: '' })
})

test('a line may have 4 MiB, and one that goes on ends the program', async () => {
  const xs = (count: number) => `head -c ${count} /dev/zero | tr '\\0' x`
  const long = await ask(saying(`printf '{"id":'$id',"verdict":{"a":"'; ${xs(4_000_000)}; echo '"}}'`))
  assert.equal(long.kind === 'verdict' && long.text.length, 4_000_000 + '{"a":""}'.length)
  assert.deepEqual(
    await ask(saying(`${xs(4 * 1024 * 1024 + 1)}; sleep 600`)),
    failed('printed a line of more than 4194304 characters'),
  )
})

test('a program that was ended is read no more, though what left its group prints on', {
  skip: process.platform !== 'linux',
}, async () => {
  const script = `${greet}read -r line; setsid sh -c 'echo $$ > escaped; exec yes' & wait`
  assert.deepEqual(await ask(script), failed('printed a line that is not a JSON object: y; print nothing but answers'))
  await gone(Number(readFileSync(join(folder, 'escaped'), 'utf8')))
})

test('a program that reads no more is waited for until it ends', async () => {
  const script = `${greet}read -r line; exec <&-; echo '{"id":1,"verdict":null}'; sleep 0.3; exit 5`
  assert.deepEqual([await ask(script), await ask(script)], [verdict(''), failed('ended with 5')])
})

test('a program that does not start, or does not greet', async () => {
  const rows: [string, object][] = [
    [`echo ${'y'.repeat(100)}; cat`, failed(`answered the handshake with ${'y'.repeat(80)}, not {"protocol":1}`)],
    [`echo '{"protocol":2}'; cat`, failed('answered the handshake with {"protocol":2}, not {"protocol":1}')],
    [`echo '[1]'; cat`, failed('answered the handshake with [1], not {"protocol":1}')],
    ['exit 0', failed('ended with 0, without the answer {"protocol":1} to the handshake')],
    [
      'echo trouble >&2; exit 3',
      failed('ended with 3, without the answer {"protocol":1} to the handshake: trouble', 'trouble\n'),
    ],
  ]
  for (const [script, end] of rows) assert.deepEqual(await ask(script), end, script)
  assert.deepEqual(
    await ask('', { argv: ['/no/such/program'] }),
    failed('not started: there is no program /no/such/program'),
  )
  assert.deepEqual(
    await ask(`: ${'x'.repeat(2 ** 22)}`),
    failed('not started: its command and environment are longer than the system takes; put a long command into a file'),
  )
  const nul = await ask('', { argv: ['/bin/sh', '-c', 'a\0b'] })
  assert.match(nul.kind === 'failure' ? nul.why : '', /^not started: .*null bytes/)
})

test('a call is one line, and the program reads it after the handshake alone', async () => {
  const echoing = `read -r first; sleep 0.05; echo '{"protocol":1}'; while read -r line; do id=\${line#'{"id":'}; id=\${id%%,*}
    echo '{"id":'$id',"verdict":{"first":'$first',"line":'"$line"'}}'; done`
  const said = (id: number) => verdict(`{"first":{"protocol":1},"line":{"id":${id},"input":{"a":1}}}`)
  assert.deepEqual(await Promise.all([ask(echoing), ask(echoing)]), [said(1), said(2)])
  assert.deepEqual(await ask(echoing), said(3))
})

test('no character in a call ends its line, in whatever reads it', async () => {
  const lines = `const { createInterface } = require('node:readline')
    createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, input } = JSON.parse(line)
      const ends = /[\\u0085\\u2028\\u2029]/.test(line)
      console.log(JSON.stringify(id ? { id, verdict: { ...input, ends } } : { protocol: 1 }))
    })`
  const input = { text: 'a\u2028b\u2029c\u0085d\n\u{1F600}' }
  const end = await ask('', { argv: [process.execPath, '-e', lines], input: JSON.stringify(input) })
  assert.deepEqual(end.kind === 'verdict' && JSON.parse(end.text), { ...input, ends: false })
})

test('stderr goes to the next answer, of very much the end', async () => {
  const script = saying(`[ $id = 1 ] && { seq 20000 >&2; echo end >&2; }
    [ $id = 2 ] && sleep 0.3; echo '{"id":'$id',"verdict":null}'`)
  const first = await ask(script)
  const second = await ask(script)
  const all = `${Array.from({ length: 20_000 }, (_, at) => `${at + 1}\n`).join('')}end\n`
  const printed = first.stderr + second.stderr
  assert.equal(printed.slice(-64 * 1024), all.slice(-64 * 1024))
  assert.equal(Math.max(first.stderr.length, second.stderr.length) <= 64 * 1024, true)
  assert.equal((await ask(script)).stderr, '')
})

test('a call that takes too long, or is interrupted, ends the program and all that it started', async () => {
  const script = `${greet}echo here >&2; (sleep 600) & echo $! > inner; read -r line; echo $$ > pid; read -r line; exit 0`
  const pid = async (name: string) => {
    await until(() => existsSync(join(folder, name)) && readFileSync(join(folder, name), 'utf8') !== '')
    return Number(readFileSync(join(folder, name), 'utf8'))
  }
  const stop = new AbortController()
  const waiting = ask(script, { signal: stop.signal })
  const started = await pid('pid')
  stop.abort()
  assert.deepEqual(await waiting, { kind: 'failure', why: 'was interrupted', cause: 'interrupted', stderr: 'here\n' })
  await gone(started)
  await gone(await pid('inner'))
  assert.deepEqual(await ask(script, { signal: stop.signal }), {
    ...{ kind: 'failure', why: 'was interrupted before it was asked', cause: 'interrupted', stderr: '' },
  })
  const [late, beside] = await Promise.all([ask(script, { timeoutMs: 300 }), ask(script)])
  assert.deepEqual(
    [late, beside].map((end) => end.kind === 'failure' && [end.why.split(',')[0], end.cause]), // greeted or not
    [
      ['timed out after 300 ms', 'timed-out'],
      ['was ended because a call timed out after 300 ms', 'failed'],
    ],
  )
})

test('a call that is interrupted does not end the program while others wait for it', async () => {
  const script = `${greet}read -r line; read -r line; read -r line
    for id in 1 2 3; do echo '{"id":'$id',"verdict":{"pid":'$$'}}'; done
    while read -r line; do echo '{"id":4,"verdict":{"pid":'$$'}}'; done`
  const stop = new AbortController()
  const [interrupted, beside] = [ask(script, { signal: stop.signal }), ask(script)]
  stop.abort()
  assert.deepEqual(await interrupted, { kind: 'failure', why: 'was interrupted', cause: 'interrupted', stderr: '' })
  const [second, third] = await Promise.all([beside, ask(script)])
  assert.deepEqual([second.kind, third, await ask(script)], ['verdict', second, second])
})

test('a call that takes too long says what the program has answered to no call', async () => {
  const script = `${greet}read -r line; echo '{"id":1,"verdict":null}'; read -r line; echo '{"id":"2","block":"no"}'; cat`
  assert.deepEqual(await ask(script), verdict(''))
  const why = 'timed out after 1000 ms; it printed {"id":"2","block":"no"}, which has the "id" of no call that waits'
  assert.deepEqual(await ask(script, { timeoutMs: 1000 }), { kind: 'failure', why, cause: 'timed-out', stderr: '' })
})

test('each call has a limit of its own, whatever the limits of those before it are', async () => {
  const once = `${greet}read -r line; echo '{"id":1,"verdict":null}'; cat > /dev/null`
  assert.deepEqual(await ask(once), verdict(''))
  const [slow, quick] = await Promise.all([ask(once), ask(once, { timeoutMs: 30 })])
  assert.deepEqual(quick, { kind: 'failure', why: 'timed out after 30 ms', cause: 'timed-out', stderr: '' })
  assert.deepEqual(slow, failed('was ended because a call timed out after 30 ms'))
  assert.deepEqual(await ask(once), verdict(''))
  assert.deepEqual(await ask(once, { timeoutMs: 150 }), {
    ...{ kind: 'failure', why: 'timed out after 150 ms', cause: 'timed-out', stderr: '' },
  })
})

test('a signal that comes after the answer ends nothing', async () => {
  const script = saying(`echo '{"id":'$id',"verdict":{"n":'$id'}}'`)
  const stop = new AbortController()
  assert.deepEqual(await ask(script, { signal: stop.signal }), verdict('{"n":1}'))
  stop.abort()
  assert.deepEqual(await ask(script), verdict('{"n":2}'))
})

test('64 calls may wait; one more fails at once, and they are answered', async () => {
  const script = `${greet}n=0; while [ $n -lt 64 ]; do read -r line; n=$((n+1)); done
    while [ $n -gt 0 ]; do echo '{"id":'$n',"verdict":null}'; n=$((n-1)); done; cat`
  const waiting = Array.from({ length: 64 }, () => ask(script))
  // the program waits for the 64th, so all of them wait when this one is made
  assert.deepEqual(await ask(script), failed('64 calls wait for it already'))
  assert.deepEqual(
    await Promise.all(waiting),
    Array.from({ length: 64 }, () => verdict('')),
  )
})

test('a program for each folder and environment; of more than 16 the oldest idle one ends', async () => {
  const script = saying(`[ "$WAIT" ] && read -r more; echo '{"id":'$id',"verdict":{"pid":'$$'}}'`)
  const pidOf = async (more: Partial<Run>) => {
    const end = await ask(script, more)
    return end.kind === 'verdict' ? (JSON.parse(end.text) as { pid: number }).pid : end
  }
  const busy = ask(script, { env: { ...env, WAIT: '1' } })
  const oldest = Number(await pidOf({ cwd: '/' }))
  const next = Number(await pidOf({}))
  assert.deepEqual([await pidOf({ cwd: '/' }), await pidOf({})], [oldest, next])
  assert.notEqual(oldest, next)
  // with the busy one and 15 idle ones there are 16, whatever the tests before left
  const inTurn = (at: number) => pidOf({ env: { ...env, AT: String(at) } })
  const pids: unknown[] = []
  for (let at = 0; at < 15; at++) pids.push(await inTurn(at))
  await gone(oldest)
  assert.equal(new Set(pids).size, 15)
  const again = [await pidOf({}), await inTurn(1), await inTurn(0)]
  assert.deepEqual(
    again.map((pid, at) => pid === [next, pids[1], pids[0]][at]),
    [false, true, false],
  )
  const stop = new AbortController()
  const unanswered = ask(script, { env: { ...env, WAIT: '1' }, signal: stop.signal })
  assert.equal((await busy).kind, 'verdict')
  stop.abort()
  assert.equal((await unanswered).kind, 'failure')
})

test('a program that has ended gets no call, though a child of it holds its stdout', async () => {
  const place = run(saying(`echo '{"id":'$id',"verdict":{"pid":'$$'}}'; sleep 60 & exit 0`))
  const pids: unknown[] = []
  for (let calls = 0; calls < 2; calls++) {
    const end = await askPersistent(place, place)
    const { pid } = JSON.parse(end.kind === 'verdict' ? end.text : JSON.stringify(end)) as { pid?: number }
    pids.push(pid)
    if (pid !== undefined) await gone(pid)
  }
  assert.deepEqual([pids.includes(undefined), new Set(pids).size], [false, 2])
})

test('a program that has ended, and is still read, takes nothing from the one in its place', async () => {
  const left = join(folder, 'left')
  const first = `[ -e ${left} ] || { sleep 60 & echo $! > ${left}; exit 0; }`
  const script = saying(`echo '{"id":'$id',"verdict":{"pid":'$$'}}'; ${first}`)
  const pidOf = async () => {
    const end = await ask(script)
    return end.kind === 'verdict' ? (JSON.parse(end.text) as { pid: number }).pid : 0
  }
  await gone(await pidOf())
  const second = await pidOf()
  const holder = Number(readFileSync(left, 'utf8'))
  process.kill(holder)
  await gone(holder)
  assert.deepEqual([await pidOf(), await pidOf()], [second, second])
})

test('a program that is expected runs before the first call', async () => {
  const file = join(folder, 'expected')
  const script = saying(`echo '{"id":'$id',"verdict":null}'`)
  const command = `echo x >> ${file}; ${script}`
  expectPersistent({ command, shell: 'sh', cwd: folder, env })
  await until(() => existsSync(file))
  assert.deepEqual(await ask('', { argv: ['/bin/sh', '-c', command] }), verdict(''))
  assert.equal(readFileSync(file, 'utf8'), 'x\n')
})

test('a program that is late is woken once, and not polled', async (t) => {
  const kill = t.mock.method(process, 'kill')
  const timers = t.mock.method(globalThis, 'setTimeout')
  const end = await ask(saying(`sleep 0.3; echo '{"id":'$id',"verdict":{"pid":'$$'}}'`))
  const { pid } = JSON.parse(end.kind === 'verdict' ? end.text : '{}') as { pid: number }
  const sent = kill.mock.calls.map(({ arguments: words }) => words)
  assert.deepEqual(
    sent.filter(([to]) => to === -pid),
    [[-pid, 'SIGCONT']],
  )
  assert.ok(timers.mock.callCount() < 10, `${timers.mock.callCount()} timers`)
})

test('an answer leaves no timer behind, and no time limit is too long', async () => {
  const script = saying(`echo '{"id":'$id',"verdict":null}'`)
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  assert.deepEqual([await ask(script, { timeoutMs: 2 ** 40 }), timers()], [verdict(''), before])
})

test('a process waits for an answer, and ends while the program is idle', async () => {
  const url = new URL('./persistent.ts', import.meta.url).href
  const calls = JSON.stringify(run(saying(`sleep 0.3; echo '{"id":'$id',"verdict":{"n":'$id'}}'`)))
  const script = `import { askPersistent } from '${url}'\nconst run = ${calls}\nconsole.log(JSON.stringify(await askPersistent(run, run)))`
  const { promise, resolve } = Promise.withResolvers<[number | null, string]>()
  const child = execFile(process.execPath, ['--input-type=module', '-e', script], (_, stdout) =>
    resolve([child.exitCode, stdout]),
  )
  assert.deepEqual(await promise, [0, `${JSON.stringify(verdict('{"n":1}'))}\n`])
})

test('at the exit of ona a program may finish what it is at; one that runs on without its stdin is ended', {
  skip: process.platform !== 'linux',
}, async () => {
  const answer = `${greet}read -r line; echo '{"id":1,"verdict":null}'; `
  const scripts = [
    `${answer}while read -r line; do :; done; echo finished > quick`,
    `${answer}while read -r line; do :; done; sleep 0.02; echo finished > slow`,
    `echo $$ > stubborn; ${answer}while :; do sleep 1; done`,
  ]
  const script = `
    const { askPersistent } = await import(${JSON.stringify(import.meta.resolve('./persistent.ts'))})
    for (const script of ${JSON.stringify(scripts)}) {
      const place = { cwd: '.', env: process.env, argv: ['/bin/sh', '-c', script] }
      await askPersistent(place, { input: '{}', timeoutMs: 60_000 })
    }
    process.exit()`
  const words = ['--input-type=module', '-e', script]
  await new Promise((resolve) => execFile(process.execPath, words, { cwd: folder }, resolve))
  await gone(Number(readFileSync(join(folder, 'stubborn'), 'utf8')))
  for (const name of ['quick', 'slow']) assert.equal(readFileSync(join(folder, name), 'utf8'), 'finished\n')
})
