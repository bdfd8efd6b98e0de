/** What a module prints, in whichever way, is in the trace; stdout carries the answer alone. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const folder = mkdtempSync(join(tmpdir(), 'stdio-guard-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const inFolder = (name: string) => join(folder, name)
const guard = new URL('./stdio-guard.ts', import.meta.url).href

/** Runs a script in a process of its own, with the guard's functions, `fs` and the path of the trace in scope. */
function run(traceFile: string, script: string, env: NodeJS.ProcessEnv = {}) {
  const imports = `import * as fs from 'node:fs'
    import * as children from 'node:child_process'
    import { once } from 'node:events'
    import { answer, leave, takeDescriptors, takeStreams, trace, turnStderrIntoTrace } from '${guard}'
    const [traceFile, folder] = process.argv.slice(1)\n`
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', imports + script, traceFile, folder],
    { encoding: 'utf8', env: { ...process.env, ...env } },
  )
  const traced = existsSync(traceFile) ? readFileSync(traceFile, 'utf8').trimEnd().split('\n') : []
  return { status, stdout, stderr, traced: traced.map((line) => line.replace(/^\d{13} \d+ /, '> ')) }
}

test('the streams of the process print to the trace, and the process cannot be ended', () => {
  const { traced, ...rest } = run(
    inFolder('new/folder/dispatch.log'),
    `turnStderrIntoTrace(traceFile)
    const descriptors = fs.readdirSync('/proc/self/fd').filter((fd) => {
      try { return fs.readlinkSync('/proc/self/fd/' + fd) === traceFile } catch { return false }
    })
    takeStreams()
    const { stdout, stderr } = process
    console.log('console')
    stderr.write(Buffer.from('bytes'))
    stdout.write(1)
    const told = []
    const returned = [stdout.write('two\\nlines', 'utf8', () => told.push('write')), stdout.end('end', () => told.push('end'))]
    await null
    for (const name of ['exit', 'reallyExit', 'abort']) try { process[name](1) } catch (cause) { told.push(cause.message) }
    const facts = { fd: stdout.fd, isTTY: stdout.isTTY, writable: stdout.writable, same: stdout === stderr }
    const chained = stdout.on('error', () => {}).once('drain', () => {}) === stdout && (await stdout) === stdout
    trace('of our own\\nin two lines')
    process.on('exit', () => trace('an exit handler'))
    process.exitCode = 3
    answer(JSON.stringify({ descriptors, facts, chained, returned, told }))
    leave()`,
  )
  assert.deepEqual(traced, [
    '> printed: console ',
    '> printed: bytes',
    '> printed: ',
    '> printed: two lines',
    '> printed: end',
    '> of our own in two lines',
  ])
  assert.deepEqual(
    { ...rest, stdout: JSON.parse(rest.stdout) },
    {
      status: 0,
      stderr: '',
      stdout: {
        descriptors: ['2'],
        facts: { fd: 2, isTTY: false, writable: true, same: true },
        chained: true,
        returned: [true, true],
        told: ['write', 'end', ...['exit', 'reallyExit', 'abort'].map((name) => `a module called process.${name}()`)],
      },
    },
  )
})

test('descriptor 1, its names and the children of a module print to the trace; files are written as before', () => {
  writeFileSync(inFolder('dispatch.log'), 'before\n')
  const { traced, ...rest } = run(
    inFolder('dispatch.log'),
    `turnStderrIntoTrace(traceFile)
    takeStreams()
    takeDescriptors()
    const { writeSync, promises } = fs // the names that a module imports, not the properties of the default export
    const line = (text) => Buffer.from(text + '\\n')
    const called = (name, ...given) => new Promise((done) => fs[name](...given, (_, fd) => done(fd)))
    writeSync(1, 'writeSync\\n')
    fs.writevSync(1, [line('writevSync')])
    fs.writeFileSync('/dev/stdout', 'writeFileSync\\n')
    fs.appendFileSync('/dev/fd/1', 'appendFileSync\\n')
    writeSync(fs.openSync('/proc/self/fd/1', 'w'), 'openSync\\n')
    await called('write', 1, 'write\\n')
    await called('writev', 1, [line('writev')])
    await called('writeFile', 1, 'writeFile\\n')
    await called('appendFile', '/dev/stdout', 'appendFile\\n')
    writeSync(await called('open', '/dev/stdout', 'w'), 'open to write\\n')
    writeSync(await called('open', '/dev/stdout'), 'open\\n')
    writeSync(await called('open', '/dev/stdout', 'w', 0o600), 'open with a mode\\n')
    const handle = await promises.open('/dev/stdout', 'w')
    await handle.write('promises.open\\n')
    await handle.close()
    await promises.writeFile('/dev/stdout', 'promises.writeFile\\n')
    await promises.appendFile('/dev/stdout', 'promises.appendFile\\n')

    const { spawn, spawnSync, execSync, execFileSync } = children
    const echo = (text) => ['sh', ['-c', 'echo ' + text + '; echo ' + text + ' 2 >&2']]
    const started = (text, stdio) => once(spawn(...echo(text), { stdio }), 'close')
    await started('spawn', 'inherit')
    await started('spawn in a list', ['ignore', 'inherit', 'inherit'])
    await started('spawn to a stream', ['ignore', process.stdout, 'ignore'])
    spawnSync(...echo('spawnSync to a stream'), { stdio: ['ignore', process.stdout, 'ignore'] })
    spawnSync(...echo('spawnSync'), { stdio: 'inherit' })
    spawnSync(...echo('spawnSync in a list'), { stdio: ['ignore', 'ignore', 1] })
    execSync('echo execSync', { stdio: 'inherit' })
    execFileSync(...echo('execFileSync'), { stdio: ['ignore', 1, 'ignore'] })

    fs.writeFileSync(folder + '/plain.txt', 'plain ')
    fs.appendFileSync(folder + '/plain.txt', 'added')
    const kept = spawn(...echo('kept'), { stdio: ['inherit', 'pipe', 'pipe'] })
    const pieces = []
    for await (const piece of kept.stdout) pieces.push(String(piece))
    const answers = {
      spawn: pieces.join(''),
      spawnSync: spawnSync(...echo('kept'), { stdio: ['inherit', 'pipe', 'pipe'], encoding: 'utf8' }).output,
      execSync: execSync('cat', { input: 'fed', encoding: 'utf8' }),
      isFedTrace: /dispatch/.test(execFileSync('readlink', ['/proc/self/fd/0'], { stdio: ['inherit', 'pipe', 'pipe'] })),
      file: fs.readFileSync(folder + '/plain.txt', 'utf8'),
    }
    answer(JSON.stringify(answers))
    leave()`,
  )
  const both = (text: string) => [text, `${text} 2`]
  assert.deepEqual(traced, [
    'before',
    ...['writeSync', 'writevSync', 'writeFileSync', 'appendFileSync', 'openSync', 'write', 'writev', 'writeFile'],
    ...['appendFile', 'open to write', 'open', 'open with a mode'],
    ...['promises.open', 'promises.writeFile', 'promises.appendFile'],
    ...[...both('spawn'), ...both('spawn in a list'), 'spawn to a stream', 'spawnSync to a stream'],
    ...[...both('spawnSync'), 'spawnSync in a list 2', 'execSync', 'execFileSync'],
  ])
  assert.deepEqual(
    { ...rest, stdout: JSON.parse(rest.stdout) },
    {
      status: 0,
      stderr: '',
      stdout: {
        spawn: 'kept\n',
        spawnSync: [null, 'kept\n', 'kept 2\n'],
        execSync: 'fed',
        isFedTrace: false,
        file: 'plain added',
      },
    },
  )
})

