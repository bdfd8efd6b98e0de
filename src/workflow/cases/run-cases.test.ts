/** Cases run in a copy of the project, with a record of their own, and what they print is kept. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate as immediate } from 'node:timers/promises'
import { openDb } from '../../store/open.ts'
import { getPlan, hashOf } from '../../store/plans.ts'
import { keepOut } from '../../store/secrets.ts'
import { approvePlan, draftPlan } from '../planning.ts'
import { type Case, casesOf, lastRun, type Run, saveCase, saveRun } from './cases.ts'
import { copyProject } from './project-copy.ts'
import { proofOf } from './proofs.ts'
import { runCases } from './run-cases.ts'
import { runScript } from './run-script.ts'
import { changedSince, treeStamp } from './tree-stamp.ts'

function place(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'ona-run-cases-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const [projectDir, temp] = [join(root, 'project'), join(root, 'tmp')]
  for (const folder of [projectDir, temp]) mkdirSync(folder)
  const db = openDb(join(root, 'agent.db'))
  t.after(() => db.close())
  db.run("INSERT INTO conversations(id, project_dir, phase) VALUES ('c', ?, 'planning')", projectDir)
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = temp
  t.after(() => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  })
  writeFileSync(join(root, '.bashrc'), 'echo the profile was read >&2\n')
  return { root, projectDir, temp, db, env: { PATH: process.env['PATH'], HOME: root } }
}

test('a script has a folder, a copy and a record of its own, and nothing of them is left', async (t) => {
  const at = place(t)
  at.db.run(
    "INSERT INTO settings_snapshot(scope, json, updated_at) VALUES ('another', '{}', '2020'), ('effective', '{\"x\":1}', '2020')",
  )
  at.db.run("INSERT INTO conversations(id, project_dir, phase) VALUES ('d', '/elsewhere', 'test')")
  const run = (script: string, more: object = {}) =>
    runScript(script, { projectDir: at.projectDir, db: at.db, conversationId: 'c', env: at.env, ...more })
  const facts = await run(
    `[ "$PWD" = "$CASE_DIR" ] && [ "$TMPDIR" = "$CASE_DIR" ] && [ "$(ls -A)" = "" ] && echo alone
case "$(ls -l "$AGENT_SDLC_DB")" in -rw-------*) echo private ;; esac
echo "$PROJECT_DIR"; type -t ona; declare -f ona | grep -c 'bin/ona.mjs" "$@"'; command -v -p sh > /dev/null && echo found; echo wrong >&2; [ -c /dev/stdin ] && { read -r line || echo no input; }; exit 3`,
  )
  assert.deepEqual(facts, {
    exitCode: 3,
    timedOut: false,
    stdout: `alone\nprivate\n${at.projectDir}\nfunction\n1\nfound\nno input\n`,
    stderr: 'wrong\n',
  })
  const rows = await run(
    `node -e 'const db = new (require("node:sqlite").DatabaseSync)(process.env.AGENT_SDLC_DB); console.log(JSON.stringify([db.prepare("SELECT scope, json, unixepoch() - unixepoch(updated_at) < 3600 AS fresh FROM settings_snapshot").all(), db.prepare("SELECT id, project_dir, phase FROM conversations").all(), db.prepare("SELECT count(*) AS n FROM events").all()]))'`,
    { conversationId: 'd', env: { ...at.env, PATH: `${join(process.execPath, '..')}:${process.env['PATH']}` } },
  )
  assert.deepEqual(JSON.parse(rows.stdout), [
    [{ scope: 'effective', json: '{"x":1}', fresh: 1 }],
    [{ id: 'd', project_dir: '/elsewhere', phase: 'test' }],
    [{ n: 0 }],
  ])
  const found = await run(
    'mode=$(ls -l "$AGENT_SDLC_DB" | cut -c 1-10); PATH=${PATH##*:}; /bin/cat "$PATH/ona"; [ -x "$PATH/ona" ] && echo runs; echo "$mode"',
  )
  assert.match(found.stdout, /^#!\/bin\/sh\nexec ".*node" ".*\/bin\/ona\.mjs" "\$@"\nruns\n-rw-------\n$/)
  const late = await run("trap 'sleep 0.3; echo late' TERM; echo begun; sleep 60", { timeoutMs: 300 })
  assert.deepEqual([late.exitCode, late.timedOut, late.stdout], [null, true, 'begun\n'])
  const long = await run("printf '€%.0s' $(seq 200000); printf '%300000s' x >&2")
  const cut = '\n[SDLC_TRUNCATED]'
  assert.deepEqual([long.stdout, long.stderr.length], ['€'.repeat(200_000), 262_144 + cut.length])
  assert.ok(long.stderr.endsWith(` ${cut}`))
  const whole = await run(
    "head -c 262144 /dev/zero | tr '\\0' x; head -c 262144 /dev/zero | tr '\\0' y >&2; printf y >&2",
  )
  assert.deepEqual([whole.stdout, whole.stderr], ['x'.repeat(262_144), 'y'.repeat(262_144) + cut])
  const missing = await run('true', { wrap: async () => ({ words: ['/none/such'], env: {} }) })
  assert.deepEqual(
    [missing.exitCode, missing.timedOut, missing.stdout, /none\/such|ENOENT/.test(missing.stderr)],
    [null, false, '', true],
  )
  const gone = await run('echo x; rm -r "$(dirname "$CASE_DIR")"')
  assert.deepEqual(gone, { exitCode: 0, timedOut: false, stdout: 'x\n', stderr: '' })
  const ended = new AbortController()
  const stopped = run('echo x; sleep 60', { signal: ended.signal })
  ended.abort()
  const { exitCode, timedOut } = await stopped
  assert.deepEqual([exitCode === 0, timedOut], [false, false])
  if (process.platform === 'linux') {
    const left = await run('sleep 1000 > /dev/null 2>&1 & echo $!')
    const isLeft = () =>
      /^[^Z\s]/.test(spawnSync('ps', ['-o', 'stat=', '-p', left.stdout.trim()], { encoding: 'utf8' }).stdout)
    for (let asked = 0; asked < 100 && isLeft(); asked++);
    assert.equal(isLeft(), false, 'what a case leaves behind is ended with it')
  }
  assert.deepEqual(readdirSync(at.temp), [], 'nothing is left')
  if (process.platform === 'linux') assert.deepEqual(openBelow(at.temp), [], 'nothing is held open')
})

test('a script that does not end is ended after a minute', { timeout: 60_000 }, async (t) => {
  const at = place(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const stop = new AbortController()
  t.after(() => stop.abort())
  const begun = join(at.root, 'begun')
  let ended = false
  const running = runScript(`echo > "${begun}"; sleep 1000`, {
    ...{ projectDir: at.projectDir, db: at.db, conversationId: 'c', env: at.env, signal: stop.signal },
  }).finally(() => {
    ended = true
  })
  while (!existsSync(begun)) await immediate()
  t.mock.timers.tick(59_999)
  await once(spawn('true'), 'exit')
  assert.equal(ended, false)
  t.mock.timers.tick(1)
  assert.deepEqual(await running, { exitCode: null, timedOut: true, stdout: '', stderr: '' })
})

/** What this process has open below a folder, whether or not it still has a name. */
const openBelow = (folder: string): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`)
      return path.startsWith(folder) ? [path] : []
    } catch {
      return [] // the one that listed them
    }
  })

test('how a script is started is for the sandbox to say, which is told the folders', async (t) => {
  const at = place(t)
  const asked: unknown[] = []
  const { stdout } = await runScript('echo "$MARK $1"', {
    ...{ projectDir: at.projectDir, packages: '/packages', db: at.db, conversationId: 'none', env: at.env },
    wrap: async (words, { cwd, folder, copy, packages, env }) => {
      asked.push([words.slice(0, 3), words[4], cwd === join(folder, 'case'), copy, packages, env['CASE_DIR'] === cwd])
      return { words: [...words, 'given'], env: { ...env, MARK: 'marked' } }
    },
  })
  assert.equal(stdout, 'marked given\n')
  assert.deepEqual(asked, [[['/bin/bash', '--norc', '-c'], 'case', true, at.projectDir, '/packages', true]])
})

test('files that changed are named, five of them at most; what others write is not looked at', async (t) => {
  const at = place(t)
  const put = (path: string) => {
    mkdirSync(join(at.projectDir, path, '..'), { recursive: true })
    writeFileSync(join(at.projectDir, path), 'x')
  }
  for (const path of ['a', 'deep/b', 'gone', '.git/x', 'node_modules/x', '.ona/x', 'deep/node_modules/x']) put(path)
  symlinkSync('deep', join(at.projectDir, 'link'))
  const before = treeStamp(at.projectDir)
  assert.deepEqual([...before.keys()].sort(), ['a', 'deep/b', 'deep/node_modules/x', 'gone', 'link'])
  assert.deepEqual(changedSince(before, treeStamp(at.projectDir)), [])
  rmSync(join(at.projectDir, 'gone'))
  for (const path of ['new', '.git/y', 'deep/b']) put(path)
  assert.deepEqual(changedSince(before, treeStamp(at.projectDir)), ['deep/b', 'gone', 'new'])
  assert.equal(treeStamp(join(at.projectDir, 'none')).size, 0)
  const run = (script: string) =>
    runScript(script, {
      ...{ projectDir: at.root, db: at.db, conversationId: 'c', env: { ...at.env, REAL: at.projectDir } },
      wrap: async (words, { env }) => ({ words, env, unheld: at.projectDir }),
    })
  const changed = (names: string) => `the project itself changed while the case ran, and no sandbox held it: ${names}\n`
  const { stderr: few } = await run('cd "$REAL"; for n in 1 2 3 4 5; do echo > "n$n"; done')
  assert.equal(few, changed('n1, n2, n3, n4, n5'))
  const many = await run('cd "$REAL"; for n in 1 2 3 4 5 6 7; do echo > "m$n"; done; exit 4')
  assert.deepEqual([many.exitCode, many.stderr], [4, changed('m1, m2, m3, m4, m5 and 2 more')])
})

test('each case of a plan runs and is proved; one that is refused does not run, and says why', async (t) => {
  const at = place(t)
  const drafted = draftPlan(at.db, 'c', 's', '## Success criteria\n- greets\n') as { id: number }
  at.db.run("INSERT INTO sessions(session_id, conversation_id) VALUES ('s', 'c')")
  approvePlan(at.db, 'c', { planId: drafted.id, by: 'ada' })
  const plan = getPlan(at.db, drafted.id)!
  writeFileSync(join(at.projectDir, 'greet.sh'), 'if [ 1 = 1 ]; then echo "Hello, $1"; fi\n')
  writeFileSync(join(at.projectDir, 'unused.sh'), 'x=1\n')
  const add = (name: string, content: string, criterion: string | null = 'C1') =>
    saveCase(at.db, plan.id, { name, criterion, content })
  const sound = add('sound', 'set -e\n[ "$(sh "$PROJECT_DIR/greet.sh" Ada)" = "Hello, Ada" ] || exit 1\n')
  const hollow = add('hollow', 'echo changed > "$PROJECT_DIR/greet.sh"\nexit 0\n')
  const wrong = add('wrong', 'exit 1\n')
  const held = add('held', 'exit 0\n', null)
  const heard: [string, Run, Run | undefined][] = []
  const run = (more: object = {}) =>
    runCases(at.db, plan, {
      ...{ projectDir: at.projectDir, env: at.env },
      refused: async (each: Case) => (each.name === 'held' ? 'a rule denies it' : undefined),
      onCase: (each: Case, ran: Run) => void heard.push([each.name, ran, lastRun(at.db, each.id)]),
      ...more,
    })
  const runs = await run()
  assert.deepEqual(
    runs.map(({ durationMs, startedAt, ...rest }) => [Number.isInteger(durationMs), /^20.*Z$/.test(startedAt), rest]),
    [
      [sound, 0, ''],
      [hollow, 0, ''],
      [wrong, 1, ''],
      [held, null, 'not run: a rule denies it\n'],
    ].map((row) => {
      const [each, exitCode, stderr] = row as [Case, number | null, string]
      const about = { caseId: each.id, hash: each.hash, planHash: plan.hash }
      return [true, true, { ...about, exitCode, timedOut: false, stdout: '', stderr }]
    }),
  )
  assert.deepEqual(
    heard,
    [sound, hollow, wrong, held].map(({ name }, index) => [name, runs[index], runs[index]]),
    'each run is on record when it is reported',
  )
  const proofs = [sound, hollow, wrong, held].map((each) => proofOf(at.db, each))
  assert.deepEqual(
    proofs.map((proof) => proof && [proof.flaw, proof.mutants, proof.killed]),
    [
      [
        undefined,
        ['greet.sh:1 1 → 2', 'greet.sh:1 1 → 2', 'greet.sh:1 Hello,  → ~', 'greet.sh:1 1 → 2', 'unused.sh:1 1 → 2'],
        ['greet.sh:1 1 → 2', 'greet.sh:1 1 → 2', 'greet.sh:1 Hello,  → ~', 'greet.sh:1 1 → 2'],
      ],
      ['passes without the change', [], []],
      undefined,
      undefined,
    ],
  )
  assert.equal(
    readFileSync(join(at.projectDir, 'greet.sh'), 'utf8').startsWith('if'),
    true,
    'only the copy was changed',
  )
  const file = join(at.projectDir, `.ona/tests/${plan.id}/sound.sh`)
  assert.deepEqual([readFileSync(file, 'utf8'), statSync(file).mode & 0o777], [sound.content, 0o755])
  assert.deepEqual(readdirSync(at.temp), [])
  assert.deepEqual(await run({ signal: AbortSignal.abort() }), [])
  const refused = await run({ refused: async () => '' })
  assert.deepEqual(
    refused.map(({ exitCode, stderr }) => [exitCode, stderr]),
    Array(4).fill([null, 'not run: \n']),
    'a reason without words is a reason',
  )
})

test('a change of one file is proved; where nothing changed there is nothing to prove', async (t) => {
  const at = place(t)
  const drafted = draftPlan(at.db, 'c', 's', '## Success criteria\n- greets\n') as { id: number }
  const plan = getPlan(at.db, drafted.id)!
  const each = saveCase(at.db, plan.id, { name: 'one', criterion: 'C1', content: 'test -e "$PROJECT_DIR/a.txt"\n' })
  writeFileSync(join(at.projectDir, 'a.txt'), 'x')
  const proofAfter = async (approvedAt: string) => {
    await runCases(at.db, { ...plan, approvedAt }, { projectDir: at.projectDir, env: at.env })
    return proofOf(at.db, each)?.flaw
  }
  assert.equal(await proofAfter('2999-01-01 00:00:00'), undefined)
  assert.equal(proofOf(at.db, each), undefined)
  mkdirSync(join(at.projectDir, 'node_modules'))
  const told: (string | undefined)[] = []
  await runCases(
    at.db,
    { ...plan, approvedAt: '2999-01-01 00:00:00' },
    {
      ...{ projectDir: at.projectDir, env: at.env, sandboxed: async () => true },
      wrap: async (words, { packages, env }) => {
        told.push(packages)
        return { words: [...words], env }
      },
    },
  )
  assert.deepEqual(told, [join(at.projectDir, 'node_modules')], 'how it is started knows where the packages are')
  assert.equal(await proofAfter('2000-01-01 00:00:00'), 'passes without the change')
})

test('the copy has all of the project but its history, its packages and our folder', async (t) => {
  const at = place(t)
  const put = (path: string) => {
    mkdirSync(join(at.projectDir, path, '..'), { recursive: true })
    writeFileSync(join(at.projectDir, path), path)
  }
  for (const path of [
    'a',
    'deep/cli',
    'deep/.git/x',
    '.git/x',
    '.ona/x',
    'node_modules/dep/i',
    'node_modules/@s/p/i',
    'node_modules/.bin/run',
  ])
    put(path)
  symlinkSync('../deep', join(at.projectDir, 'node_modules/own'))
  symlinkSync('../../deep', join(at.projectDir, 'node_modules/@s/own'))
  symlinkSync('../own/cli', join(at.projectDir, 'node_modules/.bin/cli'))
  symlinkSync('a', join(at.projectDir, 'link'))
  utimesSync(join(at.projectDir, 'deep/cli'), 1_000_000, 1_000_000)
  assert.equal(spawnSync('mkfifo', [join(at.projectDir, 'pipe')]).status, 0)
  const copy = copyProject(at.projectDir, { texts: new Map([['a', 'other']]), sandboxed: true })
  assert.equal(statSync(join(copy.path, 'deep/cli')).mtimeMs, 1_000_000_000)
  copy.write('deep/cli', 'of the copy')
  const read = (path: string) => readFileSync(join(copy.path, path), 'utf8')
  assert.deepEqual(
    [readdirSync(copy.path).sort(), read('a'), read('link'), read('deep/.git/x'), read('node_modules/own/.git/x')],
    [['a', 'deep', 'link', 'node_modules'], 'other', 'other', 'deep/.git/x', 'deep/.git/x'],
  )
  assert.deepEqual(
    [
      read('node_modules/dep/i'),
      read('node_modules/@s/p/i'),
      read('node_modules/.bin/run'),
      read('node_modules/.bin/cli'),
      read('node_modules/@s/own/cli'),
    ],
    ['node_modules/dep/i', 'node_modules/@s/p/i', 'node_modules/.bin/run', 'of the copy', 'of the copy'],
  )
  assert.match(relative(at.temp, copy.path), /^ona-project-\w+\/project$/)
  copy.write('a', 'again')
  copy.write('none', 'x')
  assert.deepEqual([read('a'), existsSync(join(copy.path, 'none'))], ['again', false])
  copy.remove()
  assert.deepEqual(readdirSync(at.temp), [])
  copy.remove() // what ran in it may have removed it
  const [one, two] = [copyProject(at.projectDir), copyProject(at.projectDir)]
  assert.equal(one.packages, two.packages)
  const links = ['own', '@s/own', '.bin/cli'].map((name) => readlinkSync(join(one.path, 'node_modules', name)))
  assert.deepEqual(links, ['../deep', '../../deep', '../own/cli'], 'they lead to the code of the copy')
  put('node_modules/.package-lock.json')
  const three = copyProject(at.projectDir)
  assert.deepEqual(
    [three.packages === one.packages, existsSync(one.packages!)],
    [false, false],
    'packages that changed are copied again',
  )
  assert.equal(readFileSync(join(three.packages!, 'dep/i'), 'utf8'), 'node_modules/dep/i')
  rmSync(join(three.packages!, '..'), { recursive: true })
  put('node_modules/.package-lock.json')
  const four = copyProject(at.projectDir)
  assert.equal(readFileSync(join(four.packages!, 'dep/i'), 'utf8'), 'node_modules/dep/i')
  utimesSync(join(at.projectDir, 'node_modules'), 2_000_000, 2_000_000)
  assert.notEqual(copyProject(at.projectDir).packages, four.packages, 'a package was added or removed')
  const real = join(at.root, 'packages')
  renameSync(join(at.projectDir, 'node_modules'), real)
  symlinkSync(real, join(at.projectDir, 'node_modules'))
  assert.equal(copyProject(at.projectDir, { sandboxed: true }).packages, realpathSync(real))
  rmSync(join(at.projectDir, 'node_modules'), { recursive: true })
  const bare = copyProject(at.projectDir)
  writeFileSync(join(at.projectDir, 'node_modules'), 'a file')
  for (const copied of [bare, copyProject(at.projectDir)])
    assert.deepEqual([copied.packages, readdirSync(copied.path).sort()], [undefined, ['a', 'deep', 'link']])
})

test('links are copied as they are, wherever they lead', (t) => {
  const at = place(t)
  const links = { away: '/dev/null', broken: 'nowhere', circle: 'circle', up: '..' }
  for (const [name, to] of Object.entries(links)) symlinkSync(to, join(at.projectDir, name))
  const copy = copyProject(at.projectDir)
  const names = readdirSync(copy.path).sort()
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, readlinkSync(join(copy.path, name))])), links)
  copy.remove()
  assert.deepEqual(readdirSync(at.temp), [])
})

test('the folder of temporary files may be a link', (t) => {
  const at = place(t)
  symlinkSync(at.temp, join(at.root, 'link'))
  process.env['TMPDIR'] = join(at.root, 'link')
  writeFileSync(join(at.projectDir, 'a'), 'one')
  const copy = copyProject(at.projectDir, { texts: new Map([['a', 'two']]) })
  assert.equal(readFileSync(join(copy.path, 'a'), 'utf8'), 'two')
  copy.remove()
  assert.deepEqual(readdirSync(at.temp), [])
})

test('a secret that the process knows is neither in a case nor in what its run printed', (t) => {
  const { db } = place(t)
  const secret = 'only-in-a-case-7731'
  keepOut(secret)
  const drafted = draftPlan(db, 'c', 's', '## Success criteria\n- x\n')
  assert.ok(drafted.ok)
  const { id, hash } = saveCase(db, drafted.id, { name: 'n', criterion: null, content: `echo ${secret}` })
  saveRun(db, {
    ...{ caseId: id, hash: 'h', planHash: 'p', exitCode: 0, timedOut: false, durationMs: 1, startedAt: 'now' },
    ...{ stdout: `out ${secret}`, stderr: `err ${secret}` },
  })
  const { stdout, stderr } = lastRun(db, id)!
  assert.deepEqual(
    [casesOf(db, drafted.id).map(({ content }) => content), hash, stdout, stderr],
    [['echo [secret]'], hashOf('echo [secret]'), 'out [secret]', 'err [secret]'],
  )
})

test('the copy of installed packages is removed when the process ends', (t) => {
  const { projectDir, temp } = place(t)
  mkdirSync(join(projectDir, 'node_modules/a'), { recursive: true })
  writeFileSync(join(projectDir, 'node_modules/a/index.js'), '1')
  const program = `import { copyProject } from ${JSON.stringify(new URL('./project-copy.ts', import.meta.url).href)}
    import { readdirSync } from 'node:fs'
    const { packages, remove } = copyProject(${JSON.stringify(projectDir)})
    console.log(readdirSync(packages + '/a').join())
    remove()`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  assert.deepEqual([stdout, stderr, readdirSync(temp)], ['index.js\n', '', []])
})
