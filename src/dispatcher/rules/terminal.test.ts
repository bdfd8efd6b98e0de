import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import { test } from 'node:test'
import { unboundedRead } from './terminal.ts'

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
