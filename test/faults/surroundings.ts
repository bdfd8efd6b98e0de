/** What happens when the disk, the home, the clock, the database or PATH are not as they should be. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { type Case, campaign, type Tally } from '../support/campaign.ts'
import { onaFile, type World, world } from '../support/world.ts'

const call = (tool: string, input: object) => ['--eval', JSON.stringify({ tool, input })]
const list = call('Glob', { pattern: '*' })

/** It failed as an operator can understand: a code, a line that begins with our name, no stack. */
function told(ran: { code: number | null; stderr: string; stdout: string }, pattern = /./): void {
  assert.equal(ran.code, 1, `exit code ${ran.code}: ${ran.stderr}`)
  assert.match(ran.stderr, /^ona: /m)
  assert.match(ran.stderr, pattern)
  assert.doesNotMatch(ran.stderr, /\n\s+at |bug in ona/)
}

async function works(at: World): Promise<void> {
  const ran = await at.run(list)
  assert.equal(ran.code, 0, ran.stderr)
  assert.deepEqual({ ...at.sql('PRAGMA integrity_check')[0] }, { integrity_check: 'ok' })
}

/** Every file may grow to this many kilobytes, as on a disk that fills up. */
const onFullDisk = (at: World, kilobytes: number, words: readonly string[]) =>
  new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const script = `trap '' XFSZ; ulimit -f ${kilobytes}; exec "$@"`
    const child = spawn('bash', ['-c', script, 'bash', process.execPath, onaFile, ...words], {
      cwd: at.folder,
      env: at.env,
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (piece) => (stdout += piece))
    child.stderr.on('data', (piece) => (stderr += piece))
    child.on('close', (code) => resolve({ code, stdout, stderr }))
    child.stdin.end()
  })

type Work = (at: World) => Promise<void>

const nobody = 65534
const isRoot = process.getuid?.() === 0

