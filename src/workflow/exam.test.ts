/** What the writer of the cases is shown: the plan and the outside of the project, and nothing that implementing wrote. */
import assert from 'node:assert/strict'
import fs, { lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { addEvent } from '../store/audit.ts'
import { openDb } from '../store/open.ts'
import { getPlan, hashOf } from '../store/plans.ts'
import { publicContract } from './contract.ts'
import { buildExam } from './exam.ts'
import { implementationOf } from './implementation.ts'
import { approvePlan, draftPlan } from './planning.ts'

function place(t: TestContext, files: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), 'ona-exam-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const projectDir = join(root, 'project')
  mkdirSync(projectDir)
  const write = (file: string, text: string) => {
    mkdirSync(join(projectDir, file, '..'), { recursive: true })
    writeFileSync(join(projectDir, file), text)
  }
  for (const [file, text] of Object.entries(files)) write(file, text)
  const db = openDb(join(root, 'agent.db'))
  t.after(() => db.close())
  db.run("INSERT INTO conversations(id, project_dir, phase) VALUES ('c', ?, 'planning')", projectDir)
  db.run("INSERT INTO sessions(session_id, conversation_id) VALUES ('s', 'c')")
  return { root, projectDir, write, db }
}
const made = (files: Record<string, string>) => ({ files: new Map(Object.entries(files)), hash: 'h' })
const json = (value: unknown) => JSON.stringify(value, null, 2)
const quiet = async () => undefined

test('the contract is the declared commands with their help, the documents and the schemas', async (t) => {
  const bin = {
    greet: './bin/greet.mjs',
    hi: 'bin/greet.mjs',
    gone: 'bin/gone.mjs',
    out: '../x',
    odd: 1,
    folder: 'docs',
  }
  const manifest = {
    name: 'greet',
    version: '1.0.0',
    description: 'greets',
    bin,
    exports: './a.js',
    engines: { node: '1' },
  }
  const at = place(t, {
    'package.json': JSON.stringify({ ...manifest, scripts: { test: 'x' }, dependencies: {} }),
    'bin/greet.mjs': '//',
    'README.md': '# Greet',
    'docs/deep/a.md': 'a',
    'schemas/b.json': '{}',
    'x.schema.json': '{"x":1}',
    'openapi.json': '{"openapi":"3"}',
    'openapi.yaml': 'openapi: 3',
    'openapi.yml': 'openapi: 3.1',
    'schema.sql': '-- no table',
    'src/secret.md': 'not shown',
    '1': 'what a bin that is no text would be called',
  })
  at.write('../x', 'a file beside the project')
  symlinkSync(join(at.projectDir, 'src/secret.md'), join(at.projectDir, 'docs/link.md'))
  const asked: string[] = []
  const help = async (file: string) => {
    asked.push(file)
    return 'Usage: greet NAME'
  }
  assert.deepEqual(await publicContract(at.projectDir, made({}), help), {
    parts: [
      { name: 'package.json (name, bin, exports)', text: json(manifest) },
      { name: 'greet --help', text: 'Usage: greet NAME' },
      { name: 'hi --help', text: 'Usage: greet NAME' },
      { name: 'README.md', text: '# Greet' },
      { name: 'docs/deep/a.md', text: 'a' },
      { name: 'openapi.json', text: '{"openapi":"3"}' },
      { name: 'openapi.yaml', text: 'openapi: 3' },
      { name: 'openapi.yml', text: 'openapi: 3.1' },
      { name: 'schema.sql', text: '-- no table' },
      { name: 'schemas/b.json', text: '{}' },
      { name: 'x.schema.json', text: '{"x":1}' },
    ],
    entryPoints: ['bin/greet.mjs'],
    leftOut: [],
  })
  assert.deepEqual(asked, ['bin/greet.mjs', 'bin/greet.mjs'])
})

