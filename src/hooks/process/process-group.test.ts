import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { bindGroup } from './bound-groups.ts'
import { type GroupRun, runGroup, startGroup } from './process-group.ts'

const sh = (script: string, more: Partial<GroupRun> = {}) =>
  runGroup({ program: '/bin/bash', args: ['-c', script], env: process.env, ...more })

/** Waits until no process has the id; a zombie without a parent that waits for it is gone as well. */
async function gone(pid: number): Promise<void> {
  for (let look = 0; look < 1000; look++) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.fail(`${pid} still runs`)
}

test('why a program never ran: it, its interpreter or its folder is not there, or it is not executable', async () => {
  const place = mkdtempSync(join(tmpdir(), 'ona-group-'))
  writeFileSync(join(place, 'odd'), '#!/no/such/interpreter\n', { mode: 0o755 })
  writeFileSync(join(place, 'plain'), '', { mode: 0o644 })
  const why = async (program: string, cwd = place) => (await runGroup({ program, args: [], env: {}, cwd })).cause
  assert.deepEqual(
    await Promise.all([why('nosuchprogram'), why('./odd'), why('./plain'), why('/bin/sh', join(place, 'gone'))]),
    [
      { notStarted: 'there is no program nosuchprogram' },
      { notStarted: 'the interpreter that ./odd names does not exist' },
      { notStarted: 'there is no permission to execute ./plain' },
      { notStarted: `its working directory ${place}/gone does not exist` },
    ],
  )
  rmSync(place, { recursive: true })
})

test('a folder that may not be entered is why a program did not start, and not the program', async () => {
  const place = mkdtempSync(join(tmpdir(), 'ona-group-'))
  const isRoot = process.geteuid!() === 0
  chmodSync(place, 0o600)
  if (isRoot) process.seteuid!(65_534) // to root every folder is open
  try {
    const { cause } = await runGroup({ program: '/bin/sh', args: [], env: {}, cwd: place })
    assert.deepEqual(cause, { notStarted: `there is no permission to enter its working directory ${place}` })
  } finally {
    if (isRoot) process.seteuid!(0)
    rmSync(place, { recursive: true })
  }
})

test('the end of a program: its exit code, its signal, or why it never ran', async () => {
  const plain = { cause: undefined, leftBehind: false }
  assert.deepEqual(await sh('exit 3'), { exitCode: 3, signal: null, ...plain })
  assert.deepEqual(await sh('kill -HUP $$'), { exitCode: null, signal: 'SIGHUP', ...plain })
  const missing = await runGroup({ program: '/nonexistent/x', args: [], env: {} })
  assert.deepEqual(missing.cause, { notStarted: 'there is no program /nonexistent/x' })
  const nul = await sh('a\0b')
  assert.match(
    typeof nul.cause === 'object' ? nul.cause.notStarted : '',
    /^The argument 'args\[1\]' must be a string without null/,
  )
  assert.deepEqual((await sh(`: ${'x'.repeat(2 ** 22)}`)).cause, {
    notStarted: 'its command and environment are longer than the system takes; put a long command into a file',
  })
  assert.equal((await sh('exit 0', { signal: AbortSignal.abort() })).cause, 'aborted')
})

test('input, both streams and the third pipe', async () => {
  let text = ''
  const add = (name: string) => (chunk: Buffer) => {
    text += `${name}:${chunk}`
  }
  await sh('cat; echo err >&2; echo third >&3', {
    input: 'in\n',
    onStdout: add('1'),
    onStderr: add('2'),
    onThird: add('3'),
  })
  assert.deepEqual(text.match(/\d:\w+/g)!.sort(), ['1:in', '2:err', '3:third'])
})

test('whoever ignores SIGTERM is killed, with the processes it started', async () => {
  const stop = new AbortController()
  const started = new EventTarget()
  let child = 0
  const run = sh("trap '' TERM; (trap '' TERM; echo $BASHPID; while :; do sleep 0.05; done) & wait", {
    signal: stop.signal,
    graceMs: 50,
    onStdout(chunk) {
      child = Number(chunk)
      started.dispatchEvent(new Event('pid'))
    },
  })
  await once(started, 'pid')
  stop.abort()
  const end = await run
  assert.deepEqual([end.cause, end.signal], ['aborted', 'SIGKILL'])
  await gone(child)
})

test('a time limit ends it', async () => {
  assert.equal((await sh('while :; do :; done', { timeoutMs: 50, graceMs: 50 })).cause, 'timed-out')
})

test('what it leaves behind runs on, or ends with it where that is wanted', async () => {
  let text = ''
  const script = 'sleep 60 & echo $!'
  const onStdout = (chunk: Buffer) => {
    text += chunk
  }
  const left = await sh(script, { onStdout })
  assert.deepEqual([left.exitCode, left.leftBehind], [0, true])
  process.kill(Number(text), 'SIGKILL') // it was still there
  text = ''
  await sh(script, { onStdout, endsWhole: true })
  await gone(Number(text))
})