const faults: Record<string, Work> = {
  'the disk is full while the database is made': async (at) => {
    told(await onFullDisk(at, 20, ['--init-db']), /full|space|large|disk|write/i)
    await works(at)
  },
  'the disk is full in the middle of a session': async (at) => {
    await works(at)
    const size = 600
    const ran = await onFullDisk(at, size, call('Bash', { command: `head -c ${size * 3000} /dev/zero | tr '\\0' x` }))
    assert.notEqual(ran.code, 0)
    assert.doesNotMatch(ran.stderr, /\n\s+at /)
    await works(at)
  },
  'a file that is written when the disk is full is as it was before': async (at) => {
    await works(at)
    const file = join(at.folder, 'kept.txt')
    const before = 'a'.repeat(5_000)
    writeFileSync(file, before)
    await at.run(call('Read', { file_path: file }))
    const grow = { file_path: file, old_string: 'a', new_string: 'x'.repeat(200), replace_all: true }
    assert.notEqual((await onFullDisk(at, 400, call('Edit', grow))).code, 0)
    assert.equal(readFileSync(file, 'utf8'), before)
    assert.deepEqual(readdirSync(at.folder), ['kept.txt'])
    await works(at)
  },
  'the database cannot be written': async (at) => {
    await works(at)
    if (!isRoot) {
      chmodSync(at.db, 0o444)
      chmodSync(join(at.home, '.ona'), 0o555)
      told(await at.run(list), /cannot be written/)
      chmodSync(join(at.home, '.ona'), 0o755)
      chmodSync(at.db, 0o644)
      return works(at)
    }
    // root may write anything: another user asks
    chmodSync(at.root, 0o755)
    for (const folder of [at.home, join(at.home, '.ona'), at.folder]) chmodSync(folder, 0o755)
    for (const name of readdirSync(join(at.home, '.ona'))) chmodSync(join(at.home, '.ona', name), 0o644)
    told(await at.run(list, { uid: nobody }), /cannot be written/)
    await works(at)
  },
  'the folder cannot be written': async (at) => {
    chmodSync(at.root, 0o755)
    chmodSync(at.folder, 0o555)
    if (isRoot) for (const folder of [at.home]) chownSync(folder, nobody, nobody)
    const write = call('Write', { file_path: join(at.folder, 'x'), content: 'y' })
    const ran = await at.run(write, isRoot ? { uid: nobody } : {})
    assert.equal(ran.code, 1, ran.stderr)
    assert.match(ran.stdout, /"is_error":true/)
    chmodSync(at.folder, 0o755)
  },
  'the database is no database': async (at) => {
    mkdirSync(join(at.home, '.ona'))
    writeFileSync(at.db, 'not a database at all, but a letter to somebody '.repeat(50))
    told(await at.run(list), /agent\.db/)
  },
  'the database is a folder': async (at) => {
    mkdirSync(at.db, { recursive: true })
    told(await at.run(list), /agent\.db/)
  },
  'the database ends in the middle': async (at) => {
    await works(at)
    const { truncateSync, statSync } = await import('node:fs')
    truncateSync(at.db, Math.floor(statSync(at.db).size / 3))
    told(await at.run(list), /agent\.db/)
  },
  'rows of it are from the future: the clock was set back': async (at) => {
    await works(at)
    at.sql(`UPDATE conversations SET created_at = '2099-01-01 00:00:00', last_active = '2099-01-01 00:00:00'`)
    at.sql(`UPDATE sessions SET started_at = '2099-01-01 00:00:00'`)
    at.sql(`UPDATE transcript_entries SET created_at = '2099-01-01 00:00:00'`)
    await works(at)
    const gaps = `SELECT 1 FROM transcript_entries GROUP BY session_id HAVING max(sequence) <> count(*) - 1`
    assert.deepEqual(at.sql(gaps), [])
    const said = await at.run(['-p', 'list', '--continue', '--model', 'rehearsal'])
    assert.equal(said.code, 0, said.stderr)
  },
  'there is no home, and the database has a place of its own': async (at) => {
    const { HOME: _, ...env } = at.env
    const ran = await at.run(list, { env: { ...env, AGENT_SDLC_DB: join(at.root, 'x.db') } })
    assert.equal(ran.code, 0, ran.stderr)
  },
  'the home cannot be made': async (at) => told(await at.run(list, { env: { ...at.env, HOME: '/dev/null/home' } })),
  'there is no PATH': async (at) => {
    const { PATH: _, ...env } = at.env
    assert.match((await at.run(call('Bash', { command: 'echo it runs' }), { env })).stdout, /it runs/)
    assert.equal((await at.run(call('Grep', { pattern: 'x' }), { env })).code, 0)
  },
  'PATH leads nowhere': async (at) => {
    const ran = await at.run(call('Bash', { command: 'echo it runs' }), { env: { ...at.env, PATH: '/nowhere' } })
    assert.match(ran.stdout, /it runs/)
  },
  'the temporary folder is gone': async (at) => {
    const ran = await at.run(list, { env: { ...at.env, TMPDIR: '/nowhere/tmp' } })
    assert.equal(ran.code, 0, ran.stderr)
  },
  'the folder is removed under our feet': async (at) => {
    const gone = join(at.root, 'gone')
    mkdirSync(gone)
    const script = `cd '${gone}' && rmdir '${gone}' && exec "$@"`
    const ran = await new Promise<{ code: number | null; stderr: string }>((resolve) => {
      const child = spawn('bash', ['-c', script, 'bash', process.execPath, onaFile, ...list], { env: at.env })
      let stderr = ''
      child.stderr.on('data', (piece) => (stderr += piece))
      child.stdout.resume()
      child.on('close', (code) => resolve({ code, stderr }))
      child.stdin.end()
    })
    assert.equal(ran.code, 1)
    assert.doesNotMatch(ran.stderr, /\n\s+at /)
  },
  'whoever reads us goes away': async (at) => {
    const child = at.start(['-p', 'list', '--output-format', 'stream-json', '--verbose'])
    child.stdout!.destroy()
    child.stdin!.end()
    child.stderr!.resume()
    const code = await new Promise((resolve) => child.on('close', resolve))
    assert.ok(code === 0 || code === 1 || code === 141 || code === null, `exit code ${code}`)
    await works(at)
  },
  'the model’s server is not there': async (at) => {
    const env = {
      ...at.env,
      LM_STUDIO_BASE_URL: 'http://127.0.0.1:9/v1',
      LM_STUDIO_MODEL: 'x',
      CLAUDE_CODE_MAX_RETRIES: '0',
    }
    const ran = await at.run(['-p', 'hello'], { env })
    assert.equal(ran.code, 1)
    assert.match(ran.stdout + ran.stderr, /127\.0\.0\.1:9/)
  },
  'the settings are no JSON': async (at) => {
    mkdirSync(join(at.home, '.ona'))
    writeFileSync(join(at.home, '.ona/settings.json'), '{"permissions":{"deny":["Bash"')
    told(await at.run(list), /settings\.json/)
  },
  'another process holds the database for two seconds': (at) => locked(at, 2_000, 0),
}

