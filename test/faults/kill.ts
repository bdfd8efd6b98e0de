/** SIGKILL of the whole program at random moments of a busy session, and what must be true afterwards. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Case, campaign, type Tally } from '../support/campaign.ts'
import { startOutside } from '../support/outside.ts'
import { ended, killAll, type World, world } from '../support/world.ts'

const hook = (hook_event_name: string) => ({ hook_event_name, matcher: '', shell: 'sh', command: 'cat >/dev/null' })
const settings = {
  permissions: { defaultMode: 'bypassPermissions' },
  hooks: ['PreToolUse', 'PostToolUse', 'UserPromptSubmit', 'Stop', 'SubagentStop', 'PreCompact'].map(hook),
}

/** Marks that it ran, so that twice would show. */
const mark = (id: string) => `call Bash {"command":"echo ${id} >> ran.txt"}`

/** Tools, hooks, an agent, a file, a phase; the answers are on stdout as they are committed. */
function streamed(at: World, id: string) {
  const prompts = [
    [mark(`${id}-a`), `call Write {"file_path":"${id}.txt","content":"x"}`, 'then', mark(`${id}-b`)],
    [`call Agent {"description":"x","subagent_type":"general-purpose","prompt":${JSON.stringify(mark(`${id}-c`))}}`],
    ['call EnterPlanMode {}', 'then', 'call TodoWrite {"todos":[]}'],
  ]
  const input = prompts
    .map((lines) => JSON.stringify({ type: 'user', message: { role: 'user', content: lines.join('\n') } }))
    .join('\n')
  const child = at.start(['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'])
  return { child, input: `${input}\n` }
}

/** The REPL on a pipe, with compaction. */
function typed(at: World, id: string) {
  const one = (letter: string) => mark(`${id}-${letter}`)
  return { child: at.start([]), input: [one('a'), one('b'), '/compact', one('c'), '/plan', one('d'), ''].join('\n') }
}

async function round(at: World, number: number, moment: number): Promise<void> {
  const id = `r${number}`
  const { child, input } = number % 3 === 2 ? typed(at, id) : streamed(at, id)
  let heard = ''
  child.stdout!.on('data', (piece) => (heard += piece))
  child.stderr!.resume()
  child.stdin!.on('error', () => {}) // it may be dead already
  child.stdin!.end(input)
  await Promise.race([wait(moment), ended(child)])
  killAll(child)
  await ended(child)
  if (existsSync(at.db)) intact(at, heard)
  const again = await at.run(['-p', 'anew\nsay still here', '--continue'])
  assert.deepEqual([again.code, again.stdout], [0, 'still here\n'], again.stderr)
  intact(at, heard)
  noLooseEnds(at)
}

const one = (at: World, sql: string) => Object.values(at.sql(sql)[0] ?? {})[0]

/** What holds at every moment. */
function intact(at: World, heard: string): void {
  assert.equal(one(at, 'PRAGMA integrity_check'), 'ok')
  if (one(at, `SELECT count(*) FROM sqlite_schema WHERE name = 'transcript_entries'`) === 0) return // killed while it was made
  assert.deepEqual(at.sql('PRAGMA foreign_key_check'), [])
  const gaps = `SELECT session_id FROM transcript_entries GROUP BY 1 HAVING min(sequence) <> 0 OR max(sequence) <> count(*) - 1`
  assert.deepEqual(at.sql(gaps), [], 'a gap in a sequence')
  for (const line of heard.split('\n').slice(0, -1)) {
    for (const toolUseId of line.match(/(?<="tool_use_id":")[^"]+/g) ?? [])
      assert.equal(
        one(
          at,
          `SELECT count(*) FROM transcript_entries WHERE entry_type = 'tool_result' AND tool_use_id = '${toolUseId}'`,
        ),
        1,
        `${toolUseId} was acknowledged and is not there`,
      )
  }
  const ran = existsSync(join(at.folder, 'ran.txt'))
    ? readFileSync(join(at.folder, 'ran.txt'), 'utf8').trim().split('\n')
    : []
  assert.equal(new Set(ran).size, ran.length, 'a tool ran twice')
  for (const marked of ran.slice(-4).filter(Boolean)) {
    const call = `SELECT json_extract(b.value, '$.id') AS id FROM transcript_entries t, json_each(t.payload_json, '$.content') b
      WHERE t.entry_type = 'assistant' AND json_extract(b.value, '$.input.command') LIKE 'echo ${marked} %'`
    const id = one(at, call)
    assert.ok(id, `${marked} ran, and no row says that it was called`)
    assert.equal(
      one(at, `SELECT count(*) > 0 FROM events WHERE event_type = 'tool_start' AND detail LIKE '%${id}%'`),
      1,
      `${marked} ran, and no row says that it started`,
    )
  }
}

/** After the newest session was resumed, each of its calls has exactly one result. */
function noLooseEnds(at: World): void {
  const loose = `SELECT json_extract(b.value, '$.id') AS id FROM transcript_entries t, json_each(t.payload_json, '$.content') b
    WHERE t.entry_type = 'assistant' AND json_extract(b.value, '$.type') = 'tool_use'
      AND t.session_id = (SELECT session_id FROM transcript_entries ORDER BY id DESC LIMIT 1)
      AND (SELECT count(*) FROM transcript_entries r WHERE r.entry_type = 'tool_result' AND r.tool_use_id = json_extract(b.value, '$.id')) <> 1`
  assert.deepEqual(at.sql(loose), [], 'a call without a result after resuming')
}

export async function killCampaign(count: number, onCase?: (done: number) => void): Promise<Tally> {
  const outside = await startOutside()
  const worlds: World[] = []
  const fresh = () => {
    worlds.at(-1)?.close()
    const made = world(outside.env)
    worlds.push(made)
    return made
  }
  try {
    let at = fresh()
    const prepare = async () => {
      await at.run(['--init-db'])
      writeFileSync(join(at.home, '.ona/settings.json'), JSON.stringify(settings))
    }
    await prepare()
    const begun = performance.now()
    const { child, input } = streamed(at, 'measure')
    child.stdin!.end(input)
    child.stdout!.resume()
    child.stderr!.resume()
    await ended(child)
    const whole = performance.now() - begun
    const shares = Math.min(count, 40)
    function* cases(): Generator<Case> {
      for (let number = 0; number < count; number++) {
        // evenly over the length of a session, and at random within its share
        const moment = (((number % shares) + Math.random()) / shares) * whole
        yield [
          `killed after ${Math.round(moment)} ms of ${Math.round(whole)} (round ${number})`,
          async () => {
            if (number % 50 === 49) {
              at = fresh()
              await prepare()
            }
            await round(at, number, moment)
          },
        ]
      }
    }
    return await campaign('killed at a random moment of a busy session', cases(), onCase)
  } finally {
    worlds.at(-1)?.close()
    outside.close()
  }
}
