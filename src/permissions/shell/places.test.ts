/** Where the commands of a line run, which of them type into a terminal, and what wildcards stand for. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { globBase } from '../paths/glob-base.ts'
import { below, treeHolds } from '../paths/tree.ts'
import { rememberingView } from '../paths/view.ts'
import type { PermissionQuestion } from '../question.ts'
import { clip } from './coverage.ts'
import { directoriesOf, movesAway } from './directories.ts'
import { expandBraces, expandGlob } from './expand-glob.ts'
import { configRunsPrograms, inProjectRepository } from './git-place.ts'
import { lineOf } from './line.ts'
import { runsOwnFile } from './programs/own-files.ts'
import { readShell } from './read.ts'
import { typesIntoTerminal } from './terminals.ts'

const question = (command: string): PermissionQuestion => ({
  ...{ settings: {}, mode: 'default', tool: 'Bash', input: { command }, hook: 'none' },
  ...{ cwd: '/w', projectDir: '/w', home: '/h' },
})

test('the folders that the commands of a line may run in', () => {
  const rows: [line: string, is: string | undefined][] = [
    ['ls', '/w'],
    ['cd a', '/w /w/a'],
    ['cd a && cd b', '/w /w/a /w/a/b'],
    ['cd /a; cd ..', '/w /a /'],
    ['cd ~', '/w /h'],
    ['cd ~/a', '/w /h/a'],
    ['cd $PWD/a', '/w /w/a'],
    ['cd -P a', '/w /w/a'],
    ['pushd a', '/w /w/a'],
    ['popd', undefined],
    ['cd', undefined],
    ['cd -', undefined],
    ['cd $X', undefined],
    ['cd a*', undefined],
    ['builtin cd a', '/w /w/a'],
    ['command cd a', '/w /w/a'],
    ['xcd a', '/w'],
    ['env -C a ls', '/w /w/a'],
    ['make -Ca', '/w /w/a'],
    ['make -C ~/a', '/w /h/a'],
    ['env --chdir a ls', '/w /w/a'],
    ['env --chdir=a ls', '/w /w/a'],
    ['tar --directory a', '/w /w/a'],
    ['tar --directory=a', '/w /w/a'],
    ['yarn --cwd a', '/w /w/a'],
    ['yarn --cwd=a', '/w /w/a'],
    ['npm --prefix a', '/w /w/a'],
    ['npm --prefix=a', '/w /w/a'],
    ['make -C a -C b', '/w /w/a /w/b'],
    ['make -C $X', '/w'],
    ['make -C', '/w'],
    ['make x-C a', '/w'],
    ['make --x-C a', '/w'],
    ['make --prefixx a', '/w'],
    ['cd a; make -C b', '/w /w/a /w/b'],
    ['make -C a; make -C a', '/w /w/a'],
  ]
  assert.deepEqual(
    rows.map(([line]) => [line, directoriesOf(readShell(line), question(line))?.join(' ')]),
    rows,
  )
  const moves = ['cd a', 'pushd a', 'popd', 'builtin cd', 'make -C a', 'ls']
  assert.deepEqual(
    moves.map((line) => movesAway(readShell(line).commands[0]!)),
    [true, true, true, true, false, false],
  )
})

test('commands that type into a terminal, or run something in one', () => {
  const words = (text: string) => text.split(' ')
  const typing = [
    ...words(
      'send send-key send-keys send-prefix paste-buffer pasteb paste-b pipe-pane pipe-p pipep set-hook bind bind-key if if-shell source source-file run run-shell respawn-pane respawn-p respawn-window respawnp respawnw confirm confirm-before command-prompt set set-option setw',
    ).map((verb) => `tmux ${verb}`),
    ...['screen -X a', 'screen -pX a', 'zellij action a', 'zellij run a', 'zellij write a', 'zellij write-chars a'],
    ...['kitty @ a', 'kitten @ a', 'wezterm cli a', 'xdotool key a', 'xdotool type a', 'xdotool keydown a'],
    ...[
      'xdotool windowactivate a',
      'ydotool key a',
      'ydotool type a',
      'wtype a',
      'writevt a',
      'reptyr a',
      'dtach -a a',
    ],
    ...['dtach -p a', 'dtach -A a', 'dtach -c a', 'osascript a', 'nice tmux send a', '/usr/bin/tmux send a'],
    ...['tmux -L default send a', 'tmux -L $X send a', 'tmux a b -L c send', 'screen -L x -X a', 'tmux send -x -L y'],
  ]
  const not = [
    ...[
      'tmux',
      'tmux -L',
      'tmux ls',
      'tmux sendx',
      'tmux xsend',
      'tmux -L own send a',
      'tmux -x -L own send a',
      'screen -x a',
    ],
    ...[
      'screen -Xa',
      'screen x-X',
      'zellij ls',
      'zellij actionx',
      'zellij xrun',
      'kitty a@',
      'wezterm clix',
      'wezterm xcli',
    ],
    ...[
      'xdotool search a',
      'xdotool keyx',
      'xdotool xkey',
      'ydotool click',
      'ydotool keyx',
      'wtype',
      'dtach -n a',
      'dtach -aa',
    ],
    ...['dtach x-a', 'xtmux send', 'toString a'],
  ]
  const types = (line: string) => typesIntoTerminal(readShell(line).commands[0]!)
  assert.deepEqual(
    typing.filter((line) => !types(line)),
    [],
  )
  assert.deepEqual(not.filter(types), [])
})

test('a line that writes a file and runs it', () => {
  const words = (text: string) => text.split(' ')
  const own = (line: string) => {
    const found = runsOwnFile(lineOf(question(line), { allow: [], deny: [], ask: [], warnings: [] }))
    return found?.words[0]?.value
  }
  const takes = words(
    'sh bash source . python3 python3.12 pypy pypy3 node nodejs tsx ts-node deno bun perl perl5 ruby php lua lua5.4 tclsh expect osascript Rscript julia make gmake ninja awk gawk mawk nawk sed vi vim nvim ex emacs gdb gcc g++ cc c++ clang rustc go tcc at batch crontab git curl wget ssh psql mysql sqlite3',
  )
  assert.deepEqual(
    takes.filter((name) => own(`echo a > f; ${name} f`) !== name),
    [],
  )
  assert.deepEqual(
    words('ls cat xnode nodex cp').filter((name) => own(`echo a > f; ${name} f`)),
    [],
  )
  const runs: [line: string, is: string | undefined][] = [
    ['echo a > f; ./f', './f'],
    ['echo a > f; f', undefined],
    ['./f > f', undefined],
    ['echo a > f; make -ff', 'make'],
    ['echo a > f; make --file=f', 'make'],
    ['echo a > f; make -x=f', 'make'],
    ['echo a > f; make g', undefined],
    ['tee f; sh f', 'sh'],
    ['cp g f; sh f', 'sh'],
    ['touch f; sh f', undefined],
    ['touch x > f; sh f', 'sh'],
    ['chmod +x f; sh f', undefined],
    ['chown a f; sh f', undefined],
    ['chgrp a f; sh f', undefined],
    ['mkdir f; sh f', undefined],
    ['rm f; sh f', undefined],
    ['rmdir f; sh f', undefined],
    ['unlink f; sh f', undefined],
    ['truncate f; sh f', undefined],
    ['shred f; sh f', undefined],
    ['xrm > f; sh f', 'sh'],
    ['echo a > /dev/null; sh /dev/null', undefined],
    ['cat f; sh f', undefined],
    ['echo a > Makefile; make', 'make'],
    ['echo a > makefile; gmake', 'gmake'],
    ['echo a > GNUmakefile; make', 'make'],
    ['echo a > build.ninja; ninja', 'ninja'],
    ['echo a > package.json; npm t', 'npm'],
    ['echo a > .npmrc; pnpm t', 'pnpm'],
    ['echo a > package.json; yarn', 'yarn'],
    ['echo a > package.json; bun t', 'bun'],
    ['echo a > conftest.py; pytest', 'pytest'],
    ['echo a > build.rs; cargo b', 'cargo'],
    ['echo a > Cargo.toml; cargo b', 'cargo'],
    ['echo a > Rakefile; rake', 'rake'],
    ['echo a > Rakefile; make', undefined],
    ['echo a > f; nice sh f', 'nice'],
    ['sh f; echo a > f', 'sh'],
  ]
  assert.deepEqual(
    runs.map(([line]) => [line, own(line)]),
    runs,
  )
})

test('braces of the shell', () => {
  const rows: [text: string, is: string | undefined][] = [
    ['a', 'a'],
    ['{a,b}', 'a b'],
    ['x{a,b}y{c,d}z', 'xaycz xaydz xbycz xbydz'],
    ['{a,}', 'a '],
    ['{a}', undefined],
    ['{1..3}', undefined],
    ['{a,b..c}', undefined],
    ['{a,{b,c}}', undefined],
    ['{a', undefined],
    ['a}', undefined],
    ['a\\b', undefined],
    ["a'b", undefined],
    ['a"b', undefined],
    ['!(a)', undefined],
    ['@(a)', undefined],
    ['+(a)', undefined],
    ['?(a)', undefined],
    ['*(a)', undefined],
    ['[[:x', undefined],
    ['[:x', undefined],
    ['[a]', '[a]'],
    ['a(b', 'a(b'],
    ['{a,b}{c', undefined],
  ]
  assert.deepEqual(
    rows.map(([text]) => [text, expandBraces(text)?.join(' ')]),
    rows,
  )
})

test('the files that wildcards stand for, in folders that are there', (t) => {
  const w = realpathSync(mkdtempSync(join(tmpdir(), 'ona-places-')))
  t.after(() => rmSync(w, { recursive: true }))
  for (const folder of ['src/deep', 'many', '.dot', 'nested/.git', 'bare/objects', 'bare/refs', '.git', 'half/objects'])
    mkdirSync(join(w, folder), { recursive: true })
  for (const file of ['a.ts', 'b.ts', '.env', 'src/c.ts', 'src/deep/d.ts', '.dot/e', 'bare/HEAD', 'half/HEAD'])
    writeFileSync(join(w, file), '')
  const files = rememberingView()
  const found = (glob: string) =>
    expandGlob(glob, w, files)
      ?.map((path) => path.slice(w.length + 1))
      .sort()
      .join(' ')
  const rows: [glob: string, is: string | undefined][] = [
    ['*.ts', 'a.ts b.ts'],
    ['?.ts', 'a.ts b.ts'],
    ['[a].ts', 'a.ts'],
    ['{a,z}.ts', 'a.ts z.ts'],
    ['.e*', '.env'],
    ['*env', ''],
    ['src/*', 'src/c.ts src/deep'],
    ['./src//*/d.ts', 'src/c.ts/d.ts src/deep/d.ts'],
    ['*/*.ts', 'src/c.ts'],
    ['none/*', ''],
    [join(w, '*.ts'), 'a.ts b.ts'],
    ['@(a)', undefined],
  ]
  assert.deepEqual(
    rows.map(([glob]) => [glob, found(glob)]),
    rows,
  )
  for (let at = 0; at < 2000; at++) writeFileSync(join(w, 'many', `f${at}`), '')
  assert.equal(expandGlob('many/*', w, rememberingView())?.length, 2000)
  assert.equal(expandGlob('{many/*,x}', w, rememberingView()), undefined)
  writeFileSync(join(w, 'many', 'more'), '')
  assert.equal(expandGlob('many/*', w, rememberingView()), undefined)

  const seen: string[] = []
  const holds = (folder: string, visible: boolean, name: string) =>
    treeHolds(join(w, folder), visible, (path, inside) => {
      seen.push(`${path.slice(w.length + 1)} ${inside}`)
      return inside === name
    })
  assert.deepEqual(
    [holds('src', false, 'deep/d.ts'), holds('src', false, 'none'), holds('.', true, '.env')],
    [true, false, false],
  )
  assert.ok(seen.includes('src/deep/d.ts deep/d.ts'))
  assert.deepEqual(
    [holds('.dot', true, 'e'), holds('.', true, '.dot/e'), holds('.', false, '.dot/e')],
    [true, false, true],
  )
  assert.deepEqual([below('/', 'a'), below('/b', 'a')], ['/a', '/b/a'])
  for (let at = 0; at < 3000; at++) writeFileSync(join(w, 'src', `f${at}`), '')
  const never = () => false
  assert.deepEqual([treeHolds(join(w, 'src'), false, never), treeHolds(w, true, never)], [false, true])

  const inside = (folder: string) => inProjectRepository(join(w, folder), w)
  assert.deepEqual(['.', 'src', 'nested', 'nested/x', 'bare', 'half', '..'].map(inside), [
    true,
    true,
    false,
    false,
    false,
    true,
    false,
  ])
  assert.equal(inProjectRepository(join(w, 'bare'), join(w, 'bare')), false)
  const runs = (text: string) => {
    writeFileSync(join(w, '.git/config'), text)
    return configRunsPrograms(w)
  }
  const programs =
    'fsmonitor hooksPath pager external textconv filter include driver command program attributesFile partialclone promisor'
  assert.deepEqual(
    programs.split(' ').filter((key) => !runs(`[x]\n${key} = a`)),
    [],
  )
  assert.deepEqual(
    [runs('worktree = a'), runs('worktree=a'), runs('worktrees'), runs('commands'), runs('bare = false')],
    [true, true, false, false, false],
  )
  assert.equal(configRunsPrograms('/'), false)
  writeFileSync(join(w, '.git/config.worktree'), 'pager = x')
  assert.equal(runs('bare = false'), true)
  rmSync(join(w, '.git/config.worktree'))
  mkdirSync(join(w, 'common'))
  writeFileSync(join(w, '.git/commondir'), '../common\n')
  writeFileSync(join(w, 'common/config'), 'pager = x')
  assert.equal(runs('bare = false'), true)
  writeFileSync(join(w, 'common/config'), 'x')
  assert.equal(runs('bare = false'), false)
  assert.equal(configRunsPrograms(join(w, 'src/deep')), false)
  writeFileSync(join(w, '.git/config'), 'pager = x')
  assert.equal(configRunsPrograms(join(w, 'src/deep')), true)
  writeFileSync(join(w, 'src/.git'), 'gitdir: ../common\n')
  assert.equal(configRunsPrograms(join(w, 'src/deep')), false)
  writeFileSync(join(w, 'common/config'), `${'x'.repeat(1_000_000)}`)
  assert.equal(configRunsPrograms(join(w, 'src')), false)
  writeFileSync(join(w, 'common/config'), `${'x'.repeat(1_000_001)}`)
  assert.equal(configRunsPrograms(join(w, 'src')), true)
})

test('the folder that a glob pattern can reach into', () => {
  const rows: [folder: string, pattern: string, is: string][] = [
    ['f', '*', 'f'],
    ['f', 'a/*', 'f/a'],
    ['f', 'a/b', 'f/a'],
    ['f', 'a', 'f'],
    ['f', '/a/*', '/a'],
    ['f', '/*', '/'],
    ['f', '/a', '/'],
    ['f', 'a/?/b', 'f/a'],
    ['f', 'a/[b]', 'f/a'],
    ['f', 'a/{b,c}', 'f/a'],
    ['f', 'a/!b', 'f/a'],
    ['f', '*/../a', 'f/..'],
    ['f', '*/../../a', 'f/../..'],
    ['f', 'a/*/x..y', 'f/a/..'],
    ['f', '../a/*', 'f/../a'],
  ]
  assert.deepEqual(
    rows.map(([folder, pattern]) => [folder, pattern, globBase(folder, pattern)]),
    rows,
  )
})

test('a long command is cut in what is said of it', () => {
  assert.deepEqual(
    [clip('a'.repeat(200)), clip('a'.repeat(201)), clip('a\u0000b')],
    ['a'.repeat(200), `${'a'.repeat(200)}…`, 'a…b'],
  )
})
