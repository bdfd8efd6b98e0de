/** A line that writes a file and runs it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PermissionQuestion } from '../../question.ts'
import { lineOf } from '../line.ts'
import { runsOwnFile } from './own-files.ts'

const question = (command: string): PermissionQuestion => ({
  ...{ settings: {}, mode: 'default', tool: 'Bash', input: { command }, hook: 'none' },
  ...{ cwd: '/w', projectDir: '/w', home: '/h' },
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
    ['echo a > /w/f; /w/f', '/w/f'],
    ['echo a > bin/f; bin/f', 'bin/f'],
    ['echo a > ~/f; ~/f', '~/f'],
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
