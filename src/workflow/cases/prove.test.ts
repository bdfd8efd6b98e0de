/** Cases that cannot fail, by an attacker: what the checker lets through is decided by what the case does. */
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sampled } from '../../../test/support/campaign-size.ts'
import { openDb } from '../../store/open.ts'
import { caseProblems } from './check-case.ts'
import { copyProject } from './project-copy.ts'
import type { Flaw } from './proofs.ts'
import { changeOf, flawOf } from './prove.ts'

const program = 'console.log(`Hello, ${process.argv[2] ?? "world"}!`)\n'

function project(t: TestContext, files: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), 'ona-prove-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const projectDir = join(root, 'project')
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(projectDir, file, '..'), { recursive: true })
    writeFileSync(join(projectDir, file), text, { mode: 0o755 })
  }
  const db = openDb(join(root, 'agent.db'))
  t.after(() => db.close())
  const change = changeOf({ files: new Map(Object.keys(files).map((file) => [file, 'x'])), hash: 'h' }, projectDir)
  const place = { projectDir, db, conversationId: 'c', env: process.env }
  const context = { projectDir, criteria: ['C1'], implementation: Object.keys(files), entryPoints: Object.keys(files) }
  return {
    projectDir,
    problems: (content: string) => caseProblems({ criterion: 'C1', content }, context),
    flaw: (script: string) => flawOf(script, change, place),
  }
}

const greet = '"$PROJECT_DIR/bin/greet.mjs"'
const run = `set -e\nnode ${greet} Ada > out\n`
const found: readonly (readonly [Flaw, string])[] = [
  ['passes without the change', `${run}x=$(cat out); y=$x; [ "$x" = "$y" ] || exit 1\n`],
  ['passes without the change', `${run}if [ -z x ]; then grep -q Hello out || exit 1; fi\n`],
  ['passes without the change', `${run}cat <<'END' > /dev/null\ngrep -q Hello out || exit 1\nEND\ntest -f out\n`],
  ['passes without the change', `${run}finish() { exit 0; }\ntrap finish EXIT\ngrep -q Hello out\n`],
  ['passes without the change', `${run}(grep -q Hello out || exit 1) || echo ok > ok\n`],
  ['passes without the change', `${run}(grep -q Hello out || exit 1) &\nwait\n`],
  ['passes without the change', `${run}check='true || exit 1'; eval "$check"; [ -e out ]\n`],
  ['passes without the change', `${run}cp out expected; diff out expected || exit 1\n`],
  ['passes without the change', `${run}echo 'Hello, Ada!' > said; grep -q 'Hello, Ada!' said || exit 1\n`],
  ['passes without the change', `${run}expected=$(node ${greet} Ada)\n[ "$(cat out)" = "$expected" ] || exit 1\n`],
  [
    'passes without the change',
    `set -e\ncd "$PROJECT_DIR"\necho 'console.log("Hello")' > bin/greet.mjs || :\ntest -f bin/greet.mjs\n`,
  ],
  ['passes without the change', `${run}exec /bin/sh -c 'exit 0'\ngrep -q Hello out || exit 1\n`],
  ['passes without the change', `${run}while :; do break; grep -q Hello out || exit 1; done\n`],
  ['passes without the change', `${run}! grep -q ERROR out || exit 1\n`],
  ['passes without the change', `${run}bash -c 'grep -q Hello out; exit 0' || exit 1\n`],
  ['passes without the change', `${run}sleep 0.01\n[ -e out ] || exit 1\n`],
  ['passes without the change', `set -e\nnode -e 'process.exitCode = 1; process.on("exit", () => process.exit(0))'\n`],
  ['passes without the change', `set -e\npython3 -c 'try:\n  assert False\nexcept AssertionError: pass'\n`],
  ['reads the source', `${run}[ -s ${greet} ] || exit 1\n`],
  ['reads the source', `set -e\ncd "$PROJECT_DIR/bin"\n[ -s greet.mjs ] || exit 1\n`],
  ['reads the source', `${run}grep -rq Hello "$PROJECT_DIR" || exit 1\n`],
  ['reads the source', `set -e\nf=$PROJECT_DIR/bin/gre; f=\${f}et.mjs\ngrep -q Hello "$f" || exit 1\n`],
  ['reads the source', `set -e\n[ "$(stat -c %s "$PROJECT_DIR"/bin/greet.*)" -gt 0 ] || exit 1\n`],
  ['reads the source', `set -e\nn=$(cat "$PROJECT_DIR"/b*/g*.mjs | wc -c)\n[ "$n" -gt 3 ] || exit 1\n`],
  [
    'reads the source',
    `set -e\npython3 -c 'import os; assert "Hello" in open(os.environ["PROJECT_DIR"] + "/bin/greet" + ".mjs").read()'\n`,
  ],
  // with the comments taken out, so that a program that is only commented out looks like none
  ['reads the source', `set -e\ncd "$PROJECT_DIR/bin"\ngrep -v '^//' g*.mjs | grep -q Hello || exit 1\n`],
  ['reads the source', `set -e\nbase64 "$PROJECT_DIR"/b*/g* | base64 -d | sed 's:^//.*::' | grep -q Hello || exit 1\n`],
  [
    'reads the source',
    `set -e\ncp -r "$PROJECT_DIR" p\ntar c p | grep -a -v '^//' | grep -aq 'Hello, \\$' || exit 1\n`,
  ],
  [
    'reads the source',
    `set -e\nnode -e 'const text = require("fs").readFileSync(process.env.PROJECT_DIR + "/bin/greet" + ".mjs", "utf8"); if (!text.replace(/^\\/\\/.*/gm, "").includes("Hello")) process.exit(1)'\n`,
  ],
  ['not the same twice', `${run}grep -q Hello out\n[ "$(cat "$PROJECT_DIR"/bin/g*.mjs | wc -l)" -eq 1 ] || exit 1\n`],
  ['kills no mutant', `${run}[ -s out ] || exit 1\n`],
  [
    'kills no mutant',
    `${run}expected=$(node ${greet} Ada)\n[ -n "$expected" ]\n[ "$(cat out)" = "$expected" ] || exit 1\n`,
  ],
]