/** Collects what a program prints. */
function collected() {
  let printed = ''
  const add = (chunk: Buffer) => {
    printed += chunk
  }
  return { add, text: () => printed }
}

test('a listener that has enough closes the stream', async () => {
  const heard: string[] = []
  const end = await sh('trap "" PIPE; while echo x; do :; done 2> /dev/null; exit 7', {
    onStdout(chunk) {
      heard.push(String(chunk))
      return false
    },
  })
  assert.deepEqual([end.exitCode, heard.length], [7, 1])
  const both: string[] = []
  await sh('printf a; sleep 0.1; printf b', { onStdout: (chunk) => both.push(String(chunk)) > 0 })
  assert.equal(both.join(''), 'ab')
})

test('a program starts in its folder, with its environment, and in a group of its own', async () => {
  const { add, text } = collected()
  const program = { program: '/bin/bash', args: ['-c', 'echo "$PWD $A $(ps -o pgid= -p $$ | tr -d " ") $$"'] }
  const env = { A: 'a', PATH: process.env['PATH'] }
  await runGroup({ ...program, cwd: '/', env, onStdout: add })
  const [cwd, a, group, pid] = text().trim().split(' ')
  assert.deepEqual([cwd, a, group], ['/', 'a', pid])
})

test('without input stdin is empty', async () => {
  const { add, text } = collected()
  const end = await sh('cat; echo end', { onStdout: add, timeoutMs: 60_000 })
  assert.deepEqual([text(), end.exitCode], ['end\n', 0])
})

test('a file is open for reading at its descriptor, from its beginning for each program', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-group-'))
  after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'file')
  writeFileSync(path, 'content')
  const open = () => readdirSync('/proc/self/fd').length
  const before = open()
  for (let round = 0; round < 2; round++) {
    const { add, text } = collected()
    const end = await sh('cat <&6', {
      ...{ file: { fd: 6, path }, onStdout: add },
    })
    assert.deepEqual([text(), end.exitCode], ['content', 0])
  }
  assert.equal(open(), before)
  const missing = await sh('true', { file: { fd: 4, path: join(folder, 'gone') } })
  assert.match((missing.cause as { notStarted: string }).notStarted, /^ENOENT: no such file or directory, open/)
  const unable = await runGroup({ program: 'a\0b', args: [], env: {}, file: { fd: 4, path } })
  assert.match((unable.cause as { notStarted: string }).notStarted, /null bytes/)
  assert.equal(open(), before)
})

test('what closed its output while this process was busy is not left behind', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ona-group-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const mark = join(folder, 'busy')
  writeFileSync(mark, '')
  const script = '(sleep 0.05; exec >&- 2>&-; rm "$0") & exit 0'
  const child = spawn('sh', ['-c', script, mark], { stdio: ['ignore', 'pipe', 'pipe'] })
  const run = runGroup({ program: 'sh', args: [], env: {}, child, lingerMs: 1 })
  child.once('exit', () => {
    while (existsSync(mark)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
  })
  assert.deepEqual(await run, { exitCode: 0, signal: null, cause: undefined, leftBehind: false })
})

test('what it leaves behind is waited for as long as it prints, but not for ever', async () => {
  const { add, text } = collected()
  const end = await sh('(for i in 1 2 3; do sleep 0.1; echo $i; done; exec sleep 60) & echo 0 $!', {
    ...{ lingerMs: 1000, onStdout: add },
  })
  assert.deepEqual([text().replace(/ \d+/, ''), end.exitCode, end.leftBehind], ['0\n1\n2\n3\n', 0, true])
  process.kill(Number(/0 (\d+)/.exec(text())![1]), 'SIGKILL')
})

test('a time limit beyond the longest timer is none, and a signal after the end changes nothing', async () => {
  const stop = new AbortController()
  const end = await sh('exit 0', { timeoutMs: 2 ** 40, signal: stop.signal })
  stop.abort()
  assert.deepEqual(end, { exitCode: 0, signal: null, cause: undefined, leftBehind: false })
})

test('nothing is left that waits: no timer, and no listener on the signal', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const before = timers()
  const stop = new AbortController()
  let listeners = 0
  const signal = Object.assign(stop.signal, {
    addEventListener(...args: Parameters<AbortSignal['addEventListener']>) {
      listeners++
      AbortSignal.prototype.addEventListener.apply(this, args)
    },
    removeEventListener(...args: Parameters<AbortSignal['removeEventListener']>) {
      listeners--
      AbortSignal.prototype.removeEventListener.apply(this, args)
    },
  }) as AbortSignal
  await sh('exit 0', { timeoutMs: 60_000, lingerMs: 60_000, signal })
  await sh('sleep 60', { timeoutMs: 50, graceMs: 60_000, signal })
  assert.deepEqual([timers(), listeners], [before, 0])
})

