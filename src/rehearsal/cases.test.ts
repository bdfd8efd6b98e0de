import assert from 'node:assert/strict'
import { test } from 'node:test'
import { casesFor } from './cases.ts'

test('criteria of a known form become cases that look at what they say; the others are named', () => {
  const { said, passedOver } = casesFor(
    [
      '- C1: `node greet.mjs Ada` prints "Hello, Ada!"',
      '- C2: `make nothing` exits 2',
      "- C3: the file notes.txt contains `it's milk`",
      '- C4: out/made.txt exists',
      '- C5: it is fast',
    ].join('\n'),
  )
  assert.deepEqual(passedOver, ['C5'])
  const body = (index: number) => String(said.calls![index]!.input['script']).split('\n').slice(4).join('\n')
  assert.deepEqual([0, 1, 2, 3].map(body), [
    `actual=$(node greet.mjs Ada 2>&1) || true\necho "$actual"\necho "$actual" | grep -qF -- 'Hello, Ada!'\n`,
    'code=0\nmake nothing || code=$?\necho "exit code $code"\n[ "$code" -eq 2 ]\n',
    `cat 'notes.txt' 2>/dev/null || true\ngrep -qF -- 'it'\\''s milk' 'notes.txt'\n`,
    `ls -l 'out/made.txt' || true\ntest -f 'out/made.txt'\n`,
  ])
  assert.deepEqual(
    said.calls!.map(({ input }) => input['name']),
    [
      'c1-node-greet-mjs-ada-prints-hello-ada',
      'c2-make-nothing-exits-2',
      'c3-the-file-notes-txt-contains-it-s-milk',
      'c4-out-made-txt-exists',
    ],
  )
})
