/** What is remembered from line to line changes no ruling. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import type { PermissionMode } from '../../hooks/plane.ts'
import { decide } from '../decide.ts'
import { rememberingView } from '../paths/view.ts'
import type { PermissionQuestion } from '../question.ts'
import { builtinRules } from '../rules/builtin-rules.ts'
import { byName } from './parse/by-name.ts'
import { readShell } from './parse/read.ts'

const w = realpathSync(mkdtempSync(join(tmpdir(), 'ona-memory-')))
after(() => rmSync(w, { recursive: true, force: true }))
for (const folder of ['src', 'secrets', '.git']) mkdirSync(join(w, folder))
for (const file of ['.env', 'src/a.ts', 'secrets/key', '.git/config']) writeFileSync(join(w, file), 'x\n')
symlinkSync('secrets', join(w, 'link'))

const commands = fc.constantFrom(
  ...['git status', 'git log --oneline', 'git -C src log', 'cat .env', 'cat src/a.ts', 'cat link/key', 'grep -rn x .'],
  ...[
    'rm -rf src',
    'rm -rf build',
    'cp -r src out',
    'cp .env out/',
    'tar xf a.tar',
    'sed -n 1,5p src/a.ts',
    'sed -i s/a/b/ x',
  ],
  ...[
    'python3 -c "print(1)"',
    'node x.js',
    'echo x > src/b.ts',
    'echo y > x.js',
    'NODE_ENV=test npm test',
    'PATH=. ls',
  ],
  ...[
    'cd src',
    'cd $X',
    'find . -delete',
    'xargs rm',
    'cat $X',
    'cat "$HOME/.ona/agent.db"',
    'ls *.ts',
    'sudo ls',
    'cat < .env',
  ],
  ...[
    '/usr/bin/git push',
    'timeout 5 git push',
    'env X=1 rm x',
    'for f in a; do rm $f; done',
    'echo $(rm x)',
    'tee a <<< b',
  ],
)
const glue = fc.constantFrom('; ', ' && ', ' | ', '\n')
const line = fc
  .array(fc.tuple(commands, glue), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.map(([command, between], at) => (at === 0 ? command : between + command)).join(''))

const policies: readonly Pick<PermissionQuestion, 'settings' | 'mode'>[] = (
  [
    ['default', { allow: ['Bash(git *)', ...builtinRules], deny: ['Bash(rm *)', 'Read(.env)', 'Edit(/src/**)'] }],
    ['acceptEdits', { allow: ['Bash'], ask: ['Bash(git push *)', 'Read(secrets/**)'] }],
    ['dontAsk', { allow: ['Bash(cat *)', 'Bash(cp *)', 'Bash(npm test)', 'Write'], deny: ['Bash(* -i *)'] }],
  ] as const satisfies readonly (readonly [PermissionMode, object])[]
).map(([mode, settings]) => ({ mode, settings }))

test('a ruling is the same beside others, under other policies, as alone', async () => {
  const files = rememberingView({ lasting: true })
  let lines = 0
  const asked = { tool: 'Bash', hook: 'none', cwd: w, projectDir: w, home: '/home/ada' } as const
  await fc.assert(
    fc.asyncProperty(line, async (command) => {
      for (const policy of policies) {
        const question = { ...asked, ...policy, input: { command } }
        // a comment makes it a line that was never read
        const alone = await decide({ ...question, input: { command: `${command} # ${++lines}` } })
        for (const _ of [1, 2]) assert.deepEqual(await decide({ ...question, files }), alone)
      }
    }),
    { numRuns: 150 },
  )
})

test('a command is read the same in whichever line it stands', () => {
  const read = (source: string) => {
    const { commands, unknown } = readShell(source)
    return { commands: commands.map(({ known: _, ...command }) => command), unknown }
  }
  fc.assert(
    fc.property(fc.array(commands, { minLength: 1, maxLength: 4 }), (all) => {
      const parts = all.map(read)
      assert.deepEqual(read(all.join('\n')), {
        commands: parts.flatMap(({ commands }) => commands),
        unknown: parts.find(({ unknown }) => unknown !== undefined)?.unknown,
      })
    }),
    { numRuns: 500 },
  )
})

test('a command with a here-document is read again for each of its bodies', () => {
  const inputs = ['one', 'one', 'two', 'three'].map((body) => readShell(`cat <<END\n${body}\nEND`).commands[0]!.input)
  assert.deepEqual(inputs, [['one\n'], ['one\n'], ['two\n'], ['three\n']])
})

test('what follows from a name is worked out once, for five hundred names of a hundred letters at most', () => {
  const worked: string[] = []
  const of = byName((name) => {
    worked.push(name)
    return name === 'none' ? undefined : name.length
  })
  const [short, long] = ['x'.repeat(100), 'x'.repeat(101)]
  assert.deepEqual(['none', 'none', short, short, long, long].map(of), [undefined, undefined, 100, 100, 101, 101])
  assert.deepEqual(worked, ['none', short, long, long])
  for (let at = 0; at < 499; at++) of(`name ${at}`)
  assert.deepEqual([of(short), worked.filter((name) => name === short).length], [100, 2])
})