test('on Windows a program has no group: taskkill ends it with its children, and nothing wakes it', async (t) => {
  const platform = Object.getOwnPropertyDescriptor(process, 'platform')!
  t.after(() => Object.defineProperty(process, 'platform', platform))
  Object.defineProperty(process, 'platform', { value: 'win32' })
  const here = new URL('./process-group.ts', import.meta.url).href
  const { signalGroup, startGroup, wakeGroup } = (await import(
    `${here}?windows`
  )) as typeof import('./process-group.ts')
  const calls: unknown[][] = []
  t.mock.method(process.getBuiltinModule('node:child_process'), 'spawn', (...given: unknown[]) => calls.push(given))
  const child = { pid: 7 } as never
  startGroup({ program: 'hook.exe', args: ['-v'], cwd: 'C:\\', env: {}, stdio: ['pipe'] })
  wakeGroup(child)
  signalGroup(child, 'SIGTERM')
  assert.deepEqual(calls, [
    ['hook.exe', ['-v'], { cwd: 'C:\\', env: {}, detached: false, windowsHide: true, stdio: ['pipe'] }],
    ['taskkill', ['/pid', '7', '/t', '/f'], { stdio: 'ignore' }],
  ])
})

test('what comes after the exit, while a child of it holds the output, ends nothing', async () => {
  const stop = new AbortController()
  const child = spawn('/bin/bash', ['-c', 'sleep 1000 & echo $!; exit 3'], { detached: true })
  let pid = 0
  child.once('exit', () => setImmediate(() => stop.abort()))
  const end = await sh('', {
    child,
    signal: stop.signal,
    onStdout(chunk) {
      pid = Number(chunk)
    },
  })
  assert.deepEqual(end, { exitCode: 3, signal: null, cause: undefined, leftBehind: true })
  assert.equal(process.kill(pid, 0), true)
  process.kill(pid, 'SIGKILL')
  await gone(pid)
})

test('a program that left something running does not keep this process alive', async () => {
  const program = `import { runGroup } from ${JSON.stringify(new URL('./process-group.ts', import.meta.url).href)}
    const onStdout = (chunk) => process.stdout.write(chunk)
    await runGroup({ program: '/bin/bash', args: ['-c', 'sleep 1000 & echo $!'], env: process.env, lingerMs: 1, onStdout })`
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    ...{ encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' },
  })
  const pid = Number(stdout)
  process.kill(pid, 'SIGKILL')
  assert.equal(status, 0)
  await gone(pid)
})

test('what goes on printing is waited for five seconds after the exit, and no longer', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1 })
  let isOver = false
  const onStdout = () => {
    if (!isOver) t.mock.timers.tick(5000)
  }
  const script = '(for i in $(seq 100); do echo x; sleep 0.02; done) & exit 0'
  const end = await sh(script, { lingerMs: 200, endsWhole: true, onStdout })
  isOver = true
  assert.deepEqual(end, { exitCode: 0, signal: null, cause: undefined, leftBehind: true })
})

test('output that breaks off is its end, and the exit code counts', async () => {
  const child = spawn('/bin/bash', ['-c', 'read -r line; exit 3'], { detached: true })
  const run = sh('', { child, input: 'x\n' })
  for (const stream of [child.stdout, child.stderr]) stream.destroy(new Error('broken'))
  assert.deepEqual(await run, { exitCode: 3, signal: null, cause: undefined, leftBehind: false })
})

test('at the end of this process the groups that are bound to it are killed, and none that has exited or was released', async (t) => {
  const startSleeping = () => {
    const child = startGroup({ program: '/bin/sleep', args: ['600'], env: {}, stdio: ['ignore', 'ignore', 'ignore'] })
    t.after(() => child.kill('SIGKILL'))
    return child
  }
  const [exited, released, bound, last] = [startSleeping(), startSleeping(), startSleeping(), startSleeping()]
  const others = process.listeners('exit')
  const ours = () => process.listeners('exit').filter((listener) => !others.includes(listener))
  const releases = [exited, released, bound, last].map(bindGroup)
  releases[1]!()
  exited.kill('SIGKILL')
  await once(exited, 'exit')
  const [endAll, ...more] = ours()
  assert.deepEqual([typeof endAll, more], ['function', []])
  const kill = t.mock.method(process, 'kill', () => true as const)
  endAll!(0)
  assert.deepEqual(
    kill.mock.calls.map((call) => call.arguments),
    [bound, last].map(({ pid }) => [-pid!, 'SIGKILL']),
  )
  kill.mock.restore()
  releases[2]!()
  assert.equal(ours().length, 1)
  last.kill('SIGKILL')
  await once(last, 'exit')
  assert.deepEqual(ours(), [])
})
