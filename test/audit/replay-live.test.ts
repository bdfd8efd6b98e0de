/** Replayed with the settings that were in force, every recorded call comes out as it did: random rules, hooks and calls. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sized } from '../support/campaign-size.ts'
import { testModel } from '../support/model/model.ts'
import { place } from '../support/program.ts'

const rules = [
  ...['Read', 'Read(src/**)', 'Read(.env)', 'Read(~/**)', 'Edit', 'Edit(src/**)', 'Edit(/out.txt)', 'Write(docs/**)'],
  ...[
    'Bash(npm test *)',
    'Bash(git *)',
    'Bash(git push *)',
    'Bash(touch *)',
    'Bash(touch src/*)',
    'Bash(rm *)',
    'Bash',
  ],
  ...['Grep', 'Glob', 'WebFetch(domain:example.com)', 'WebFetch', 'Agent', 'TodoWrite', 'mcp__x__y', 'Bash(echo:*)'],
]

const commands = [
  ...[
    'touch a',
    'touch src/a',
    'touch a && touch b',
    'touch a; rm -f b',
    'rm -f a',
    'git status',
    'git push -f',
    'ls -l',
  ],
  ...[
    'git log --oneline | head -3',
    'echo $(touch z)',
    'echo "a b" > out.txt',
    'cat .env',
    'cat src/a.ts',
    'cd src && touch c',
  ],
  ...[
    'npm test -- x',
    'env A=1 touch a',
    'sh -c "touch q"',
    'touch $X',
    'find . -delete',
    'false || touch d',
    'cat <<E\nx\nE',
  ],
]

const paths = [
  'src/a.ts',
  '.env',
  'out.txt',
  'docs/b.md',
  '../outside.txt',
  'src/../.env',
  '.ona/settings.json',
  'none.txt',
]

const hook = `import { defineHook } from 'ona/hooks'
export default defineHook('PreToolUse', ({ tool_name, tool_input }) => {
  const text = JSON.stringify(tool_input)
  const say = (permissionDecision) => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason: 'says the hook' } })
  if (text.includes('b.md')) return say('deny')
  if (text.includes('touch a;')) return say('ask')
  if (tool_name === 'Bash' && text.includes('-l')) return say('allow')
  return undefined
})
`

/** Numbers from a seed, so that a failure can be repeated. */
function random(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

async function liveAndReplayed(t: TestContext, seed: number): Promise<void> {
  const below = random(seed)
  const pick = <T>(from: readonly T[]): T => from[below(from.length)]!
  const here = place(t)
  const pathIn = () => (below(4) === 0 ? pick(paths) : join(here.folder, pick(paths)))
  const call = () => {
    const kind = below(6)
    if (kind < 3) return { name: 'Bash', input: { command: pick(commands) } }
    if (kind === 3) return { name: 'Read', input: { file_path: pathIn() } }
    if (kind === 4) return { name: 'Write', input: { file_path: pathIn(), content: 'x' } }
    return pick([
      { name: 'Grep', input: { pattern: 'a' } },
      { name: 'Glob', input: { pattern: '**/*.ts' } },
      { name: 'TodoWrite', input: { todos: [] } },
      { name: 'Edit', input: { file_path: pathIn(), old_string: 'a', new_string: 'b' } },
    ])
  }
  const some = () => Array.from({ length: below(5) }, () => pick(rules))
  const mode = pick(['default', 'acceptEdits', 'dontAsk'])
  here.write('src/a.ts', 'const a = 1\n')
  here.write('.env', 'SECRET=1\n')
  here.write('guard.ts', hook)
  const settings = {
    permissions: { allow: some(), ask: some(), deny: some() },
    hooks: [{ hook_event_name: 'PreToolUse', type: 'function', file: './guard.ts' }],
  }
  here.write('.ona/settings.json', settings)
  const batches = Array.from({ length: 8 }, () => ({ calls: Array.from({ length: 5 }, call) }))
  const { env } = await testModel(t, batches)
  const run = await here.run(['-p', 'go', '--trust', '--permission-mode', mode], { env, timeoutMs: 120_000 })
  assert.equal(run.code, 0, run.stderr)
  const replayed = await here.run(['hooks', 'replay', '--json', '--mode', mode], { env })
  assert.equal(replayed.code, 0, replayed.stderr)
  const { calls, same, changes, not_judged } = JSON.parse(replayed.stdout)
  const about = JSON.stringify({ seed, mode, settings, changes }, null, 1)
  assert.deepEqual(changes, [], about)
  assert.equal(calls, 40, about)
  assert.equal(same + not_judged, calls, about)
}

const seeds = Number(process.env['ONA_REPLAY_SEEDS'] || sized(2, 3))
for (let seed = 1; seed <= seeds; seed++)
  test(`rules, hooks and calls of seed ${seed}`, (t) => liveAndReplayed(t, seed))
