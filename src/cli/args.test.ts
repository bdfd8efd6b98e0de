import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readArgs } from './args.ts'

const rows = {
  json: 'flag',
  cwd: { kind: 'value', short: 'C', value: 'DIR' },
  resume: 'maybe',
  allow: { kind: 'each', also: ['allowed'] },
  tools: { kind: 'list', split: (word: string) => word.split(',') },
  hooks: 'any',
  mode: { kind: 'value', oneOf: ['plan', 'default'] },
} as const
const read = (line: string) => readArgs(line === '' ? [] : line.split(' '), rows)

test('each kind of flag takes what belongs to it and leaves the other words', () => {
  const lines: Record<string, [object, string[]]> = {
    '': [{}, []],
    'a --json b': [{ json: true }, ['a', 'b']],
    '--cwd /x a': [{ cwd: '/x' }, ['a']],
    '--cwd=/x=y -C /z': [{ cwd: '/z' }, []],
    '--cwd= a': [{ cwd: '' }, ['a']],
    '--resume --json': [{ resume: '', json: true }, []],
    '--resume 7 a': [{ resume: '7' }, ['a']],
    '--allow a --allowed b c': [{ allow: ['a', 'b'] }, ['c']],
    '--tools a,b c --json --tools=d': [{ tools: ['a', 'b', 'c', 'd'], json: true }, []],
    '--hooks --json': [{ hooks: [], json: true }, []],
    '--hooks a b': [{ hooks: ['a', 'b'] }, []],
    '--mode plan': [{ mode: 'plan' }, []],
    '--json -- --cwd -x': [{ json: true }, ['--cwd', '-x']],
    '--cwd - -': [{ cwd: '-' }, ['-']],
  }
  for (const [line, [flags, words]] of Object.entries(lines))
    assert.deepEqual(read(line), { ok: true, flags, words }, line)
})

test('a text that begins with a dash is a value like any other', () => {
  assert.deepEqual(readArgs(['--cwd', '- be brief', '-f is a flag of theirs'], rows), {
    ok: true,
    flags: { cwd: '- be brief' },
    words: ['-f is a flag of theirs'],
  })
})

test('what is wrong is named, with what was probably meant', () => {
  const lines = {
    '--jsn': 'unknown flag --jsn; did you mean --json?',
    '--js': 'unknown flag --js; did you mean --json?',
    '--verbose':
      'unknown flag --verbose; known flags: --json, --cwd, --resume, --allow, --allowed, --tools, --hooks, --mode',
    '-x': 'unknown flag -x; known flags: --json, --cwd, --resume, --allow, --allowed, --tools, --hooks, --mode',
    '--cwd': '--cwd needs a value: DIR',
    '--cwd --json': '--cwd needs a value: DIR',
    '--allow': '--allow needs a value',
    '--tools --json': '--tools needs a value',
    '--json=yes': '--json takes no value',
    '--mode plam': '--mode is "plam"; did you mean "plan"?',
    '--mode everything': '--mode is "everything"; it must be one of plan, default',
  }
  for (const [line, why] of Object.entries(lines)) assert.deepEqual(read(line), { ok: false, why }, line)
})

test('with upToWord, the first word ends the flags', () => {
  assert.deepEqual(readArgs(['--json', 'files', '--', 'npx', '-y', '--json'], rows, { upToWord: true }), {
    ok: true,
    flags: { json: true },
    words: ['files', '--', 'npx', '-y', '--json'],
  })
})

test('no line of words makes it throw, and no word is lost behind --', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.array(fc.string()), (before, after) => {
      const read = readArgs([...before, '--', ...after], rows)
      const cut = before.includes('--')
      assert.ok(!read.ok || cut || read.words.slice(read.words.length - after.length).join() === after.join())
    }),
  )
})