test('a case that cannot fail, or looks at the text of the program, is found out by what it does', async (t) => {
  const at = project(t, { 'bin/greet.mjs': program })
  const seen: (readonly [Flaw | 'refused' | undefined, string])[] = []
  // the kinds of the last three have few cases
  const tried = [...sampled(found.slice(0, -3), 4), ...found.slice(-3)]
  for (const [, script] of tried)
    seen.push([at.problems(script).length > 0 ? 'refused' : await at.flaw(script), script])
  assert.deepEqual(seen, tried)
})

test('a program in another language that is read is found out too', async (t) => {
  const shell = project(t, { 'bin/greet.sh': '#!/bin/sh\nname=${1:-world}\necho "Hello, $name!"\n' })
  const python = project(t, { 'greet.py': 'import sys\nprint(f"Hello, {sys.argv[1]}!")\n' })
  const seen = [
    await shell.flaw(`set -e\ngrep -v '^#' "$PROJECT_DIR"/b*/g* | grep -q Hello || exit 1\n`),
    await python.flaw(`set -e\ngrep -v '^#' "$PROJECT_DIR"/g*.py | grep -q Hello || exit 1\n`),
  ]
  assert.deepEqual(seen, ['reads the source', 'reads the source'])
})

test('an honest case stands, for programs in several languages, and so does one that fails on the program as it is', async (t) => {
  const programs: Record<string, string> = {
    'bin/greet.mjs': program,
    'bin/greet.py': `import sys\nname = sys.argv[1] if len(sys.argv) > 1 else 'world'\nprint(f"Hello, {name}!")\n`,
    'bin/greet.sh': '#!/bin/sh\necho "Hello, ${1:-world}!"\n',
    'bin/greet-node': `#!/usr/bin/env node\n${program}`,
  }
  const starts = { mjs: 'node ', py: 'python3 ', sh: 'sh ', 'greet-node': '' }
  const seen: (Flaw | undefined)[] = []
  for (const [file, text] of Object.entries(programs)) {
    const at = project(t, { [file]: text })
    const start = starts[file.split(/[./]/).at(-1) as keyof typeof starts]
    for (const expected of ['Hello, Ada!', 'Hullo, Ada!'])
      seen.push(await at.flaw(`set -e\n[ "$(${start}"$PROJECT_DIR/${file}" Ada)" = '${expected}' ] || exit 1\n`))
  }
  assert.deepEqual(seen, Array(8).fill(undefined))
})

