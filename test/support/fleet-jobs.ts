/** What tests of jobs share: a repository, a worker in this process that runs the real program, and waiting. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { work } from '../../src/fleet/jobs/worker.ts'
import type { TestFleet } from './fleet.ts'

const ona = join(import.meta.dirname, '../../bin/ona.mjs')
const home = mkdtempSync(join(tmpdir(), 'ona-jobs-'))
process.on('exit', () => rmSync(home, { recursive: true, force: true }))
Object.assign(process.env, { HOME: home, ONA_KEYCHAIN: 'off' })

export function repository(name: string): string {
  const folder = join(home, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'README.md'), 'hello\n')
  const git = (...words: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...words])
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-qm', 'first')
  return folder
}

type Node = Awaited<ReturnType<TestFleet['node']>>

/** `stop` ends it as a crash would: what it runs is killed, and nobody is told. Started again, it has the same folder and node. */
export async function workerFor(t: TestContext, it: TestFleet, policies: Record<string, object> = {}) {
  const node: Node = await it.node('worker', { worker: true })
  const folder = mkdtempSync(join(home, 'worker-'))
  for (const [name, settings] of Object.entries(policies))
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(settings))
  writeFileSync(join(folder, 'node.json'), 'the node key')
  const notes: string[] = []
  const db = join(folder, 'agent.db')
  const start = () => {
    const stop = new AbortController()
    const done = work({
      ...{ client: node.client, slots: 2, folder: join(folder, 'work'), home: folder, db, pollMs: 100 },
      ...{ program: [process.execPath, ona], policies: folder, withoutContent: false, signal: stop.signal },
      onNote: (text) => notes.push(text),
    })
    const end = async () => {
      stop.abort()
      await done
    }
    t.after(end)
    return end
  }
  return { identity: node.identity, notes, folder, db, stop: start(), start }
}

export const jobs = async (it: TestFleet) =>
  it.rows<{
    id: string
    status: string
    attempt: number
    outcome: string | null
    reason: string | null
    branch: string | null
    commit_id: string | null
  }>(
    'SELECT j.id, j.status, j.attempt, o.outcome, o.reason, o.branch, o.commit_id FROM ona_fleet.jobs j LEFT JOIN ona_fleet.outcomes o ON o.job_id = j.id ORDER BY j.submitted_at, j.id',
  )

export async function until<T>(look: () => Promise<T | undefined | false>, what: string): Promise<T> {
  for (let waited = 0; waited < 120_000; waited += 100) {
    const found = await look()
    if (found) return found
    await sleep(100)
  }
  throw new Error(`${what} did not happen within two minutes`)
}

export const ended = (it: TestFleet) =>
  until(async () => (await jobs(it)).every(({ status }) => status === 'ended') && jobs(it), 'the end of every job')
