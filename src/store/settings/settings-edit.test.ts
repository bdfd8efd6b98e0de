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
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
    [await into('env', 'A'), await into('permissions', 'allow', 'x')],
    [first('env'), first('permissions.allow')],
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
