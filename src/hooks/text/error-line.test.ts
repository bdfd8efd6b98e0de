import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorLine } from './error-line.ts'

test('the line that says why a program ended: its uncaught error, else its first', () => {
  const python =
    'Traceback (most recent call last):\n  File "guard.py", line 3, in <module>\n    a["x"]\nKeyError: \'x\'\n'
  const chained = `${python}\nDuring handling of the above exception, another exception occurred:\n\n${python}policy.LoadError: no policy\n`
  const node =
    '/a/guard.mjs:1\nthrow new TypeError("bad")\n^\n\nTypeError: bad\n    at /a/guard.mjs:1\n\nNode.js v26.10.0\n'
  const code = 'node:fs:1\n\nError [ERR_X]: no\n    at open {\n  code: 1\n}\n'
  assert.deepEqual(
    [
      python,
      chained,
      node,
      code,
      '\n  bash: line 1: x: command not found\nmore\n',
      '',
      ' \n',
      'Errors: 3\nlast',
      'x'.repeat(400),
    ].map(errorLine),
    [
      ...["KeyError: 'x'", 'policy.LoadError: no policy', 'TypeError: bad', 'Error [ERR_X]: no'],
      ...['bash: line 1: x: command not found', '', '', 'Errors: 3', 'x'.repeat(300)],
    ],
  )
})

test('a long line is looked through no further than it is shown', () => {
  const started = performance.now()
  const line = 'Error.'.repeat(60_000)
  assert.equal(errorLine(`guard: rejected\n${line}\n`), 'guard: rejected')
  assert.equal(errorLine(`guard: rejected\nError: ${line}\n`), `Error: ${line}`.slice(0, 300))
  assert.ok(performance.now() - started < 2_000)
})
