/** Files that are damaged, wrongly encoded, huge or no files at all: nothing is fatal, everything is counted and shown. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { zstdCompressSync } from 'node:zlib'
import { type Place, place } from '../support/program.ts'

const fixtures = join(import.meta.dirname, '../fixtures/histories')

/** A real file of each agent, and where files beside it belong. */
const agents: Readonly<Record<string, { sample: string; at: (name: string) => string }>> = {
  claude: {
    sample: 'projects/-repo/8faf19ec-18c1-47cc-90c0-affb245db616.jsonl',
    at: (name) => `.claude/projects/-p/${name}.jsonl`,
  },
  codex: {
    sample: 'sessions/2026/11/15/rollout-2026-11-15T11-47-50-01a1df08-fafe-71a1-be4f-fb1c2c9dee15.jsonl',
    at: (name) => `.codex/sessions/2026/rollout-${name}.jsonl`,
  },
  copilot: {
    sample: 'session-state/4e4e3bb0-9b06-41c2-99b9-16d5baa541a7/events.jsonl',
    at: (name) => `.copilot/session-state/${name}/events.jsonl`,
  },
  gemini: {
    sample: 'tmp/repo/chats/session-2026-11-15T11-47-53e3fff7.jsonl',
    at: (name) => `.gemini/tmp/p/chats/session-${name}.jsonl`,
  },
  qwen: {
    sample: 'projects/-repo/chats/37966f6c-d14c-4843-9262-268cb3e3ba76.jsonl',
    at: (name) => `.qwen/projects/-p/chats/${name}.jsonl`,
  },
  pi: {
    sample: 'sessions/--repo--/2026-11-15T11-48-35-891Z_01a1df09-adb2-7641-8b26-c4854ed03aa6.jsonl',
    at: (name) => `.pi/agent/sessions/--p--/${name}.jsonl`,
  },
  cursor: {
    sample: '-repo/agent-transcripts/0c1d/0c1d.jsonl',
    at: (name) => `.cursor/projects/p/agent-transcripts/${name}/${name}.jsonl`,
  },
  vscode: {
    sample: '5f3a/chatSessions/3d2c9a50-6a0e-4d0e-9b2e-1f0c22ab0001.jsonl',
    at: (name) => `.config/Code/User/workspaceStorage/p/chatSessions/${name}.jsonl`,
  },
}

