/** Who counts as the operator: by the mark, by an ona above, by cron, and by a birth while a command of the agent ran. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs, {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { environmentOf, lineage, type Process, peersOf, startedAt } from '../files/process-tree.ts'
import { packageRoot } from '../package-root.ts'
import { createConversation, createSession } from './conversations.ts'
import { type Db, inMemory, openDb } from './open.ts'
import { type Acted, bornOfCommand, governedMark, operatorProblem, requireOperator, senderProblem } from './operator.ts'
import { startedHere } from './own-commands.ts'

const skip = process.platform !== 'linux' && 'only Linux shows the processes above one'

/** The file of a record and a hard link to it, two homes, and a project with a folder and a neighbour. */
function places(t: TestContext) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-operator-')))
  t.after(() => rmSync(root, { recursive: true }))
  const at = (...names: string[]) => join(root, ...names)
  for (const folder of ['home', 'home2', 'project/inner', 'project2', 'home/.ona'])
    mkdirSync(at(folder), { recursive: true })
  writeFileSync(at('a.db'), '')
  linkSync(at('a.db'), at('linked.db'))
  writeFileSync(at('b.db'), '')
  return at
}
const record = (path: string): NonNullable<Acted['db']> => ({ path, all: () => [] })
const said = (who: string) =>
  `moving is for the operator, and this command was started by an agent's ${who}; run it in a terminal of your own`
const sent = (who: string) =>
  `moving is for the operator, and this was sent by an agent's ${who}; use ona approvals in a terminal of your own`
const byMark = 'tool or hook (ONA_GOVERNED is set)'

test('the mark refuses acts on the record, home or folder that it names, by whatever name; one that says nothing refuses all', (t) => {
  const at = places(t)
  t.after(() => delete process.env['ONA_GOVERNED'])
  const whole = { db: at('a.db'), home: at('home'), folder: at('project', 'inner') }
  symlinkSync(at('project'), at('link-to-project'))
  const mark = governedMark(whole)
  assert.deepEqual(mark, { ONA_GOVERNED: JSON.stringify(whole) })
  const other = { db: record(at('b.db')), home: at('home2'), folder: at('project2') }
  const held = (value: string | undefined, on: Acted) => {
    delete process.env['ONA_GOVERNED']
    if (value !== undefined) process.env['ONA_GOVERNED'] = value
    const problem = operatorProblem('moving', on)
    if (problem === undefined) requireOperator('moving', on)
    else {
      assert.equal(problem, said(byMark))
      assert.throws(() => requireOperator('moving', on), { kind: 'not-operator', message: problem })
    }
    return problem !== undefined
  }
  const rows: [string | undefined, Acted, boolean][] = [
    [undefined, { db: record(at('a.db')), home: at('home'), folder: at('project') }, false],
    [mark['ONA_GOVERNED'], other, false],
    [mark['ONA_GOVERNED'], {}, false],
    [mark['ONA_GOVERNED'], { ...other, db: record(at('a.db')) }, true],
    [mark['ONA_GOVERNED'], { db: record(at('linked.db')) }, true],
    [mark['ONA_GOVERNED'], { ...other, home: at('home') }, true],
    [mark['ONA_GOVERNED'], { home: at('project', '..', 'home') }, true],
    ...['project/inner', 'project', '', 'project/'].map((name): [string | undefined, Acted, boolean] => [
      ...([mark['ONA_GOVERNED'], { ...other, folder: `${at()}/${name}` }, true] as const),
    ]),
    [mark['ONA_GOVERNED'], { folder: '/' }, true],
    [mark['ONA_GOVERNED'], { folder: at('link-to-project') }, true],
    [JSON.stringify({ ...whole, folder: at('link-to-project', 'inner') }), { folder: at('project') }, true],
    [mark['ONA_GOVERNED'], { folder: at('proj') }, false],
    [mark['ONA_GOVERNED'], { folder: at('project', 'inner', 'below') }, false],
    [JSON.stringify({ db: at('a.db'), home: at('home') }), { folder: at('project') }, false],
    ...['', 'x', '7', 'null', '[]', '{}', '{"db":"/x"}', '{"home":"/x"}', '{"db":7,"home":7}'].map(
      (text): [string, Acted, boolean] => [text, other, true],
    ),
  ]
  assert.deepEqual(
    rows.map(([value, on]) => [value, on, held(value, on)]),
    rows,
  )
})

test('that this process has the record open itself makes it no agent', (t) => {
  const at = places(t)
  const db = openDb(at('home', '.ona', 'agent.db'))
  t.after(() => db.close())
  assert.deepEqual(
    [operatorProblem('moving', { db }), operatorProblem('moving', { home: at('home') })],
    [undefined, undefined],
  )
})

