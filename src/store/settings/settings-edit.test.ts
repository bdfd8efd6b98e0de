import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { updateFile, writeAtomic } from '../../files/atomic-write.ts'
import { type Edit, editSettings, persistPermissionUpdates, previewSettings } from './settings-edit.ts'

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'ona-edit-'))
  t.after(() => rmSync(path, { recursive: true }))
  return path
}

const commented = `{
    // how we work here
    "permissions": {
        "allow": [
            "Read", // always
            "Bash(npm test)"
        ]
    },
    "model": "opus" /* big */
}
`

test('an edit keeps comments, order and indentation', async (t) => {
  const file = join(folder(t), 'settings.json')
  writeFileSync(file, commented)
  const edits: Edit[] = [
    { path: ['permissions', 'allow'], add: ['Glob', 'Read'] },
    { path: ['permissions', 'deny'], add: ['Write'] },
    { path: ['permissions', 'allow'], remove: ['Bash(npm test)'] },
    { path: ['model'], value: 'haiku' },
  ]
  assert.deepEqual(await editSettings(file, edits), { ok: true, file, changed: true })
  assert.equal(
    readFileSync(file, 'utf8'),
    `{
    // how we work here
    "permissions": {
        "allow": [
            "Read", // always
            "Glob"
        ],
        "deny": [
            "Write"
        ]
    },
    "model": "haiku" /* big */
}
`,
  )
  assert.deepEqual(await editSettings(file, edits), { ok: true, file, changed: false })
})

test('a file that is not JSON is left alone', async (t) => {
  const file = join(folder(t), 'settings.json')
  writeFileSync(file, '{"a": ')
  const edited = await editSettings(file, [{ path: ['model'], value: 'x' }])
  assert.deepEqual([edited.ok, readFileSync(file, 'utf8')], [false, '{"a": '])
  writeFileSync(file, '{"permissions": {"allow": 7}, "env": []}')
  const into = (...path: string[]) => editSettings(file, [{ path, add: ['x'] }])
  const first = (what: string) => ({ ok: false, file, why: `${what} must be an object; put that right first` })
  assert.deepEqual(
    [await into('env', 'A'), await into('env', 'A', 'b'), await into('permissions', 'allow', 'x')],
    [first('env'), first('env'), first('permissions.allow')],
  )
  assert.equal(readFileSync(file, 'utf8'), '{"permissions": {"allow": 7}, "env": []}')
})

test('local settings that we create are ignored by git; a file that is there is not our concern', async (t) => {
  const at = (...names: string[]) => join(folder(t), '.ona', ...names)
  const ignored = async (file: string, edits: readonly Edit[]) => {
    await editSettings(file, edits)
    const ignore = join(file, '..', '.gitignore')
    return existsSync(ignore) ? readFileSync(ignore, 'utf8') : undefined
  }
  const edits: Edit[] = [{ path: ['model'], value: 'x' }]
  const there = at('settings.local.json')
  mkdirSync(join(there, '..'))
  writeFileSync(there, '{}')
  assert.deepEqual(
    [
      await ignored(at('settings.local.json'), edits),
      await ignored(at('settings.json'), edits),
      await ignored(there, edits),
    ],
    ['settings.local.json\n', undefined, undefined],
  )
})

test('what an edit would write is shown without writing it', async (t) => {
  const file = join(folder(t), 'settings.json')
  const edits: Edit[] = [{ path: ['model'], value: 'x' }]
  assert.deepEqual(await previewSettings(file, edits), { before: '{}\n', text: '{\n  "model": "x"\n}\n' })
  assert.equal(existsSync(file), false)
  writeFileSync(file, '[')
  const { before, ...refused } = await previewSettings(file, edits)
  assert.deepEqual(
    [before, 'why' in refused && /^is not JSON: .*; put that right first$/.test(refused.why)],
    ['[', true],
  )
})

