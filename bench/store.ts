/** What the store costs over the bare database: `node bench/store.ts`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Invocation } from '../src/hooks/plane.ts'
import { createConversation, createSession } from '../src/store/conversations.ts'
import { openDb } from '../src/store/open.ts'
import { commitToolCall } from '../src/store/session/commit.ts'
import { appendEntries, appendEntry, readEntries } from '../src/store/session/transcript.ts'
import { median } from './lib/processes.ts'
import { report } from './lib/report.ts'

const place = mkdtempSync(join(tmpdir(), 'ona-bench-'))
const db = openDb(join(place, 'ours.db'))
const conversationId = createConversation(db, { projectDir: '/' }).id
const newSession = () => createSession(db, conversationId).sessionId
const sessionId = newSession()

const bare = new DatabaseSync(join(place, 'bare.db'))
bare.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL')
bare.exec(
  'CREATE TABLE rows(id INTEGER PRIMARY KEY, session TEXT, sequence INTEGER, text TEXT, UNIQUE(session, sequence))',
)
const insert = bare.prepare('INSERT INTO rows(session, sequence, text) VALUES (?, ?, ?)')
const text = 'x'.repeat(400)
let next = 0
const bareCommit = (rows: number) => {
  bare.exec('BEGIN IMMEDIATE')
  for (let row = 0; row < rows; row++) insert.run('session', next++, text)
  bare.exec('COMMIT')
}

const entry = { _t: 'system', subtype: 'note', text } as const
const hook: Invocation = {
  event: 'PreToolUse',
  ordinal: 0,
  matcher: 'Bash',
  command: './check.sh',
  toolUseId: 'call',
  toolName: 'Bash',
  inputJson: text,
  exitCode: 0,
  stdout: '',
  stderr: '',
  startedAt: '2026-01-01T00:00:00.000Z',
  completedAt: '2026-01-01T00:00:00.000Z',
  skippedReason: null,
}
const call = () =>
  commitToolCall(db, {
    sessionId,
    conversationId,
    invocations: [hook, hook],
    permission: { toolName: 'Bash', decision: 'allow', reason: { by: 'rule' } },
    result: { tool_use_id: 'call', content: text, is_error: false },
  })

/** Milliseconds for one, in slices that take turns, from either end: SQLite's own rhythm must not fall on one side. */
function compare(slices: number, each: number, ...works: (() => void)[]): number[] {
  const samples: number[][] = works.map(() => [])
  for (let slice = -2; slice < slices; slice++)
    for (const [index, work] of slice % 2 === 0 ? [...works.entries()] : [...works.entries()].reverse()) {
      const begin = performance.now()
      for (let round = 0; round < each; round++) work()
      if (slice >= 0) samples[index]!.push((performance.now() - begin) / each)
    }
  return samples.map(median)
}

const [append, bareAppend] = compare(
  15,
  200,
  () => void appendEntry(db, sessionId, entry),
  () => bareCommit(1),
)
const [toolCall, bareToolCall] = compare(15, 200, call, () => bareCommit(4))

const [long, short] = [newSession(), newSession()]
const read = (from: number, to: number) => {
  const begin = performance.now()
  for (const _ of readEntries(db, long, { after: from - 1, before: to }));
  return performance.now() - begin
}
for (let batch = 0; batch < 100; batch++)
  appendEntries(
    db,
    long,
    Array.from({ length: 1000 }, () => entry),
  )
const [first, last] = compare(
  5,
  1,
  () => void read(0, 10_000),
  () => void read(90_000, 100_000),
)
const all = read(0, 100_000)
const [early, late] = compare(
  40,
  100,
  () => void appendEntry(db, short, entry),
  () => void appendEntry(db, long, entry),
)
db.close()
bare.close()
rmSync(place, { recursive: true })

report('Writing and reading through the store, in turns with bare statements on node:sqlite.', [
  { what: 'append one entry × one bare row', value: append! / bareAppend! },
  { what: 'commit a tool call (2 hooks) × four bare rows', value: toolCall! / bareToolCall! },
  { what: 'read entries 90,001-100,000 × entries 1-10,000', value: last! / first!, atMost: 1.3 },
  { what: 'append to a session of 100,000 × to a new one', value: late! / early!, atMost: 1.1 },
])
process.stdout.write(
  `one tool call ${(toolCall! * 1000).toFixed(0)} µs; 100,000 entries read in ${all.toFixed(0)} ms\n`,
)