test('a compiled program, which has no text, is emptied too: an honest case fails on it', async (t) => {
  const at = project(t, { 'bin/greet': `#!/bin/sh\necho 'Hello, Ada!'; exit 0\n\0\0` })
  assert.equal(await at.flaw(`set -e\n"$PROJECT_DIR/bin/greet" | grep -qx 'Hello, Ada!' || exit 1\n`), undefined)
})

test('what counts as text of a change: files that are there and hold no NUL', (t) => {
  const { projectDir } = project(t, { 'a.mjs': program, 'b.bin': 'x\0y' })
  const files = new Map([
    ['a.mjs', 'x'],
    ['b.bin', 'x'],
    ['unreadable.mjs', 'x'],
    ['removed.mjs', ''],
  ])
  assert.deepEqual(changeOf({ files, hash: 'h' }, projectDir), {
    hash: 'h',
    files: ['a.mjs', 'b.bin', 'unreadable.mjs'],
    texts: new Map([['a.mjs', program]]),
  })
})

test('nothing is written through a link that leads out of the copy', async (t) => {
  const at = project(t, { 'lib/a.mjs': program })
  const outside = join(at.projectDir, '../outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'b.mjs'), 'kept')
  symlinkSync(outside, join(at.projectDir, 'linked'))
  const texts = new Map([
    ['lib/a.mjs', ''],
    ['linked/b.mjs', ''],
    ['missing/c.mjs', ''],
  ])
  const copy = copyProject(at.projectDir, { texts })
  t.after(copy.remove)
  assert.deepEqual(
    [
      readFileSync(join(copy.path, 'lib/a.mjs'), 'utf8'),
      readFileSync(join(outside, 'b.mjs'), 'utf8'),
      existsSync(join(copy.path, 'missing')),
    ],
    ['', 'kept', false],
  )
})

test('in the sandbox no file of the installed packages is copied; elsewhere one copy serves all', async (t) => {
  const at = project(t, { 'a.mjs': program, 'node_modules/dep/index.js': '1', 'node_modules/@x/y/index.js': '2' })
  const filesIn = (folder: string): number =>
    readdirSync(folder, { withFileTypes: true })
      .map((entry) => (entry.isDirectory() ? filesIn(join(folder, entry.name)) : entry.isFile() ? 1 : 0))
      .reduce<number>((sum, each) => sum + each, 0)
  const sandboxed = copyProject(at.projectDir, { sandboxed: true })
  const [one, two] = [copyProject(at.projectDir), copyProject(at.projectDir)]
  for (const copy of [sandboxed, one, two]) t.after(copy.remove)
  assert.deepEqual(
    [sandboxed, one, two].map(({ path }) => [
      filesIn(path),
      readFileSync(join(path, 'node_modules/@x/y/index.js'), 'utf8'),
    ]),
    [
      [1, '2'],
      [1, '2'],
      [1, '2'],
    ],
  )
  assert.deepEqual(
    [sandboxed.packages === join(at.projectDir, 'node_modules'), one.packages === two.packages, filesIn(one.packages!)],
    [true, true, 2],
  )
})