/** Only in the long form: they take their time. */
const slow: Record<string, Work> = {
  'another process holds the database for forty seconds': (at) => locked(at, 40_000, 1),
}

async function locked(at: World, ms: number, code: number): Promise<void> {
  await works(at)
  const other = new DatabaseSync(at.db)
  other.exec('BEGIN IMMEDIATE')
  const asked = at.run(list)
  await wait(ms)
  const early = await Promise.race([asked, wait(1)])
  if (code === 1) {
    assert.ok(early, 'it still waits after its 30 s')
    told(early, /locked|busy/)
  }
  other.exec('COMMIT')
  other.close()
  const ran = await asked
  assert.equal(ran.code, code, ran.stderr)
  await works(at)
}

interface Size {
  readonly long: boolean
  /** Every so many-th case. */
  readonly every?: number
}

export function surroundingsCampaign({ long, every = 1 }: Size, onCase?: (done: number) => void): Promise<Tally> {
  const all = Object.entries({ ...faults, ...(long && slow) }).filter((_, index) => index % every === 0)
  const cases = all.map(
    ([name, work]): Case => [
      name,
      async () => {
        const at = world()
        try {
          await work(at)
        } finally {
          if (existsSync(at.folder)) chmodSync(at.folder, 0o755)
          rmSync(at.root, { recursive: true, force: true })
        }
      },
    ],
  )
  return campaign('surroundings that are not as they should be', cases, onCase)
}

/** Two to eight processes on one database: each appends results and moves phases. */
export function crowdCampaign({ rounds }: { rounds: number }, onCase?: (done: number) => void): Promise<Tally> {
  const sizes = Array.from({ length: rounds }, (_, at) => 2 + (at % 7))
  const cases = sizes.map((size, number): Case => [`${size} processes (round ${number})`, () => crowd(size)])
  return campaign('two to eight processes on one database', cases, onCase)
}

async function crowd(size: number): Promise<void> {
  const at = world()
  const each = 3
  try {
    await at.run(['--init-db'])
    at.sql(`INSERT INTO conversations(id, project_dir, phase) VALUES ('shared', '/tmp', 'idle')`)
    const results = await Promise.all(
      Array.from({ length: size }, async (_, who) => {
        let moved = 0
        for (let turn = 0; turn < each; turn++) {
          const wrote = await at.run([
            ...call('TodoWrite', { todos: [{ content: `${who}-${turn}`, status: 'pending', activeForm: 'x' }] }),
            '--conversation',
            'shared',
          ])
          assert.equal(wrote.code, 0, wrote.stderr)
          const { code } = await at.run(['--transition', 'planning', '--conversation', 'shared'])
          if (code === 0) moved++
        }
        return moved
      }),
    )
    const count = (sql: string) => Object.values(at.sql(sql)[0]!)[0]
    assert.equal(
      count(`SELECT count(*) FROM transcript_entries WHERE entry_type = 'tool_result'`),
      size * each,
      'a result is lost',
    )
    assert.deepEqual(
      at.sql('SELECT 1 FROM transcript_entries GROUP BY session_id HAVING max(sequence) <> count(*) - 1'),
      [],
      'a gap',
    )
    const phases = count(`SELECT count(*) FROM events WHERE event_type = 'phase' AND conversation_id = 'shared'`)
    assert.equal(
      phases,
      results.reduce((sum, moved) => sum + moved, 0),
      'a change of phase is lost',
    )
    assert.equal(count(`SELECT phase FROM conversations WHERE id = 'shared'`), 'planning')
    assert.equal(count('PRAGMA integrity_check'), 'ok')
  } finally {
    at.close()
  }
}