function damaged(sample: Buffer): Readonly<Record<string, Buffer>> {
  const noise = Buffer.from(Array.from({ length: 20_000 }, (_, n) => (n * n * 31 + (n >> 3)) & 0xff))
  return {
    empty: Buffer.alloc(0),
    noise,
    zeros: Buffer.alloc(10_000),
    half: sample.subarray(0, Math.floor(sample.length * 0.6)),
    utf16: Buffer.from(sample.toString('utf8'), 'utf16le'),
    deep: Buffer.from(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}\n${'['.repeat(100_000)}\n`),
    'no objects': Buffer.from('null\n[]\n3\n"x"\ntrue\n'),
    'name\nwith $(every) \u00fc\u{1f600} "kind"': Buffer.from('not json\n'),
  }
}

function put(here: Place, path: string, content: Buffer | string): string {
  const file = join(here.home, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  return file
}

async function importing(t: TestContext, agent: string, files: Readonly<Record<string, Buffer>>) {
  const { sample, at } = agents[agent]!
  const here = place(t)
  const whole = readFileSync(join(fixtures, agent, sample))
  put(here, at('z-whole'), whole)
  for (const [name, content] of Object.entries(files)) put(here, at(name), content)
  const ran = await here.run(['audit', 'import', agent, '--all', '--json'])
  assert.equal(ran.code, 0, ran.stderr)
  const [{ calls, unreadable }] = JSON.parse(ran.stdout).agents
  return { here, calls, unreadable }
}

for (const [agent, { sample }] of Object.entries(agents))
  test(`damaged files of ${agent} are counted, and the whole one beside them is imported`, async (t) => {
    const alone = await importing(t, agent, {})
    const { half, ...others } = damaged(readFileSync(join(fixtures, agent, sample)))
    // half of a session is a copy of it; Cursor's sessions are known by their files alone
    const among = await importing(t, agent, agent === 'cursor' ? others : { half: half!, ...others })
    assert.equal(among.calls, alone.calls)
    assert.ok(among.unreadable >= 8, `${among.unreadable} unreadable lines`)
    assert.deepEqual(
      among.here.rows('PRAGMA integrity_check').map((row) => Object.values(row)),
      [['ok']],
    )
  })

test('a packed file that is damaged is named, and what precedes the damage is kept', async (t) => {
  const here = place(t)
  const { sample, at } = agents['codex']!
  const packed = zstdCompressSync(readFileSync(join(fixtures, 'codex', sample)))
  const broken = Buffer.from(packed)
  for (let n = 40; n < broken.length; n += 7) broken[n]! ^= 0x55
  put(here, `${at('broken')}.zst`, broken)
  put(here, `${at('cut')}.zst`, packed.subarray(0, packed.length / 2))
  put(here, `${at('none')}.zst`, 'no zstd')
  put(here, `${at('whole')}.zst`, packed)
  const ran = await here.run(['audit', 'import', 'codex', '--all', '--json'])
  const { agents: found, problems } = JSON.parse(ran.stdout)
  assert.equal(ran.code, 1)
  assert.deepEqual(
    problems.map((problem: string) => /rollout-(\w+)\.jsonl\.zst cannot be read: /.exec(problem)?.[1]),
    ['broken', 'cut', 'none'],
  )
  assert.equal(found[0].calls, 13)
})

test('a database that is none, or another, is named; its neighbours are read', async (t) => {
  const here = place(t)
  const database = readFileSync(join(fixtures, 'opencode/opencode.db'))
  const at = (name: string) => `.local/share/opencode/opencode${name}.db`
  put(here, at(''), database)
  put(here, at('-empty'), '')
  put(here, at('-text'), 'no database')
  put(here, at('-half'), database.subarray(0, database.length / 2))
  const ran = await here.run(['audit', 'import', 'opencode', '--all', '--json'])
  const { agents: found, problems } = JSON.parse(ran.stdout)
  assert.deepEqual(
    [ran.code, problems.map((problem: string) => /opencode-(\w+)\.db cannot be read: /.exec(problem)?.[1])],
    [1, ['half', 'text']],
  )
  assert.equal(found[0].calls, 14)
})

test('links, pipes and folders in the place of files are not opened, and shown', async (t) => {
  const here = place(t)
  const { sample, at } = agents['claude']!
  const folder = dirname(put(here, at('whole'), readFileSync(join(fixtures, 'claude', sample))))
  execFileSync('mkfifo', [join(folder, 'pipe.jsonl')])
  mkdirSync(join(folder, 'folder.jsonl'))
  symlinkSync('/dev/zero', join(folder, 'device.jsonl'))
  symlinkSync('..', join(folder, 'loop'))
  symlinkSync('self', join(folder, 'self'))
  const { code, stdout } = await here.run(['audit', 'import', 'claude', '--all', '--json'])
  const { agents: found, not_read, problems } = JSON.parse(stdout)
  assert.deepEqual([code, found[0].calls, problems], [0, 12, []])
  assert.deepEqual(not_read, [
    `${join(folder, 'device.jsonl')} is not read: links are not followed`,
    `${join(folder, 'loop')} is not read: links are not followed`,
    `${join(folder, 'pipe.jsonl')} is not read: it is not a file`,
  ])
})

test('a line of 100 MB is counted and skipped, and memory stays bounded', async (t) => {
  const here = place(t)
  const { sample, at } = agents['claude']!
  const line = Buffer.alloc(100_000_000, 'x')
  line[line.length - 1] = 10
  put(here, at('long'), Buffer.concat([line, readFileSync(join(fixtures, 'claude', sample))]))
  const { code, stdout } = await here.run(['audit', 'import', 'claude', '--all', '--json'])
  const [{ calls, unreadable }] = JSON.parse(stdout).agents
  assert.deepEqual([code, calls, unreadable], [0, 12, 1])
})

test('names of unknown records are cut, and shown without control characters', async (t) => {
  const here = place(t)
  const record = (type: string) => JSON.stringify({ type, sessionId: 's', timestamp: '2026-11-16T10:00:00Z' })
  const types = [
    '__proto__',
    '\u001b]0;title\u0007',
    'x'.repeat(10_000),
    ...Array.from({ length: 100 }, (_, n) => `t${n}`),
  ]
  put(here, agents['claude']!.at('s'), types.map((type) => `${record(type)}\n`).join(''))
  const { stdout } = await here.run(['audit', 'import', 'claude', '--all'])
  assert.match(stdout, /__proto__ × 1, .*title.* × 1, x{60}… × 1, t0 × 1, .*others × 63/)
  assert.ok(!stdout.includes('\u001b'))
})
