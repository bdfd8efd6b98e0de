import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyText } from '../../test/support/any-text.ts'
import { understand } from './requests.ts'

/** The calls of a request, without the words around them. */
const calls = (request: string) =>
  understand(request).map((step) => ('call' in step ? [step.call, step.input] : step.say))
const read = (file_path: string) => ['Read', { file_path }]
const bash = (command: string) => ['Bash', { command, description: `Run ${command}` }]
const grep = (pattern: string, path?: string) => ['Grep', { pattern, output_mode: 'content', ...(path && { path }) }]

const understood: [string, unknown[]][] = [
  ['help', ['guide']],
  ['What can you do?', ['guide']],
  ['list the files', [['Glob', { pattern: '*' }]]],
  ['ls', [['Glob', { pattern: '*' }]]],
  ['list the files in src', [['Glob', { pattern: '*', path: 'src' }]]],
  ['show me the files in the src folder', [['Glob', { pattern: '*', path: 'src' }]]],
  ['list files in here', [['Glob', { pattern: '*' }]]],
  ['ls docs', [['Glob', { pattern: '*', path: 'docs' }]]],
  ['list *.ts in src', [['Glob', { pattern: '*.ts', path: 'src' }]]],
  ['find files named *.md', [['Glob', { pattern: '**/*.md' }]]],
  ['read package.json', [read('package.json')]],
  ['please show me the file "my notes.txt"', [read('my notes.txt')]],
  ['cat src/a.ts', [read('src/a.ts')]],
  ['read lines 10-20 of a.txt', [['Read', { file_path: 'a.txt', offset: 10, limit: 11 }]]],
  ['write "hello" to notes.txt', [['Write', { file_path: 'notes.txt', content: 'hello\n' }]]],
  [
    'create a file called a.txt with the text hello there',
    [['Write', { file_path: 'a.txt', content: 'hello there\n' }]],
  ],
  ['write a.js:\n```js\nlet a = 1\n```', [['Write', { file_path: 'a.js', content: 'let a = 1\n' }]]],
  [
    'replace "a b" with "c d" in x.txt',
    [read('x.txt'), ['Edit', { file_path: 'x.txt', old_string: 'a b', new_string: 'c d' }]],
  ],
  ['in x.txt, change a to b', [read('x.txt'), ['Edit', { file_path: 'x.txt', old_string: 'a', new_string: 'b' }]]],
  [
    'edit x.txt to replace a with ""',
    [read('x.txt'), ['Edit', { file_path: 'x.txt', old_string: 'a', new_string: '' }]],
  ],
  ['run npm test', [bash('npm test')]],
  ['run the tests', [bash('npm test')]],
  ['run `git status`', [bash('git status')]],
  ['$ ls -la', [bash('ls -la')]],
  ['search for TODO', [grep('TODO')]],
  ['search for "two words" in src', [grep('two words', 'src')]],
  ['grep foo in lib', [grep('foo', 'lib')]],
  ['where is main', [grep('main')]],
  ['fetch https://example.org/a', [['WebFetch', { url: 'https://example.org/a', prompt: 'What does this page say?' }]]],
  ['call Glob {"pattern": "**/*.md"}', [['Glob', { pattern: '**/*.md' }]]],
  ['use mcp__files__list with {}', [['mcp__files__list', {}]]],
  [
    'ask an explore agent to list the files',
    [['Agent', { description: 'list the files', prompt: 'list the files', subagent_type: 'explore' }]],
  ],
  ['ask an agent to read a.txt', [['Agent', { description: 'read a.txt', prompt: 'read a.txt' }]]],
  [
    'todo: write it; test it',
    [
      [
        'TodoWrite',
        {
          todos: [
            { content: 'write it', status: 'in_progress', activeForm: 'write it' },
            { content: 'test it', status: 'pending', activeForm: 'test it' },
          ],
        },
      ],
    ],
  ],
  ['read a.txt, then run npm test', [read('a.txt'), bash('npm test')]],
  ['read a.txt\nread b.txt', [read('a.txt'), read('b.txt')]],
  ['write "now and then" to a.txt', [['Write', { file_path: 'a.txt', content: 'now and then\n' }]]],
]
for (const [request, expected] of understood) {
  test(`"${request}" is understood`, () => assert.deepEqual(calls(request), expected))
}

test('a plan is entered, written and put to the user', () => {
  const [enter, exit] = calls('plan: add a greeting; write it; test it') as [unknown[], [string, { plan: string }]]
  assert.deepEqual(enter, ['EnterPlanMode', {}])
  assert.equal(exit[0], 'ExitPlanMode')
  assert.match(
    exit[1].plan,
    /^# Plan: add a greeting\n\n## Steps\n\n1\. write it\n2\. test it\n\n## Success criteria\n\n- /,
  )
})

test('what is not understood is nothing, and anything may be typed', () => {
  assert.deepEqual(calls('sing me a song about the sea'), [])
  assert.deepEqual(calls('read a.txt, then sing'), [])
  assert.match(String(calls('call Glob {"pattern": }')[0]), /not JSON/)
  fc.assert(fc.property(anyText({ maxLength: 300 }), (text) => Array.isArray(understand(text))))
  const long = 'then read "a '.repeat(1500)
  const started = performance.now()
  understand(long)
  assert.ok(performance.now() - started < 5000)
})