test('at most forty documents are shown', async (t) => {
  const at = place(t, Object.fromEntries(Array.from({ length: 45 }, (_, n) => [`docs/${n + 10}.md`, 'x'])))
  const { parts } = await publicContract(at.projectDir, made({}), quiet)
  assert.deepEqual([parts.length, parts.at(-1)!.name], [40, 'docs/49.md'])
})

test('a manifest of one command has the name of the package; one that cannot be read declares nothing', async (t) => {
  const at = place(t, { 'package.json': '{"name":"tool","bin":"tool.sh"}', 'tool.sh': 'x' })
  const names = async () => {
    const { parts, entryPoints } = await publicContract(at.projectDir, made({}), async () => 'help')
    return [entryPoints, parts.map(({ name }) => name)]
  }
  const head = 'package.json (name, bin, exports)'
  assert.deepEqual(await names(), [['tool.sh'], [head, 'tool --help']])
  at.write('package.json', '{"bin":"tool.sh"}')
  assert.deepEqual(await names(), [['tool.sh'], [head, 'command --help']])
  at.write('package.json', '{"name":"tool"}')
  assert.deepEqual(await names(), [[], [head]])
  for (const text of ['{', 'null', '"x"']) {
    at.write('package.json', text)
    assert.deepEqual(await names(), [[], [head]], text)
  }
  rmSync(join(at.projectDir, 'package.json'))
  assert.deepEqual(await names(), [[], []])
  at.write('package.json', '{"name":"tool","bin":"tool.sh"}')
  for (const printed of [undefined, '']) {
    const { parts, entryPoints } = await publicContract(at.projectDir, made({}), async () => printed)
    assert.deepEqual([entryPoints, parts.map(({ name }) => name)], [['tool.sh'], [head]], 'a command without help')
  }
})

test('what was written while implementing is left out by path and by content, and named', async (t) => {
  const code = 'export const greet = (name) => `Hello, ${name}!`\n'
  const long = 'word '.repeat(6000)
  const at = place(t, {
    'lib/a.mjs': `${code}// a comment\nshort_one_15chr\nfourteen_\nseven_7\n`,
    'README.md': 'written now',
    'docs/quotes.md': `Look:\n  \u001b[1m${code.trim()}\u001b[0m\nand so on\nto the end\n`,
    'docs/copy.md': code,
    'docs/in-line.md': `one\ntwo: ${code.trim()} three()\nfour\n`,
    'docs/encoded.md': `one\n${'QUJD'.repeat(20)}\ntwo\nthree\n`,
    'docs/short.md': 'one\nif (short_one_15chr) {\nseven_7\n',
    'docs/usage.md': '// a comment\nno code here\n',
    'docs/long.md': long,
  })
  const { parts, leftOut } = await publicContract(
    at.projectDir,
    made({ 'lib/a.mjs': 'x', 'README.md': 'x', 'gone.mjs': '' }),
    quiet,
  )
  assert.deepEqual(
    [parts, leftOut],
    [
      [
        { name: 'docs/encoded.md', text: 'one\ntwo\nthree\n' },
        { name: 'docs/in-line.md', text: 'one\nfour\n' },
        { name: 'docs/long.md', text: long.slice(0, 20_000) },
        { name: 'docs/quotes.md', text: 'Look:\nand so on\nto the end\n' },
        { name: 'docs/short.md', text: 'one\nif (short_one_15chr) {\nseven_7\n' },
        { name: 'docs/usage.md', text: '// a comment\nno code here\n' },
      ],
      [
        { name: 'README.md', why: 'it was written while implementing' },
        { name: 'docs/copy.md', why: 'it holds 1 line of the implementation' },
        { name: 'docs/encoded.md', why: 'it holds 1 line of the implementation' },
        { name: 'docs/in-line.md', why: 'it holds 1 line of the implementation' },
        { name: 'docs/quotes.md', why: 'it holds 1 line of the implementation' },
      ],
    ],
  )
})

const content = '# Plan\n\nUse `const shown = greet(process.argv)`.\n\n## Success criteria\n- prints Hello\n- exits 0\n'