test('a trace of a mebibyte is set aside, and one that cannot be written leaves no descriptor free', () => {
  const script = `turnStderrIntoTrace(traceFile)
    trace('new')
    const fd = fs.openSync(folder, 'r')
    answer(String(fd > 2))
    leave()`
  const told = { status: 0, stdout: 'true', stderr: '' }
  const full = `${'x'.repeat(1024 * 1024 - 1)}\n`
  writeFileSync(inFolder('full.log'), full)
  assert.deepEqual(run(inFolder('full.log'), script), { ...told, traced: ['> new'] })
  assert.equal(readFileSync(inFolder('full.log.1'), 'utf8') === full, true)
  writeFileSync(inFolder('almost.log'), full.slice(1))
  assert.deepEqual(run(inFolder('almost.log'), script), { ...told, traced: [full.slice(1, -1), '> new'] })
  assert.deepEqual(run(inFolder('almost.log/below'), script), { ...told, traced: [] })
})

test('the way out runs exit handlers only where the compile cache is being made', () => {
  const script = `takeStreams()
    process.on('exit', (code) => answer('exit ' + code))
    process.exitCode = 3
    leave()`
  assert.deepEqual(
    ['', '1'].map((warm) => run(inFolder('none'), script, { ONA_DISPATCHER_WARM: warm })),
    ['', 'exit 0'].map((stdout) => ({ status: 0, stdout, stderr: '', traced: [] })),
  )
})

test('the answer is written whole to a reader that stalls; one that is gone or stalls for good is given up', async (t) => {
  const fs = process.getBuiltinModule('node:fs')
  const real = { writeSync: fs.writeSync, wait: Atomics.wait }
  t.after(() => {
    fs.writeSync = real.writeSync
    Atomics.wait = real.wait
  })
  let [written, sleeps, calls, failures] = [[] as string[], 0, 0, [] as (string | undefined)[]]
  const thrown = new Map(['EAGAIN', 'EPIPE', 'ENOSPC'].map((code) => [code, Object.assign(new Error(code), { code })]))
  fs.writeSync = ((fd: number, bytes: Buffer, at: number) => {
    const failure = failures[calls++]
    if (failure) throw thrown.get(failure)
    written.push(`${fd} ${bytes.subarray(at, at + 3)}`)
    return Math.min(3, bytes.length - at)
  }) as typeof fs.writeSync
  Atomics.wait = (() => sleeps++) as unknown as typeof Atomics.wait
  const { answer } = (await import(`${guard}?stalled`)) as typeof import('./stdio-guard.ts')
  const after = (codes: typeof failures) => {
    ;[written, sleeps, calls, failures] = [[], 0, 0, codes]
    answer('seven b')
    return [written, sleeps]
  }
  const whole = ['1 sev', '1 en ', '1 b']
  const stalls = (count: number) => Array<string>(count).fill('EAGAIN')
  assert.deepEqual(after([]), [whole, 0])
  assert.deepEqual(after([...stalls(14_999), undefined, ...stalls(14_999)]), [whole, 29_998])
  assert.deepEqual(after(stalls(15_000)), [[], 15_000])
  for (const code of ['EPIPE', 'ENOSPC']) assert.deepEqual(after([code]), [[], 0], code)
})
