/** Which words of a program are code, and which commands git is given in its words. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readShell } from '../parse/read.ts'
import { codesOf, textsIn } from './embedded.ts'

test('code follows an option that is the whole word, or the program takes it anywhere', () => {
  const given = (line: string) =>
    readShell(line).commands.flatMap((command) => codesOf(command).map((code) => code?.texts))
  const coded = [
    ...['python', 'ipython', 'bpython', 'ptpython', 'python3.12', 'jython', 'pypy3', 'tclsh'].map(
      (name) => `${name} -c`,
    ),
    ...'guile racket csi gosh sbcl clisp ecl ghc ghci runghc elixir iex erl groovy scala kotlin swift crystal raku octave'
      .split(' ')
      .map((name) => `${name} -e`),
    ...'gnuplot maxima julia Rscript R pwsh powershell nu elvish qjs gjs janet fennel luajit clojure clj bb ocaml swipl'
      .split(' ')
      .map((name) => `${name} -e`),
    ...'gap sage gp bpftrace stap ts-node tsx zx jshell'.split(' ').map((name) => `${name} -e`),
    ...['-c', '-e', '-C', '--eval', '--EVAL', '-eval', 'eval', '--expr', '--command', '--batch-string'].map(
      (option) => `guile ${option}`,
    ),
    ...['node -e', 'node -p', 'node --eval', 'node --print', 'deno eval', 'perl -E', 'php -r', 'php8.2 -B', 'php -E'],
  ]
  for (const words of coded) {
    const code = words.split(' ')[1]!
    assert.deepEqual(given(`${words} 'x y'`), [[code, 'x y']], words)
  }
  for (const words of ['guile x-c', 'guile evalx', 'guile xeval', 'php x-r', 'python x', 'node xeval', 'deno evals'])
    assert.deepEqual(given(`${words} 'x y'`), [[]], words)
  assert.deepEqual(given("unknown -c 'x y'"), [undefined])
})

test('of an unknown program, what follows an option for a message is no code', () => {
  const texts = (line: string) => readShell(line).commands.flatMap(({ words }) => textsIn(words, []))
  const messages = ['-m', '-am', '--message', '--title', '--body', '--description', '--subject', '--comment']
  for (const option of messages) assert.deepEqual(texts(`tool ${option} 'x y'`), [], option)
  for (const option of ['-mx', 'x--message', '--messages', '--titles', 'm', '--mess'])
    assert.deepEqual(texts(`tool ${option} 'x y'`), ['x y'], option)
})

test('commands in the words of git, each read like one of its own', () => {
  const read = (line: string) => {
    const { commands, unknown } = readShell(line)
    return unknown ?? commands.slice(1).map(({ words }) => words.map(({ value }) => value).join(' '))
  }
  const unseen = 'what git runs by one of its words is only known when it runs'
  const rows: [string, string | string[]][] = [
    ['git clone -c alias.x=y u', ['git y']],
    ['git clone --config alias.x=y u', ['git y']],
    ['git clone --configx alias.x=y u', []],
    ["git clone -u 'alias.x=y z' u", ['alias.x=y z']],
    ["git clone --upload-pack 'alias.x=y z' u", ['alias.x=y z']],
    ['git -c alias.x=y x', ['git y']],
    ['git -cx core.pager=y x', []],
    ['git -c ALIAS.x=y x', ['git y']],
    ['git -c myalias.x=y x', ['y']],
    ["git -c alias.x='!y z' x", ['y z']],
    ["git -c core.x='y!z' x", ['y!z']],
    ["git rebase -x 'a b' -x 'c d'", ['a b', 'c d']],
    ["git rebase -x 'a b' -x $Y", unseen],
    ['git rebase -x \'a b\' -x "c $Y"', unseen],
    ['git bisect run x $Y', unseen],
    ['git bisect run x y', ['x y']],
    ["git -c core.pager='a b' bisect run x y", ['a b', 'x y']],
  ]
  assert.deepEqual(
    rows.map(([line]) => [line, read(line)]),
    rows,
  )
})