test('the context is built from the plan and the contract, and what went in is on record by name and hash', async (t) => {
  const at = place(t, { 'package.json': '{"name":"greet","bin":"greet.mjs"}', 'README.md': 'Greets.' })
  const drafted = draftPlan(at.db, 'c', 's', content) as { id: number }
  assert.equal(approvePlan(at.db, 'c', { planId: drafted.id, by: 'ada' }).ok, true)
  at.db.run(
    "UPDATE events SET detail = json_set(detail, '$.at', ?) WHERE event_type = 'plan_approved'",
    Date.now() + 600_000,
  )
  at.write('greet.mjs', '  const shown = greet(process.argv)\n')
  const tool = (payload: object) =>
    at.db.run(
      "INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) VALUES ('s', (SELECT count(*) FROM transcript_entries), 'tool_use', ?)",
      JSON.stringify(payload),
    )
  for (const file of ['greet.mjs', 'gone.mjs']) tool({ name: 'Write', input: { file_path: join(at.projectDir, file) } })
  const plan = getPlan(at.db, drafted.id)!
  const exam = await buildExam(at.db, {
    ...{ conversationId: 'c', sessionId: 's', projectDir: at.projectDir, plan, wanted: ['C2'] },
    help: async () => 'Usage: greet',
  })
  const planText = content.replace('const shown = greet(process.argv)', '[left out: implementation]')
  t.assert.snapshot(exam.prompt)
  assert.ok(exam.prompt.includes(planText.trim()))
  assert.deepEqual(exam.criteria, [{ id: 'C2', text: 'exits 0' }])
  assert.deepEqual([exam.plan, exam.contract.entryPoints], [plan, ['greet.mjs']])
  const manifest = json({ name: 'greet', bin: 'greet.mjs' })
  assert.deepEqual(
    JSON.parse(
      at.db.get<{ detail: string }>(
        "SELECT detail FROM events WHERE event_type = 'test_generation_context' AND session_id = 's' AND conversation_id = 'c'",
      )!.detail,
    ),
    {
      inputs: [
        { name: `plan ${plan.id}`, hash: hashOf(planText) },
        { name: 'criterion C2', hash: hashOf('exits 0') },
        { name: 'package.json (name, bin, exports)', hash: hashOf(manifest) },
        { name: 'greet --help', hash: hashOf('Usage: greet') },
        { name: 'README.md', hash: hashOf('Greets.') },
      ],
      left_out: [],
      implementation: ['gone.mjs', 'greet.mjs'],
    },
  )
})

test('of the plan, lines of the implementation are left out from 24 characters; parts of the contract are trimmed', async (t) => {
  const [short, long] = ['x'.repeat(23), 'y'.repeat(24)]
  const at = place(t, { 'README.md': '\n\nGreets.\n\n', 'docs/a.md': `See\n${long};\nthere\n` })
  const drafted = draftPlan(
    at.db,
    'c',
    's',
    `Use ${short} and ${long}, then ${long}.\n\n## Success criteria\n- one\n`,
  ) as {
    id: number
  }
  approvePlan(at.db, 'c', { planId: drafted.id, by: 'ada' })
  const approve = (when: number) =>
    at.db.run("UPDATE events SET detail = json_set(detail, '$.at', ?) WHERE event_type = 'plan_approved'", when)
  at.write('a.mjs', `${short}\n  ${long}\n`)
  const changedAt = Number(lstatSync(join(at.projectDir, 'a.mjs'), { bigint: true }).ctimeNs / 1_000_000n)
  approve(changedAt)
  utimesSync(join(at.projectDir, 'README.md'), 1, 1)
  const plan = getPlan(at.db, drafted.id)!
  const found = implementationOf(at.db, 'c', at.projectDir, plan).files
  assert.equal(found.has('a.mjs'), true, 'in the millisecond of the approval')
  approve(changedAt + 1)
  assert.equal(implementationOf(at.db, 'c', at.projectDir, plan).files.has('a.mjs'), false)
  at.db.run(
    "INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) VALUES ('s', 1, 'tool_use', ?)",
    JSON.stringify({ name: 'Write', input: { file_path: 'a.mjs' } }),
  )
  approve(Date.now() + 600_000)
  const request = { conversationId: 'c', sessionId: 's', projectDir: at.projectDir, plan, wanted: ['C1'], help: quiet }
  const { prompt } = await buildExam(at.db, request)
  const gap = '[left out: implementation]'
  assert.ok(prompt.includes(`\nUse ${short} and ${gap}, then ${gap}.\n`), prompt)
  assert.match(
    prompt,
    /\n## README\.md\n```\nGreets\.\n```\n## docs\/a\.md\n```\nSee\nthere\n```\n\n# How a case looks\n/,
  )
  assert.deepEqual(
    at.db
      .all<{ detail: string }>("SELECT detail FROM events WHERE event_type = 'test_generation_context'")
      .map(({ detail }) => JSON.parse(detail).left_out),
    [[{ name: 'docs/a.md', why: 'it holds 1 line of the implementation' }]],
  )
})

