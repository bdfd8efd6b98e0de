import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import { test } from 'node:test'
import { unboundedRead, wordsIn } from './terminal.ts'

const repo = '/home/me/work/repo'

test('commands that walk the whole repository or more are found', () => {
  for (const command of [
    'grep -r foo',
    'grep -rn foo .',
    'grep -nR foo ./',
    'grep foo --recursive',
    'egrep -r "a b" /',
    'cd src && cd .. && grep -r foo',
    'sudo grep -r x /',
    'LC_ALL=C time grep -r x /home',
    'true; find . -name "*.ts"',
    'find / -name x',
    'find -name x',
    `find ${homedir()}`,
    'find ~ -type f',
    'find $HOME',
    'ls -R',
    'ls -laR .',
    'tree',
    'du -sh /',
    'rg foo /',
    'rg foo ..',
    'cat x | xargs grep -r y /',
    'bash -c "grep -r x /"',
    'echo $(find / -name x)',
    'dir /s C:\\',
    'Get-ChildItem -Recurse',
    'gci -r C:/',
    `grep -r foo ${repo}`,
    "grep -r 'a;b' .",
    'ls -R /*',
    'grep -r foo 2>/dev/null',
  ])
    assert.notEqual(unboundedRead(command, repo, repo), undefined, command)
})

test('commands that stay in a part of it are left alone', () => {
  for (const command of [
    'grep foo file.txt',
    'grep -r foo src',
    'grep -rn "foo bar" src lib',
    'cat x | grep foo',
    'cd src && grep -r foo',
    'rg foo',
    'rg foo src',
    'git grep foo',
    'find src -name "*.ts"',
    `find ${repo}/src`,
    'ls -l',
    'ls -R src',
    'tree src',
    'echo "find / -name x"',
    "echo 'grep -r x /'",
    '# grep -r x /',
    'dir',
    'Get-ChildItem src -Recurse',
    'npm test',
    '',
  ])
    assert.equal(unboundedRead(command, repo, repo), undefined, command)
})

test('the value of an option is neither the pattern nor a path', () => {
  const long = 'after-context before-context context max-count glob type type-not max-depth threads regexp file'.split(
    ' ',
  )
  const given = ['regexp', 'file', 'e', 'f'] // the pattern came as an option
  for (const option of [...long, ...'ABCmefgtTdMj']) {
    const flag = option.length === 1 ? `-${option}` : `--${option}`
    const pattern = given.includes(option) ? '' : 'x'
    const bounded = `grep -r ${flag} 3 ${pattern} src`
    assert.deepEqual(
      [unboundedRead(`grep -r ${flag} 3 ${pattern}`, repo, repo), unboundedRead(bounded, repo, repo)],
      [`grep -r ${flag} 3 ${pattern}`.trim(), undefined],
      flag,
    )
  }
  const table: [string, boolean][] = [
    ['grep -r --regexp=x', true],
    ['grep -r --file=x src', false],
    ['grep -r --no-regexp x', true], // not an option that brings a pattern
    ['rg --files', false],
    ['rg --files ..', true],
    ['grep -r x -', true],
    ['grep -r -- -x', true],
    ['grep -r x -- src', false],
    ['grep -r x -- -src', false],
    ['ls --recursive', true],
    ['ls -recursive', true],
    ['ls -Recurse', true],
    ['ls x--recursive', false],
    ['ls x-recurse', false],
    ['ls --recursive-not', false],
    ['ls -recurse-not', false],
    [`grep -r x ${'../'.repeat(9)}~`, false], // a file of that name
    ['grep -r x ~/', true],
    ['grep -r x ~user', false],
    ['grep -r x ${HOME}/', true],
    ['gci $env:USERPROFILE -r', true],
    ['gci -recurse %USERPROFILE%', true],
    ['gci -recursive', false],
    ['gci x-r', false],
    ['dir x/s', false],
    ['dir /s /b src', false],
    ['dir /S', true],
    ['dir /sb', false],
  ]
  for (const [command, found] of table) assert.equal(unboundedRead(command, repo, repo) !== undefined, found, command)
})

