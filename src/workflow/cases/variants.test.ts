import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commentedOut, endedFirst, reworded } from './variants.ts'

const files = {
  'a.mjs': 'one()\n',
  'a.tsx': 'one()',
  'a.py': 'one()',
  'a.sh': 'one',
  'a.zsh': 'one',
  'a.rb': 'one',
  'a.pl': 'one',
  'a.ex': 'one',
  'a.exs': 'one',
  'a.R': 'one',
  'a.lua': 'one()',
  'a.hs': 'one',
  'a.go': 'one()',
  'a.scala': 'one()',
  'bin/node': '#!/usr/bin/env node\none()',
  'bin/deno': '#!/usr/bin/env -S deno run\none()',
  'bin/python': '#!/usr/bin/python3\none()',
  'bin/sh': '#!/bin/sh\none',
  'bin/dash': '#!/bin/dash\none',
  'bin/bash': '#!/bin/bash\none',
  'bin/ruby': '#!/usr/bin/ruby\none',
  'bin/awk': '#!/usr/bin/awk -f\none',
  'bin/lua': '#!/usr/bin/lua\none()',
  'bin/none': 'one',
  'bin/shine': '#!/usr/bin/shine\none',
  'a.md': '# one',
  ...Object.fromEntries(['js', 'py', 'sh', 'rb', 'awk', 'lua', 'hs', 'go'].map((end) => [`a.${end}.txt`, 'one'])),
  'late.txt': 'one\n#!/bin/sh',
  'empty.mjs': '',
}
const texts = new Map(Object.entries(files))

test('a program is put out of action by comments, in its own language; what we cannot comment is left out', () => {
  assert.deepEqual(Object.fromEntries(commentedOut(texts)), {
    'a.mjs': '// one()\n// ',
    'a.tsx': '// one()',
    'a.py': '# one()',
    'a.sh': '# one',
    'a.zsh': '# one',
    'a.rb': '# one',
    'a.pl': '# one',
    'a.ex': '# one',
    'a.exs': '# one',
    'a.R': '# one',
    'a.lua': '-- one()',
    'a.hs': '-- one',
    'a.go': '// one()',
    'a.scala': '// one()',
    'bin/node': '#!/usr/bin/env node\n// one()',
    'bin/deno': '#!/usr/bin/env -S deno run\n// one()',
    'bin/python': '#!/usr/bin/python3\n# one()',
    'bin/sh': '#!/bin/sh\n# one',
    'bin/dash': '#!/bin/dash\n# one',
    'bin/bash': '#!/bin/bash\n# one',
    'bin/ruby': '#!/usr/bin/ruby\n# one',
    'bin/awk': '#!/usr/bin/awk -f\n# one',
    'bin/lua': '#!/usr/bin/lua\n-- one()',
  })
})

test('every language, by the ending of its files and by its interpreter; a later line that begins like one is a line', () => {
  const endings: Record<string, string> = {
    '//': 'js mjs cjs jsx ts mts cts tsx go rs java kt swift c cc cpp h cs scala',
    '#': 'py sh bash zsh rb pl ex exs awk tcl r R',
    '--': 'lua hs',
  }
  for (const [comment, names] of Object.entries(endings))
    for (const name of names.split(' ')) {
      const file = `a.${name}`
      const text = 'one\n#!two'
      assert.deepEqual(commentedOut(new Map([[file, text]])), new Map([[file, `${comment} one\n${comment} #!two`]]))
    }
  const interpreters: Record<string, string> = {
    '//': 'node deno bun',
    '#': 'python python3 sh bash zsh dash ksh ruby perl awk',
    '--': 'lua lua5.4',
  }
  for (const [comment, names] of Object.entries(interpreters))
    for (const name of names.split(' ')) {
      const head = `#!/usr/bin/env ${name}`
      const changed = commentedOut(new Map([['run', `${head}\none`]]))
      assert.deepEqual(changed, new Map([['run', `${head}\n${comment} one`]]), name)
    }
})

test('or it is ended by its first line, where a program can begin with a statement', () => {
  assert.deepEqual(Object.fromEntries(endedFirst(texts)), {
    'a.mjs': 'process.exit(0);\none()\n',
    'a.tsx': 'process.exit(0);\none()',
    'a.py': 'raise SystemExit(0)\none()',
    'a.sh': 'exit 0\none',
    'a.zsh': 'exit 0\none',
    'a.rb': 'exit 0;\none',
    'a.pl': 'exit 0;\none',
    'a.lua': 'os.exit(0)\none()',
    'bin/node': '#!/usr/bin/env node\nprocess.exit(0);\none()',
    'bin/deno': '#!/usr/bin/env -S deno run\nprocess.exit(0);\none()',
    'bin/python': '#!/usr/bin/python3\nraise SystemExit(0)\none()',
    'bin/sh': '#!/bin/sh\nexit 0\none',
    'bin/dash': '#!/bin/dash\nexit 0\none',
    'bin/bash': '#!/bin/bash\nexit 0\none',
    'bin/ruby': '#!/usr/bin/ruby\nexit 0;\none',
    'bin/lua': '#!/usr/bin/lua\nos.exit(0)\none()',
  })
})

test('or reworded by a comment at its end, which changes nothing that it does', () => {
  const some = new Map(['a.mjs', 'a.hs', 'bin/awk', 'a.md', 'empty.mjs'].map((file) => [file, texts.get(file)!]))
  assert.deepEqual(Object.fromEntries(reworded(some)), {
    'a.mjs': 'one()\n\n// the same program\n',
    'a.hs': 'one\n-- the same program\n',
    'bin/awk': '#!/usr/bin/awk -f\none\n# the same program\n',
  })
})