test('an answer "always" stores exactly its own rules where they belong', async (t) => {
  const place = folder(t)
  const places = { cwd: place, home: join(place, 'home'), env: {} }
  const ruleText = ({ toolName, ruleContent }: { toolName: string; ruleContent?: string }) =>
    ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`
  const rules = [{ toolName: 'Bash', ruleContent: 'npm test' }]
  const edited = await persistPermissionUpdates(
    [
      { type: 'addRules', rules, behavior: 'allow', destination: 'localSettings' },
      { type: 'addDirectories', directories: ['/data'], destination: 'localSettings' },
      { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
      { type: 'replaceRules', rules: [{ toolName: 'Write' }], behavior: 'deny', destination: 'userSettings' },
    ],
    places,
    ruleText,
  )
  const local = join(place, '.ona', 'settings.local.json')
  const user = join(place, 'home', '.ona', 'settings.json')
  assert.deepEqual(edited, [
    { ok: true, file: local, changed: true },
    { ok: true, file: user, changed: true },
  ])
  assert.deepEqual(JSON.parse(readFileSync(local, 'utf8')), {
    permissions: { allow: ['Bash(npm test)'], additionalDirectories: ['/data'] },
  })
  assert.deepEqual(JSON.parse(readFileSync(user, 'utf8')), { permissions: { deny: ['Write'] } })
  assert.equal(readFileSync(join(place, '.ona', '.gitignore'), 'utf8'), 'settings.local.json\n')
  await persistPermissionUpdates(
    [{ type: 'removeRules', rules, behavior: 'allow', destination: 'localSettings' }],
    places,
    ruleText,
  )
  assert.deepEqual(JSON.parse(readFileSync(local, 'utf8')).permissions.allow, [])
})

test("Claude Code's file is never written: ours takes over what it says", async (t) => {
  const place = folder(t)
  mkdirSync(join(place, '.claude'))
  const theirs = join(place, '.claude', 'settings.local.json')
  writeFileSync(theirs, '{"permissions":{"deny":["Bash"]}}')
  await persistPermissionUpdates(
    [{ type: 'addRules', rules: [{ toolName: 'Write' }], behavior: 'allow', destination: 'localSettings' }],
    { cwd: place, home: join(place, 'home'), env: {} },
    ({ toolName }) => toolName,
  )
  assert.equal(readFileSync(theirs, 'utf8'), '{"permissions":{"deny":["Bash"]}}')
  assert.deepEqual(JSON.parse(readFileSync(join(place, '.ona', 'settings.local.json'), 'utf8')), {
    permissions: { deny: ['Bash'], allow: ['Write'] },
  })
})

test('a written file keeps its mode and its link, and nothing lies beside it', (t) => {
  const place = folder(t)
  const file = join(place, 'a')
  writeFileSync(file, 'old')
  chmodSync(file, 0o751)
  const link = join(place, 'link')
  symlinkSync(file, link)
  writeAtomic(link, 'new')
  assert.deepEqual([readFileSync(file, 'utf8'), statSync(file).mode & 0o777, readlinkSync(link)], ['new', 0o751, file])
  writeAtomic(join(place, 'fresh'), Buffer.from([0, 255]))
  assert.deepEqual([...readFileSync(join(place, 'fresh'))], [0, 255])
  assert.deepEqual(readdirSync(place).sort(), ['a', 'fresh', 'link'])
  mkdirSync(join(place, 'folder'))
  assert.throws(() => writeAtomic(join(place, 'folder'), 'x'))
  assert.deepEqual(readdirSync(place).sort(), ['a', 'folder', 'fresh', 'link'])
})

test('processes that change one file at once lose nothing; a killed one holds nobody up', async (t) => {
  const file = join(folder(t), 'count')
  writeFileSync(`${file}.lock`, '999999999') // left by a process that is gone
  const program = `import { updateFile } from ${JSON.stringify(join(import.meta.dirname, '../../files/atomic-write.ts'))}
    for (let i = 0; i < 25; i++) updateFile(process.argv[1], (text = '0') => String(Number(text) + 1))`
  const runs = [1, 2, 3].map(() =>
    spawn(process.execPath, ['--input-type=module-typescript', '-e', program, file], { stdio: 'inherit' }),
  )
  await Promise.all(runs.map((child) => new Promise((done) => child.on('exit', done))))
  assert.equal(readFileSync(file, 'utf8'), '75')
  assert.equal(existsSync(`${file}.lock`), false)
  assert.equal(
    updateFile(file, () => undefined),
    false,
  )
})

/** A home of this test's own. */
function home(t: TestContext): string {
  const before = { HOME: process.env['HOME'], CLAUDE_CONFIG_DIR: process.env['CLAUDE_CONFIG_DIR'] }
  t.after(() => {
    for (const [name, value] of Object.entries(before))
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  })
  delete process.env['CLAUDE_CONFIG_DIR']
  const path = folder(t)
  process.env['HOME'] = path
  return path
}
const model: Edit[] = [{ path: ['model'], value: 'x' }]

test('who may read a file that is made: all of a project, the user alone of what is their own', async (t) => {
  const [own, project] = [home(t), folder(t)]
  const mode = async (...names: string[]) => {
    const file = join(...(names as [string]))
    assert.deepEqual(await editSettings(file, model), { ok: true, file, changed: true })
    return (statSync(file).mode & 0o777).toString(8)
  }
  assert.deepEqual(
    [
      await mode(own, '.ona', 'settings.json'),
      await mode(project, '.ona', 'settings.json'),
      await mode(project, '.ona', 'settings.local.json'),
    ],
    ['600', '644', '600'],
  )
})

test("what Claude Code's file of the same level says is taken over, also from CLAUDE_CONFIG_DIR for the user", async (t) => {
  const [own, project, elsewhere] = [home(t), folder(t), folder(t)]
  const theirs = (at: string) => {
    mkdirSync(at, { recursive: true })
    writeFileSync(join(at, 'settings.json'), JSON.stringify({ from: at }))
  }
  for (const at of [join(own, '.claude'), join(project, '.claude'), elsewhere]) theirs(at)
  const from = async (...names: string[]) => {
    const file = join(...(names as [string]))
    const { before } = await previewSettings(file, model)
    await editSettings(file, model)
    const { from, model: set } = JSON.parse(readFileSync(file, 'utf8'))
    rmSync(file)
    return [JSON.parse(before).from, from, set]
  }
  const user = () => from(own, '.ona', 'settings.json')
  assert.deepEqual(await user(), [join(own, '.claude'), join(own, '.claude'), 'x'])
  process.env['CLAUDE_CONFIG_DIR'] = elsewhere
  assert.deepEqual(await user(), [elsewhere, elsewhere, 'x'])
  assert.deepEqual(await from(project, '.ona', 'settings.json'), [
    join(project, '.claude'),
    join(project, '.claude'),
    'x',
  ])
  assert.deepEqual(
    await from(project, 'other', 'settings.json'),
    [undefined, undefined, 'x'],
    'only where .ona is written',
  )
})

test('a link that leads out of a project is not written through, one of the home folder is the user’s own', async (t) => {
  const [own, project, elsewhere] = [home(t), folder(t), folder(t)]
  for (const at of [own, project]) symlinkSync(elsewhere, join(at, '.ona'))
  const edited = async (at: string) => {
    const file = join(at, '.ona', 'settings.json')
    const { file: _, ...outcome } = await editSettings(file, model)
    return outcome
  }
  assert.deepEqual(await edited(project), {
    ok: false,
    why: 'is a link that leads out of the folder; make it a file of its own',
  })
  assert.equal(existsSync(join(elsewhere, 'settings.json')), false)
  assert.deepEqual(await edited(own), { ok: true, changed: true })
  const beside = join(project, 'settings.json')
  symlinkSync(join(elsewhere, 'settings.json'), beside)
  assert.equal((await editSettings(beside, model)).ok, false)
})

test("an agent's command cannot change settings", async (t) => {
  const file = join(folder(t), '.ona', 'settings.json')
  t.after(() => delete process.env['ONA_GOVERNED'])
  process.env['ONA_GOVERNED'] = 'x'
  assert.deepEqual(await editSettings(file, model), {
    ...{ ok: false, file },
    why: "is left as it is: changing settings is for the operator, and this command was started by an agent's tool or hook (ONA_GOVERNED is set); run it in a terminal of your own",
  })
  const held = async (place: { home: string; folder: string }) => {
    process.env['ONA_GOVERNED'] = JSON.stringify({ db: '/none/agent.db', ...place })
    return !(await editSettings(file, model)).ok
  }
  const [own, other] = [dirname(dirname(file)), '/none']
  assert.deepEqual(
    [
      await held({ home: homedir(), folder: other }),
      await held({ home: other, folder: own }),
      existsSync(dirname(file)),
    ],
    [true, true, false],
    'by the home or by the folder',
  )
  assert.deepEqual([await held({ home: other, folder: other }), existsSync(file)], [false, true])
})

test('what an edit makes of a file', async (t) => {
  const file = join(folder(t), 'settings.json')
  const after = async (before: object | string, ...edits: Edit[]) => {
    writeFileSync(file, typeof before === 'string' ? before : JSON.stringify(before))
    const edited = await editSettings(file, edits)
    return edited.ok ? [edited.changed, JSON.parse(readFileSync(file, 'utf8'))] : edited.why
  }
  const list = { path: ['a', 'b'] }
  assert.deepEqual(
    [
      await after('', { path: ['x'], value: 1 }),
      await after(' \n', { path: ['x'], value: 1 }),
      await after({ x: { y: 1 } }, { path: ['x'], value: { y: 1 } }),
      await after({ x: 1, y: 2 }, { path: ['x'], value: undefined }),
      await after({ y: 2 }, { path: ['x'], value: undefined }),
      await after({}, { path: ['toString'], value: 't' }),
      await after({}, { path: ['toString', 'x'], value: 't' }),
      await after({}, { ...list, add: [1, 2, 1, 2] }),
      await after({ a: { b: [1] } }, { ...list, add: [1, 2, { c: 3 }, { c: 3 }] }),
      await after({ a: { b: [1] } }, { ...list, add: [1] }),
      await after({ a: { b: [] } }, { ...list, add: [] }),
      await after({ a: { b: 'x' } }, { ...list, add: [1] }),
      await after({ a: { b: [1, 2, 1, { c: 3 }] } }, { ...list, remove: [1, { c: 3 }] }),
      await after({ a: { b: [1] } }, { ...list, remove: [2] }),
      await after({ a: { b: 'x' } }, { ...list, remove: ['x'] }),
      await after({}, { ...list, remove: ['x'] }),
      await after({}, { path: ['x'], value: 1 }, { path: ['x', 'y'], value: 1 }),
      await after({ a: null }, { ...list, add: [1] }),
    ],
    [
      [true, { x: 1 }],
      [true, { x: 1 }],
      [false, { x: { y: 1 } }],
      [true, { y: 2 }],
      [false, { y: 2 }],
      [true, { toString: 't' }],
      [true, { toString: { x: 't' } }],
      [true, { a: { b: [1, 2] } }],
      [true, { a: { b: [1, 2, { c: 3 }] } }],
      [false, { a: { b: [1] } }],
      [false, { a: { b: [] } }],
      [true, { a: { b: [1] } }],
      [true, { a: { b: [2] } }],
      [false, { a: { b: [1] } }],
      [false, { a: { b: 'x' } }],
      [false, {}],
      'x must be an object; put that right first',
      'a must be an object; put that right first',
    ],
  )
})

test('every update for a file is stored there, and those for the session in none', async (t) => {
  const place = folder(t)
  const places = { cwd: place, home: join(place, 'home'), env: {} }
  const rules = [{ toolName: 'Write' }]
  const edited = await persistPermissionUpdates(
    [
      { type: 'addRules', rules, behavior: 'ask', destination: 'projectSettings' },
      { type: 'setMode', mode: 'plan', destination: 'projectSettings' },
      { type: 'addDirectories', directories: ['/a', '/b'], destination: 'projectSettings' },
      { type: 'removeDirectories', directories: ['/a'], destination: 'projectSettings' },
      { type: 'addRules', rules, behavior: 'deny', destination: 'session' },
      { type: 'addRules', rules, behavior: 'deny', destination: 'cliArg' },
    ],
    places,
    ({ toolName }) => toolName,
  )
  const file = join(place, '.ona', 'settings.json')
  assert.deepEqual(edited, [{ ok: true, file, changed: true }])
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), {
    permissions: { ask: ['Write'], defaultMode: 'plan', additionalDirectories: ['/b'] },
  })
  assert.deepEqual(readdirSync(place), ['.ona'])
})

test('git ignores local settings where we make the file and nothing says what it ignores', async (t) => {
  const ignored = async (folderName: string, name: string, before?: string) => {
    const at = join(folder(t), folderName)
    mkdirSync(at)
    const ignore = join(at, '.gitignore')
    if (before !== undefined) writeFileSync(ignore, before)
    await editSettings(join(at, name), model)
    return existsSync(ignore) ? readFileSync(ignore, 'utf8') : undefined
  }
  assert.deepEqual(
    [
      await ignored('.ona', 'settings.local.json'),
      await ignored('.ona', 'settings.local.json', 'mine\n'),
      await ignored('other', 'settings.local.json'),
      await ignored('.ona', 'settings.json'),
    ],
    ['settings.local.json\n', 'mine\n', undefined, undefined],
  )
})