test('what is found is reported as its words, without prefixes, quotes and redirects', () => {
  const here = '/home/me/work/repo'
  const rows: [string, string | undefined][] = [
    ['sudo -E env A=b nice -n5 /usr/bin/GREP.exe -r x .', 'grep -r x .'],
    ['env my-tool grep -r x /', undefined],
    ['A=b', undefined],
    ['my-tool -v; xargs -0 find /', 'find /'],
    ['cd', undefined],
    ['cd src; ls -R .', undefined],
    ['pushd src; ls -R ..', 'ls -R ..'],
    ['Set-Location src; tree', undefined],
    ['cd ~; tree', 'tree'],
    ['sh -c "cd src; tree"; tree src', undefined],
    ["zsh -c 'tree'; ls", 'tree'],
    ["zsh -c 'ls'; tree", 'tree'],
    ["dash -x -c 'tree /'", 'tree /'],
    ["bash -lc 'tree /'", 'tree /'],
    ["/bin/sh -ce 'tree /' x", 'tree /'],
    ["bash --norc 'tree /'", undefined],
    ["sh 'tree /'", undefined],
    ["node -c 'tree /'", undefined],
    ['bash -c', undefined],
    ['grep -r -e x src', undefined],
    ['grep -r -e x', 'grep -r -e x'],
    ['grep -re x .', 'grep -re x .'],
    ['grep -r --regexp=x .', 'grep -r --regexp=x .'],
    ['grep -r --regexp x src', undefined],
    ['grep -r -f list .', 'grep -r -f list .'],
    ['grep -r -A 3 x src', undefined],
    ['grep -r -A 3 x .', 'grep -r -A 3 x .'],
    ['grep -r --context 3 x .', 'grep -r --context 3 x .'],
    ['grep -r x -- .', 'grep -r x -- .'],
    ['grep -r -- x src', undefined],
    ['grep -r x -', 'grep -r x -'],
    ['grep --dereference-recursive x', 'grep --dereference-recursive x'],
    ['grep -i x .', undefined],
    ['grep --color=r x .', undefined],
    ['fgrep -R x', 'fgrep -R x'],
    ['rg --files', undefined],
    ['rg --files /', 'rg --files /'],
    ['rg --files-with-matches / src', undefined],
    ['rg -g "*.ts" / src', undefined],
    ['rg -g "*.ts" x /', 'rg -g *.ts x /'],
    ['ag x /', 'ag x /'],
    ['ack x ~', 'ack x ~'],
    ['find -L src -name x', undefined],
    ['find -H . -name x', 'find -H . -name x'],
    ['find ( -name x )', 'find'],
    ['find src ! -name x', undefined],
    ['find ! -name x', 'find ! -name x'],
    ['ls --recursive', 'ls --recursive'],
    ['ls -recurse', 'ls -recurse'],
    ['ls --recursive-x', undefined],
    ['ls -r', undefined],
    ['du src', undefined],
    ['du -h', 'du -h'],
    ['dir /S', 'dir /S'],
    ['dir /b /s src', undefined],
    ['dir /sx', undefined],
    ['get-childitem -r', 'get-childitem -r'],
    ['gci -Recurse src', undefined],
    ['gci -recursex', undefined],
    ['tree C:', 'tree C:'],
    ['tree d:\\*', 'tree d:\\*'],
    ['tree C:src', undefined],
    ['tree ./*', 'tree ./*'],
    ['tree src/*', undefined],
    ['tree /home', 'tree /home'],
    ['tree /etc', undefined],
    ['tree ${HOME}', 'tree ${HOME}'],
    ['tree $env:USERPROFILE\\x', undefined],
    ['tree %userprofile%', 'tree %userprofile%'],
    ['tree ~other', undefined],
    ['tree x~', undefined],
    ['tree src > out 2> err < in', undefined],
    ['tree > out', 'tree'],
    ['tree 2>&1', 'tree'],
    ['tree 2>/dev/null src', undefined],
    ['tree >> out src', undefined],
    ['echo a#b; tree # src', 'tree'],
    ['echo x # ; tree', undefined],
    ['echo "a\\"b; tree"', undefined],
    ["echo 'a\\'; tree", 'tree'],
    ['echo a\\ b\\; tree', undefined],
    ['tr\\\nee', 'tree'],
    ['echo `tree`', 'tree'],
    ['(tree)', 'tree'],
    ['a | tree', 'tree'],
    ['a & tree', 'tree'],
    ['a\ntree', 'tree'],
    ['tree\t/', 'tree /'],
    ['tree\r', 'tree'],
    ['"tr"ee', 'tree'],
    ['__proto__ /', undefined],
    ['constructor /', undefined],
    ['""', undefined],
    ...['nohup', 'command', 'exec', 'builtin', 'time', 'sudo'].map((word): [string, string] => [
      `${word} tree`,
      'tree',
    ]),
    ['tree xC:', undefined],
    ['cd src; ls -R /*', 'ls -R /*'],
    ['g.exerep -r x', undefined],
    ['GREP.EXE -r x', 'grep -r x'],
    ['1a=b tree', undefined],
    ["''; tree", 'tree'],
    ['"\\\\"; tree', 'tree'],
    ['echo # x\ntree', 'tree'],
    ['tree < src', 'tree'],
    ['tree a<b', undefined],
    ['tree 2> out', 'tree'],
    ['env my-tree; tree src', undefined],
    ['nice x-y tree', undefined],
    ['pushd src; ls -R .', undefined],
    ["sh -c 'tree'", 'tree'],
    ['grep a-r .', undefined],
    ['grep -r2 x .', undefined],
    ['find a-b -name x', undefined],
    ['find -Hx . -name y', 'find -Hx . -name y'],
    ['ls x.js --recursive', undefined],
    ['ls . --RECURSIVE', 'ls . --RECURSIVE'],
    ['ls a-recursive', undefined],
    ['ls -recursed', undefined],
    ['dir a/s', undefined],
    ['dir /s a/b', undefined],
    ['gci a-r', undefined],
    ['grep -r --after-context 3 x src', undefined],
    ['grep -r --after-context 3 x .', 'grep -r --after-context 3 x .'],
    ['grep -r -nA 3 src', 'grep -r -nA 3 src'],
    ['grep -r -e x -- -y src', undefined],
    ['grep -r -- . src', undefined],
    ['rg -e x - /', 'rg -e x - /'],
    ['tree 2> out src', undefined],
  ]
  for (const [command, found] of rows) assert.equal(unboundedRead(command, here, here), found, command)
})

test('a command too long to look through is unbounded, and has no words', () => {
  const longest = `echo ${'x'.repeat(65_531)}`
  assert.equal(unboundedRead(longest, repo, repo), undefined)
  assert.equal(unboundedRead(`${longest}x`, repo, repo), `echo ${'x'.repeat(55)}… (65537 characters)`)
  assert.deepEqual(
    [wordsIn(`${longest}x`), wordsIn('a "b c" | d > e')],
    [undefined, ['a', 'b c', 'd', '--redirect', 'e']],
  )
})
