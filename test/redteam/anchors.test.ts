/** A deny rule keeps its anchors: no worktree, added folder or sub-folder gives an agent what the project denies. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Chat } from '../../src/rehearsal/chat.ts'
import { call, testModel } from '../support/model/model.ts'
import { type Place, place } from '../support/program.ts'

const canary = 'CANARY-4711'

/** A repository with a committed `.env` and, where `denied`, a rule against it. */
function repository(t: TestContext, denied: boolean): Place {
  const here = place(t)
  here.write('.env', `TOKEN=${canary}\n`)
  here.write('other/.env', `TOKEN=${canary}\n`)
  here.write('sub/readme.md', 'text\n')
  here.write('.ona/settings.json', {
    permissions: { allow: ['Read', 'Bash(cat *)'], ...(denied && { deny: ['Read(.env)', 'Read(other/**)'] }) },
  })
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: here.folder })
  git('init', '-q')
  git('add', '-A', '-f')
  git('commit', '-qm', 'all')
  return here
}

const ofTask = (chat: Chat) => JSON.stringify(chat.messages).includes('read it for me')

/** What reached the model of the session or of its sub-agent. */
async function reached(
  here: Place,
  t: TestContext,
  inputs: object[],
  words: readonly string[],
  aside: boolean,
): Promise<string> {
  const reads = inputs.map((input) =>
    'command' in input ? call('Bash', input as never) : call('Read', input as never),
  )
  const start = { description: 'd', prompt: 'read it for me', subagent_type: 'general-purpose', isolation: 'worktree' }
  const { env, chats } = await testModel(t, aside ? [call('Agent', start), ...reads] : reads)
  const run = await here.run(['-p', 'go', '--trust', ...words], { env, timeoutMs: 120_000 })
  assert.equal(run.code, 0, run.stderr)
  if (aside) assert.ok(chats.some(ofTask), 'the sub-agent was asked')
  return JSON.stringify(chats)
}

interface Way {
  readonly words?: readonly string[]
  readonly aside?: true
  inputs(here: Place): object[]
}

const ways: Record<string, Way> = {
  'a sub-agent in a worktree reads the project': {
    aside: true,
    inputs: ({ folder }) => [{ file_path: join(folder, '.env') }, { command: `cat ${join(folder, '.env')}` }],
  },
  'a sub-agent in a worktree reads its own copy': {
    aside: true,
    inputs: () => [{ file_path: '.env' }, { command: 'cat .env' }, { command: 'cat other/.env' }],
  },
  '--worktree reads the project': {
    words: ['--worktree', 'aside'],
    inputs: ({ folder }) => [{ file_path: join(folder, '.env') }, { file_path: join(folder, 'other/.env') }],
  },
  '--worktree reads its own copy': {
    words: ['--worktree', 'aside'],
    inputs: () => [{ file_path: '.env' }, { command: 'cat ./.env other/.env' }],
  },
  'after a move into a sub-folder': {
    inputs: () => [{ command: 'cd sub && cat ../.env' }, { command: 'cd sub' }, { command: 'cat ../.env' }],
  },
}

for (const [name, { words = [], aside, inputs }] of Object.entries(ways))
  test(name, async (t) => {
    const open = repository(t, false)
    assert.match(await reached(open, t, inputs(open), words, aside === true), new RegExp(canary), 'the control sees it')
    const shut = repository(t, true)
    assert.doesNotMatch(await reached(shut, t, inputs(shut), words, aside === true), new RegExp(canary))
  })

test('a folder that is added: Read(.env) holds there too', async (t) => {
  for (const denied of [false, true]) {
    const here = repository(t, denied)
    const added = join(here.home, 'added')
    mkdirSync(added)
    writeFileSync(join(added, '.env'), `TOKEN=${canary}\n`)
    const seen = await reached(here, t, [{ file_path: join(added, '.env') }], ['--add-dir', added], false)
    assert.equal(seen.includes(canary), !denied)
  }
})
