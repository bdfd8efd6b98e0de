/** Where the commands of a line run, and which of them type into a terminal. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PermissionQuestion } from '../../question.ts'
import { clip } from '../coverage.ts'
import { readShell } from '../parse/read.ts'
import { typesIntoTerminal } from '../terminals.ts'
import { directoriesOf, movesAway } from './directories.ts'

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
    ['cd - a', undefined],
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

test('a long command is cut in what is said of it', () => {
  assert.deepEqual(
    [clip('a'.repeat(200)), clip('a'.repeat(201)), clip('a\u0000b')],
    ['a'.repeat(200), `${'a'.repeat(200)}…`, 'a…b'],
  )
})