/** The end of a connection from a process that runs `before` and stays; `above` is what starts it. */
async function connection(
  t: TestContext,
  {
    above = '',
    shell = 'bash',
    env = {},
    cwd = '/',
    detached = false,
  }: Partial<Record<'above' | 'shell' | 'cwd', string>> & { env?: NodeJS.ProcessEnv; detached?: boolean } = {},
): Promise<Socket> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const connect = `exec 9>&- 3<>/dev/tcp/127.0.0.1/${port}; read -r -u 3 line`
  const script = `${above}\nbash -c '${connect}'; :`
  const child = detached
    ? spawn('setsid', ['--fork', 'bash', '-c', connect], { stdio: 'ignore' })
    : spawn(shell, ['-c', script], { env: { PATH: process.env['PATH'], ...env }, cwd, stdio: 'ignore' })
  const [socket] = (await once(server, 'connection')) as [Socket]
  t.after(async () => {
    socket.destroy()
    server.close()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  return socket
}

test('a request counts as its sender’s: by the mark, or an ona above it that works with the same record, home or folder', {
  skip,
}, async (t) => {
  const at = places(t)
  const on = { db: record(at('a.db')), home: at('home'), folder: at('project') }
  const none = await connection(t)
  assert.equal(senderProblem('moving', on, none), undefined)
  const { ONA_GOVERNED } = governedMark({ db: at('a.db'), home: at('home2') })
  const marked = await connection(t, { env: { ONA_GOVERNED } })
  assert.deepEqual(
    [senderProblem('moving', on, marked), senderProblem('moving', { home: at('home') }, marked)],
    [sent(byMark), undefined],
  )
  assert.equal(
    senderProblem('moving', on, { localPort: 1, remotePort: 1 }),
    'moving is for the operator, and /proc does not show which program sent this; use ona approvals in a terminal of your own',
  )
  const own = at('home', '.ona', 'agent.db')
  writeFileSync(own, '')
  /** Something above that has a file open, in an environment and a folder. */
  const open = (file: string, env: NodeJS.ProcessEnv, cwd = at('home2')) =>
    connection(t, { above: `exec 9<>${file}`, env, cwd })
  const acted = { db: { db: on.db }, home: { home: on.home }, folder: { folder: on.folder } }
  const held = (socket: Socket) =>
    Object.entries(acted).flatMap(([name, each]) => {
      const problem = senderProblem('moving', each, socket)
      if (problem === undefined) return []
      assert.equal(problem.replace(/process \d+/, 'process N'), sent('tool or hook (below process N)'))
      return name
    })
  const away = { HOME: at('home2') }
  assert.deepEqual(
    [
      held(await open(at('linked.db'), away)),
      held(await open(at('b.db'), { HOME: at('home'), AGENT_SDLC_DB: at('b.db') })),
      held(await open(at('b.db'), { HOME: at('home') })),
      held(await open(own, { HOME: at('home') })),
      held(await open(own, { HOME: at('home'), AGENT_SDLC_DB: 'relative.db' })),
      held(await open(own, { HOME: at('home'), AGENT_SDLC_DB: at('b.db') })),
      held(await open(at('b.db'), { ...away, AGENT_SDLC_DB: at('b.db') }, at('project', 'inner'))),
      held(await open(at('b.db'), { ...away, AGENT_SDLC_DB: at('b.db') }, at('project2'))),
      held(await open(at('b.db'), { AGENT_SDLC_DB: at('b.db') }, at('project2'))),
    ],
    [['db'], ['home'], [], ['home'], ['home'], [], ['folder'], [], []],
  )
  const rootless = await open(at('b.db'), { AGENT_SDLC_DB: at('b.db') }, '/')
  assert.match(senderProblem('moving', { home: '/' }, rootless) ?? '', /below process/)
})

test('of several programs that hold a connection, one of an agent is enough', { skip }, async (t) => {
  const at = places(t)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const { ONA_GOVERNED } = governedMark({ db: at('a.db'), home: at('home') })
  const script = `exec 3<>/dev/tcp/127.0.0.1/${port}; ONA_GOVERNED='${ONA_GOVERNED}' cat <&3 > /dev/null; :`
  const child = spawn('bash', ['-c', script], { stdio: 'ignore' })
  const [socket] = (await once(server, 'connection')) as [Socket]
  t.after(async () => {
    socket.destroy()
    server.close()
    if (child.exitCode === null) await once(child, 'exit')
  })
  await until(() => peersOf(socket).some((pid) => environmentOf(pid)?.['ONA_GOVERNED']))
  assert.equal(senderProblem('moving', { db: record(at('a.db')) }, socket), sent(byMark))
})

test('where no program is shown with its connections, a request counts as the operator’s', (t) => {
  const { platform } = process
  t.after(() => Object.defineProperty(process, 'platform', { value: platform }))
  Object.defineProperty(process, 'platform', { value: 'darwin' })
  assert.equal(
    senderProblem('moving', { db: record(join(tmpdir(), 'a.db')) }, { localPort: 1, remotePort: 1 }),
    undefined,
  )
})

test('what this process started may send, and a process that cannot be looked at may not', { skip }, async (t) => {
  const at = places(t)
  const on = { db: record(at('a.db')) }
  const child = await connection(t)
  const file = fs.openSync(at('a.db'), 'r') // as the server of a page has its record open
  t.after(() => fs.closeSync(file))
  assert.equal(senderProblem('moving', on, child), undefined)
  const started = lineage(peersOf(child)[0]).find(({ parent }) => parent === process.pid)!
  const whileItRan = recordOf(t)
  call(whileItRan, started, { started: 0 })
  assert.equal(senderProblem('moving', { db: whileItRan }, child), undefined)
  const { readFileSync } = fs
  const restore = () => {
    fs.readFileSync = readFileSync
    syncBuiltinESMExports()
  }
  t.after(restore)
  fs.readFileSync = ((path: string, ...rest: never[]) => {
    if (/^\/proc\/\d+\/environ$/.test(path)) throw new Error('EACCES')
    return readFileSync(path, ...rest)
  }) as typeof readFileSync
  syncBuiltinESMExports()
  const problem = senderProblem('moving', on, child)
  restore()
  assert.equal(problem, sent('process that cannot be looked at'))
})

test('what cron or at ran may be a job that a tool left behind', { skip }, async (t) => {
  const at = places(t)
  const below = async (name: string) => {
    symlinkSync('/bin/bash', at(name))
    return senderProblem('moving', { home: at('home') }, await connection(t, { shell: at(name) }))
  }
  const job = (name: string) => sent(`job, or by another that ${name} ran`)
  const daemons = ['atd', 'cron', 'crond', 'anacron', 'fcron', 'CRON']
  const problems = []
  for (const name of [...daemons, 'xcron', 'atdx']) problems.push(await below(name))
  assert.deepEqual(problems, [...daemons.map(job), undefined, undefined])
})

/** A second, so many after the whole second in which a process was born, as rows have it. */
const moment = (born: Process, seconds: number) =>
  new Date(Math.floor(startedAt(born)! / 1000) * 1000 + seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')

/** A record with a call that started and, where given, ended around the birth of a process. */
function recordOf(t: TestContext, path = inMemory): Db {
  const db = openDb(path)
  t.after(() => db.isOpen && db.close())
  createConversation(db, { projectDir: '/', id: 'c' })
  createSession(db, 'c', 's')
  return db
}
interface Call {
  readonly started: number
  readonly ended?: number
  readonly result?: string
  /** The call itself, as an entry. */
  readonly used?: number
  /** The session's last entry. */
  readonly later?: number
  readonly detail?: string
  readonly type?: string
}
let sequence = 0
function call(
  db: Db,
  born: Process,
  { started, ended, result = '{}', used, later, detail, type = 'tool_start' }: Call,
): number {
  const said = detail ?? '{"tool_name":"Bash","tool_use_id":"t1"}'
  const { lastId } = db.run(
    "INSERT INTO events(conversation_id, session_id, timestamp, event_type, detail) VALUES ('c', 's', ?, ?, ?)",
    ...[moment(born, started), type, said],
  )
  const entry = (seconds: number, kind: string, id: string | null, payload: string) =>
    db.run(
      "INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json, tool_use_id, created_at) VALUES ('s', ?, ?, ?, ?, ?)",
      ...[sequence++, kind, payload, id, moment(born, seconds)],
    )
  if (used !== undefined) entry(used, 'tool_use', 't1', '{}')
  if (ended !== undefined) entry(ended, 'tool_result', 't1', result)
  if (later !== undefined) entry(later, 'system', null, '{"subtype":"x"}')
  return lastId
}

/** A shell that was started ahead of its command. */
const waitingShell = ({ pid, ticks }: Process) =>
  JSON.stringify({ tool_name: 'Bash', tool_use_id: 't1', shell_process: `${pid}:${ticks}` })

/** The process that the first one started or adopted, and the first one. Read each time: a parent that ends is replaced. */
function heads(): [Process, Process] | undefined {
  const chain = lineage()
  const init = chain.findIndex(({ pid, name }) => pid === 1 || name === 'systemd')
  return init < 1 ? undefined : [chain[init - 1]!, chain[init]!]
}
const noInit = heads() === undefined && 'no first process is above this one'

test('a process that detached itself is refused when it was born while a command of the record ran', {
  skip: skip || noInit,
}, (t) => {
  const [head, first] = heads()!
  const record = (born: Process, ...calls: Call[]) => {
    const db = recordOf(t)
    for (const each of calls) call(db, born, each)
    return { db }
  }
  const detached = ({ pid }: Process) => `detached command (process ${pid}, started while the agent's command t1 ran)`
  const hours = 3600
  // however long this machine has been running
  const older = { ...first, ticks: head.ticks - 4 * hours * 100 }
  const chain = lineage().map((each) => (each.pid === first.pid ? older : each))
  const rows: [Call, boolean][] = [
    [{ started: -10 }, true],
    [{ started: -10, used: -10 }, true],
    [{ started: -10, used: 0, ended: -2 }, false],
    [{ started: 1 }, true],
    [{ started: 2 }, false],
    [{ started: -2 * hours }, true],
    [{ started: -2 * hours - 1 }, false],
    [{ started: -3 * hours, ended: -1 }, true],
    [{ started: -10, ended: -2 }, false],
    [
      { started: -3 * hours, ended: -9, result: '{"content":"Command running in background with ID: b1."}', later: 0 },
      true,
    ],
    [{ started: -3 * hours, ended: -9, result: '{"content":"sent the command to the background"}', later: 0 }, true],
    [{ started: -3 * hours, ended: -9, result: '{"content":"sent the command to the background"}', later: -1 }, false],
    [{ started: -3 * hours, ended: -9, later: 0 }, false],
    [{ started: -10, detail: '{"tool_name":"Read","tool_use_id":"t1"}' }, false],
    [{ started: -10, detail: '{"tool_name":"Bash"' }, false],
    [{ started: -10, type: 'tool_end' }, false],
    [{ started: 600, detail: '{"tool_name":"Bash"' }, false],
    [{ started: 600, detail: waitingShell(head) }, true],
    [{ started: 600, ended: 601, detail: waitingShell(head) }, true],
    [{ started: 661, detail: waitingShell(head) }, false],
    [{ started: -2, ended: -2, detail: waitingShell(head) }, false],
    [{ started: 600, detail: waitingShell({ ...head, ticks: head.ticks + 1 }) }, false],
    [{ started: 600, detail: waitingShell({ ...head, pid: head.pid + 1 }) }, false],
    [{ started: 600, detail: waitingShell(head).replace('Bash', 'Read') }, false],
    [{ started: 600, detail: waitingShell(head), type: 'tool_end' }, false],
  ]
  assert.deepEqual(
    rows.map(([each]) => [each, bornOfCommand(chain, record(head, each), 0)]),
    rows.map(([each, held]) => [each, held ? detached(head) : undefined]),
  )
  // a machine that was started ten seconds before, however it ended what ran then
  const bootedBefore = startedAt(head)! - 10_000
  const boots: [Call, boolean][] = [
    [{ started: -11 }, true],
    [{ started: -12 }, false],
    [{ started: -12, ended: 3 }, false],
    [{ started: -12, ended: -9, result: '{"content":"in the background"}', later: 0 }, false],
  ]
  assert.deepEqual(
    boots.map(([each]) => [each, bornOfCommand(chain, record(head, each), bootedBefore)]),
    boots.map(([each, held]) => [each, held ? detached(head) : undefined]),
  )
  assert.equal(bornOfCommand(chain, record(older, { started: 0 }), 0), detached(first))
  const ended = Array.from({ length: 200 }, (): Call => ({ started: -3 * hours, type: 'tool_start' }))
  assert.equal(bornOfCommand(chain, record(head, { started: 0 }, ...ended), 0), detached(head), 'of many, the newest')
  const t9 = '{"tool_name":"Bash","tool_use_id":"t9"}'
  const since = Array.from({ length: 199 }, (): Call => ({ started: -10, detail: t9 }))
  const many = record(head, { started: -20 }, ...since)
  many.db.run(
    "INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json, tool_use_id, created_at) VALUES ('s', ?, 'tool_result', '{}', 't9', ?)",
    ...[sequence++, moment(head, -5)],
  )
  assert.equal(bornOfCommand(chain, many, 0), detached(head), 'one that still runs, before many that have ended')
  assert.equal(bornOfCommand([head], record(head, { started: 0 }), 0), detached(head), 'the first one is hidden')
  const below = (name: string) => bornOfCommand([head, { ...older, pid: 4, name }], record(head, { started: 0 }), 0)
  assert.deepEqual(
    [below('systemd'), below('bash')],
    [detached(head), undefined],
    'a user has a first process of their own',
  )
  const problem = (...of: Parameters<typeof record>) => operatorProblem('moving', record(...of))
  assert.equal(problem(head, { started: 0 }), said(detached(head)))
  assert.equal(problem(head), undefined)
  const db = recordOf(t)
  startedHere(db, call(db, head, { started: 0 }))
  assert.equal(operatorProblem('moving', { db }), undefined, 'this process started it, and is not born of it')
})

test('for an act on a home its own record counts, and none where there is no record', { skip: skip || noInit }, (t) => {
  const at = places(t)
  const path = at('home', '.ona', 'agent.db')
  const held = () => operatorProblem('moving', { home: at('home') })
  assert.equal(held(), undefined)
  writeFileSync(path, '')
  assert.equal(held(), undefined)
  const db = recordOf(t, path)
  call(db, heads()![0], { started: 0 })
  db.close()
  assert.match(held() ?? '', /detached command \(process \d+, started while the agent's command t1 ran\)/)
  const isOpen = (fd: string) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(realpathSync(path))
    } catch {
      return false // the one that listed them
    }
  }
  assert.deepEqual(readdirSync('/proc/self/fd').filter(isOpen), [], 'the record is closed again')
  assert.deepEqual(
    [operatorProblem('moving', { home: at('home2') }), operatorProblem('moving', {})],
    [undefined, undefined],
  )
})

test('a detached sender is refused, too, for a command that this process recorded', {
  skip: skip || noInit,
}, async (t) => {
  const socket = await connection(t, { detached: true })
  const db = recordOf(t)
  startedHere(db, call(db, processWith(socket), { started: 0 }))
  assert.match(
    senderProblem('moving', { db }, socket) ?? '',
    /sent by an agent's detached command \(process \d+, started/,
  )
})

/** Born last of those that have nothing above them but the first process. */
function processWith(socket: Socket): Process {
  const { stdout } = spawnSync(
    'bash',
    ['-c', `grep -l -- /dev/tcp/127.0.0.1/${socket.localPort} /proc/[0-9]*/cmdline`],
    { encoding: 'utf8' },
  )
  const [found] = stdout
    .trim()
    .split('\n')
    .map((file) => lineage(Number(dirname(file).slice(6)))[0])
    .filter((each) => each?.name === 'bash' && each.pid !== process.pid)
  return found!
}

test('where /proc is hidden, or an ona above cannot be looked at, nobody is the operator', { skip }, (t) => {
  const at = places(t)
  const ask = at('ask.mjs')
  const program = `const { operatorProblem } = await import(${JSON.stringify(join(packageRoot, 'src/store/operator.ts'))})
    console.log(operatorProblem('moving', { home: ${JSON.stringify(at('home'))} }) ?? 'none')`
  writeFileSync(ask, program)
  const run = (script: string, ...words: string[]) => {
    const { error, stderr, stdout, pid } = spawnSync('bash', ['-c', script, 'bash', ...words], {
      encoding: 'utf8',
      env: { ...process.env, NODE: process.execPath, ASK: ask },
    })
    return error || /unshare|mount/.test(stderr) ? undefined : stdout.trim().replace(`process ${pid}`, 'process ABOVE')
  }
  const hidden = run(`unshare -rm sh -c 'mount -t tmpfs tmpfs /proc && "$NODE" "$ASK"'; :`)
  if (hidden === undefined) return t.skip('this machine lets nobody make a namespace')
  assert.equal(
    hidden,
    'moving is for the operator, and /proc does not show who started this command: it is not a procfs; mount one there, or run it in a terminal of your own',
  )
  // from a user namespace of its own, nothing but the command lines above is seen
  const inside = 'unshare -rU "$NODE" "$ASK"; :'
  assert.equal(run(inside, `${packageRoot}/bin/ona.mjs`), said('tool or hook (below process ABOVE)'))
  assert.doesNotMatch(run(inside, `${packageRoot}-2/bin/ona.mjs`) ?? '', /ABOVE/)
  // the first of a process namespace of its own has nothing above it
  const db = recordOf(t, at('home', '.ona', 'agent.db'))
  call(db, lineage()[0]!, { started: -60 })
  db.close()
  assert.equal(
    run(`unshare -rpf --mount-proc sh -c 'exec "$NODE" "$ASK"'; :`),
    said("detached command (process 1, started while the agent's command t1 ran)"),
  )
})