test('after 200000 files no further folder is read', (t) => {
  const at = place(t, { 'deep/a.txt': 'a' })
  const { id } = draftPlan(at.db, 'c', 's', content) as { id: number }
  const plan = getPlan(at.db, id)!
  const { readdirSync, lstatSync: stat } = fs
  const restore = () => {
    Object.assign(fs, { readdirSync, lstatSync: stat })
    syncBuiltinESMExports()
  }
  t.after(restore)
  const listed: string[] = []
  Object.assign(fs, {
    readdirSync: (folder: string) => {
      listed.push(folder.slice(at.projectDir.length))
      return folder === at.projectDir ? [...Array<string>(199_999).fill('none'), 'deep'] : []
    },
    lstatSync: (path: string) => (path.endsWith('deep') ? stat(path, { bigint: true }) : undefined),
  })
  syncBuiltinESMExports()
  implementationOf(at.db, 'c', at.projectDir, plan)
  assert.deepEqual(listed, [''])
})

test('the implementation is what changed since the approval and what the record says was written', async (t) => {
  const at = place(t, { 'old.txt': 'old', 'new.txt': 'new', 'deep/a/b.txt': 'b', 'deep/empty.txt': '' })
  for (const folder of ['.git', 'node_modules', '.ona', 'deep/node_modules']) at.write(`${folder}/x`, 'x')
  const drafted = draftPlan(at.db, 'c', 's', content) as { id: number }
  approvePlan(at.db, 'c', { planId: drafted.id, by: 'ada' })
  const plan = getPlan(at.db, drafted.id)!
  const files = (since: number | null, more: Partial<typeof plan> = {}) => {
    at.db.run("UPDATE events SET detail = json_set(detail, '$.at', ?) WHERE event_type = 'plan_approved'", since)
    return [...implementationOf(at.db, 'c', at.projectDir, { ...plan, ...more }).files]
  }
  const [old, now, b] = ['old', 'new', 'b'].map(hashOf)
  const all = [
    ['deep/a/b.txt', b],
    ['deep/empty.txt', hashOf('')],
    ['new.txt', now],
    ['old.txt', old],
  ]
  const later = Date.now() + 600_000
  assert.deepEqual([files(0), files(later)], [all, []])
  utimesSync(join(at.projectDir, 'new.txt'), 1, 1)
  assert.deepEqual(files(Date.now() - 600_000), all, 'whatever time a program has set')
  assert.deepEqual(files(later), [])
  for (const [type, id, when] of [
    ['plan_approved', plan.id, 0],
    ['plan_approved', plan.id + 1, later],
    ['sign_off', plan.id, later],
  ] as const)
    addEvent(at.db, { conversationId: 'c', sessionId: 'later', type, detail: { plan: id, at: when } })
  assert.deepEqual([...implementationOf(at.db, 'c', at.projectDir, plan).files], all, 'the last approval of this plan')
  at.db.run("DELETE FROM events WHERE session_id = 'later'")
  assert.deepEqual(files(null, { approvedAt: '2000-01-01 00:00:00' }), all, 'by the second that the row has')
  assert.deepEqual(files(null, { approvedAt: '2999-01-01 00:00:00' }), [])
  assert.deepEqual(files(null, { approvedAt: null }), all)
  const zone = process.env['TZ']
  process.env['TZ'] = 'Etc/GMT-14'
  t.after(() => {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  })
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString().slice(0, 19).replace('T', ' ')
  assert.deepEqual(files(null, { approvedAt: inAnHour }), [], 'which is UTC, wherever we are')
  at.db.run("UPDATE events SET detail = '{' WHERE event_type = 'plan_approved'")
  assert.deepEqual(
    [...implementationOf(at.db, 'c', at.projectDir, { ...plan, approvedAt: '2999-01-01 00:00:00' }).files],
    [],
  )
  utimesSync(join(at.projectDir, 'old.txt'), 1, 1)
  const add = (sequence: number, type: string, payload: object, session = 's') =>
    at.db.run(
      'INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) VALUES (?, ?, ?, ?)',
      ...[session, sequence, type, JSON.stringify(payload)],
    )
  at.db.run("INSERT INTO conversations(id, project_dir, phase) VALUES ('d', '/p', 'idle')")
  at.db.run("INSERT INTO sessions(session_id, conversation_id) VALUES ('z', 'd')")
  add(1, 'file_history_snapshot', { snapshot: { path: join(at.projectDir, 'new.txt') } })
  add(2, 'tool_use', { name: 'Edit', input: { file_path: 'gone.txt' } })
  add(3, 'tool_use', { name: 'NotebookEdit', input: { notebook_path: 'n.ipynb' } })
  add(4, 'tool_use', { name: 'Read', input: { file_path: 'old.txt' } })
  add(5, 'tool_use', { name: 'Write', input: { file_path: '/elsewhere/x' } })
  add(6, 'tool_use', { name: 'Write', input: { file_path: '.ona/tests/1/a.sh' } })
  const written = { name: 'Write', input: { file_path: 'w.txt' } }
  const edited = { name: 'Edit', input: { file_path: 'e.txt' } }
  const notebook = { name: 'NotebookEdit', input: { notebook_path: 'm.ipynb' } }
  const read = { name: 'Read', input: { file_path: 'old.txt' } }
  add(7, 'assistant', { content: [written, edited, notebook, read, { name: 'Write' }] })
  add(10, 'user', { content: [{ name: 'Write', input: { file_path: 'said.txt' } }] })
  add(11, 'tool_use', { name: 'Write', input: { file_path: 'a..b.txt' } })
  add(8, 'tool_use', { name: 'Write', input: { file_path: 'deep/a/b.txt' } }, 'z')
  add(9, 'assistant', { content: [{ name: 'Write', input: { file_path: 'theirs.txt' } }] }, 'z')
  const { files: found, hash } = implementationOf(at.db, 'c', at.projectDir, {
    ...plan,
    approvedAt: '2999-01-01 00:00:00',
  })
  const elsewhere = implementationOf(at.db, 'd', join(at.root, 'none'), { ...plan, approvedAt: null })
  assert.deepEqual(
    [...elsewhere.files],
    [
      ['deep/a/b.txt', ''],
      ['theirs.txt', ''],
    ],
    'a project that is gone',
  )
  const expected = [
    ['a..b.txt', ''],
    ['e.txt', ''],
    ['gone.txt', ''],
    ['m.ipynb', ''],
    ['n.ipynb', ''],
    ['new.txt', now],
    ['w.txt', ''],
  ]
  assert.deepEqual([[...found], hash], [expected, hashOf(JSON.stringify(expected))])
})
