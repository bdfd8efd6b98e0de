import assert from 'node:assert/strict'
import fs, { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readHooks } from '../settings.ts'
import { filesCommandsExecute, filesHooksExecute } from './executed-files.ts'

test('every file that a hook runs is found, however it is spelt', (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-executed-')))
  t.after(() => rmSync(root, { recursive: true }))
  const home = join(root, 'home')
  const project = join(root, 'project')
  const put = (...names: string[]) => {
    for (const name of names) {
      mkdirSync(join(root, name, '..'), { recursive: true })
      writeFileSync(join(root, name), '')
    }
  }
  put('project/a.sh', 'project/hooks/b.py', 'project/with space.sh', 'project/d.ts', 'project/e.mjs', 'project/f.mjs')
  put('project/unused.sh', 'elsewhere/real.sh', 'home/c.sh')
  symlinkSync(join(root, 'elsewhere/real.sh'), join(project, 'link.sh'))
  const command = (command: string) => ({ hook_event_name: 'PreToolUse', command })
  const hooks = [
    command('./a.sh --strict'),
    command('python3 "$CLAUDE_PROJECT_DIR"/hooks/b.py'),
    command('test -x ~/c.sh && ~/c.sh'),
    command('sh -c \'exit 0\'; "${CLAUDE_PROJECT_DIR}/with space.sh"|cat'),
    command('bash link.sh</dev/null'),
    { hook_event_name: 'PreToolUse', type: 'function', file: 'd.ts' },
    { hook_event_name: 'PreToolUse', command: 'node', args: ['--import=f.mjs', 'e.mjs'] },
  ]
  const { handlers } = readHooks({ hooks }, { source: { kind: 'settings' } })
  const files = filesHooksExecute(handlers, { cwd: project, projectDir: project, home })
  assert.deepEqual(
    files.map((file) => file.slice(root.length + 1)),
    [
      'project/a.sh',
      'project/hooks/b.py',
      'home/c.sh',
      'project/with space.sh',
      'project/link.sh',
      'elsewhere/real.sh',
      'project/d.ts',
      'project/f.mjs',
      'project/e.mjs',
    ],
  )
})

test('whatever ends a word of a command line ends a path', (t) => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'ona-executed-')))
  t.after(() => rmSync(cwd, { recursive: true }))
  writeFileSync(join(cwd, 'x'), '')
  for (const end of [' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')', '`', '=', '"" ', "'' "])
    assert.deepEqual(
      filesCommandsExecute([`a${end}./x${end}b`], { cwd, projectDir: cwd, home: cwd }),
      [join(cwd, 'x')],
      JSON.stringify(end),
    )
})

test('a path below the home, the project or the folder that the hook runs in is found there', (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-executed-')))
  t.after(() => rmSync(root, { recursive: true }))
  const place = { cwd: join(root, 'cwd'), projectDir: join(root, 'project'), home: join(root, 'home') }
  for (const folder of Object.values(place))
    for (const name of ['x', '~', '~x']) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, name), '')
    }
  const found = (word: string) => filesCommandsExecute([word], place).map((file) => file.slice(root.length + 1))
  const words = [
    'x',
    '$PWD/x',
    '${PWD}/x',
    '$HOME/x',
    '${HOME}/x',
    '~/x',
    '$CLAUDE_PROJECT_DIR/x',
    '~',
    '~x',
    '$PWD$HOME/x',
  ]
  assert.deepEqual(
    words.map((word) => [word, found(word)]),
    [
      ['x', ['cwd/x', 'project/x']],
      ['$PWD/x', ['cwd/x']],
      ['${PWD}/x', ['cwd/x']],
      ['$HOME/x', ['home/x']],
      ['${HOME}/x', ['home/x']],
      ['~/x', ['home/x']],
      ['$CLAUDE_PROJECT_DIR/x', ['project/x']],
      ['~', []],
      ['~x', ['cwd/~x', 'project/~x']],
      ['$PWD$HOME/x', []],
    ],
  )
})

test('a program that runs what a file of the project says counts as that file, there or not', () => {
  const python = 'pyproject.toml setup.cfg tox.ini noxfile.py conftest.py pytest.ini'
  const runners: Record<string, string> = {
    ...Object.fromEntries('npm npx pnpm pnpx yarn bun bunx'.split(' ').map((name) => [name, 'package.json'])),
    ...Object.fromEntries('make gmake'.split(' ').map((name) => [name, 'GNUmakefile makefile Makefile'])),
    ...Object.fromEntries('poetry uv pdm hatch tox nox pytest'.split(' ').map((name) => [name, python])),
    just: 'justfile Justfile .justfile',
    task: 'Taskfile.yml Taskfile.yaml',
    cargo: 'Cargo.toml build.rs',
    rake: 'Rakefile',
    bundle: 'Gemfile',
    gradle: 'build.gradle build.gradle.kts',
    gradlew: 'gradlew build.gradle build.gradle.kts',
    mvn: 'pom.xml',
    composer: 'composer.json',
    deno: 'deno.json deno.jsonc',
    'pre-commit': '.pre-commit-config.yaml',
    lefthook: 'lefthook.yml',
    direnv: '.envrc',
  }
  const place = { cwd: '/nowhere/w/sub', projectDir: '/nowhere/w', home: '/nowhere/h' }
  for (const [name, files] of Object.entries(runners))
    assert.deepEqual(
      filesCommandsExecute([`/usr/local/bin/${name} run`], place),
      files.split(' ').flatMap((file) => [`/nowhere/w/sub/${file}`, `/nowhere/w/${file}`]),
      name,
    )
  assert.deepEqual(filesCommandsExecute(['/bin/sh -c x', '/usr/bin/env y', '/dev/null', '/proc/self/exe'], place), [])
})

test('what lies in a folder of the system is not the agent’s to change, any other file is', (t) => {
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  t.mock.method(fs, 'statSync', () => ({ isFile: () => true }))
  t.mock.method(fs, 'realpathSync', (path: string) => path)
  syncBuiltinESMExports()
  const place = { cwd: '/w', projectDir: '/w', home: '/h' }
  const found = (folder: string) => filesCommandsExecute([`${folder}/run`], place)
  for (const folder of ['/usr', '/bin', '/sbin', '/lib', '/opt', '/nix', '/dev', '/proc', '/System'])
    assert.deepEqual(found(folder), [], folder)
  for (const folder of ['/usr2', '/srv', '/home/usr', '/etc', '/opt2', '/Users'])
    assert.deepEqual(found(folder), [`${folder}/run`], folder)
})
