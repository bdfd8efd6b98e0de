/** Runs test cases: each in a process group and a folder of its own, within a time limit, its output kept. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { writeAtomic } from '../files/atomic-write.ts'
import { runGroup } from '../hooks/process-group.ts'
import { packageRoot } from '../package-root.ts'
import type { Db } from '../store/open.ts'
import type { Plan } from '../store/plans.ts'
import { type Case, casesOf, type Run, saveRun } from './cases.ts'

/** What is kept of each stream. */
const mostOutput = 262_144

export interface RunOptions {
  readonly projectDir: string
  readonly env: NodeJS.ProcessEnv
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  onCase?(each: Case, run: Run): void
}

/** Runs every case of a plan, one after another, and keeps the results. */
export async function runCases(db: Db, plan: Plan, options: RunOptions): Promise<Run[]> {
  const runs: Run[] = []
  for (const each of casesOf(db, plan.id)) {
    if (options.signal?.aborted) break
    restoreCopy(each, plan, options.projectDir)
    const run = await runCase(db, each, plan, options)
    saveRun(db, run)
    options.onCase?.(each, run)
    runs.push(run)
  }
  return runs
}

/** Where people read the cases: `.ona/tests/<plan>/`. What lies there is written anew from the row before each run. */
const caseFile = (projectDir: string, planId: number, name: string): string =>
  join(projectDir, '.ona', 'tests', String(planId), `${name}.sh`)

export function restoreCopy(each: Case, plan: Plan, projectDir: string): void {
  const file = caseFile(projectDir, plan.id, each.name)
  mkdirSync(join(file, '..'), { recursive: true })
  writeAtomic(file, each.content, { mode: 0o755 })
}

async function runCase(db: Db, each: Case, plan: Plan, options: RunOptions): Promise<Run> {
  const { projectDir, timeoutMs = 60_000 } = options
  const folder = mkdtempSync(join(tmpdir(), 'ona-case-'))
  const script = join(folder, 'case.sh')
  const database = join(folder, 'agent.db')
  writeFileSync(script, each.content, { mode: 0o700 })
  // A case may look at the database and change it; it is a copy.
  db.run('PRAGMA wal_checkpoint(PASSIVE)')
  for (const end of ['', '-wal']) if (existsSync(db.path + end)) copyFileSync(db.path + end, database + end)
  const startedAt = new Date().toISOString()
  const begun = performance.now()
  const result = await execute(script, {
    cwd: folder,
    timeoutMs,
    signal: options.signal,
    env: {
      ...options.env,
      PATH: withOna(folder, options.env['PATH']),
      PROJECT_DIR: projectDir,
      CASE_DIR: folder,
      AGENT_SDLC_DB: database,
      TMPDIR: folder,
    },
  })
  rmSync(folder, { recursive: true, force: true })
  const durationMs = Math.round(performance.now() - begun)
  return { caseId: each.id, hash: each.hash, planHash: plan.hash, startedAt, durationMs, ...result }
}

/** A case calls `ona` by its name, wherever it lies. */
function withOna(folder: string, path = ''): string {
  const programs = join(folder, '.bin')
  mkdirSync(programs)
  const program = `#!/bin/sh\nexec "${process.execPath}" "${join(packageRoot, 'bin', 'ona.mjs')}" "$@"\n`
  writeFileSync(join(programs, 'ona'), program, { mode: 0o755 })
  return [programs, path].join(delimiter)
}

interface Execution {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

type Result = Pick<Run, 'exitCode' | 'timedOut' | 'stdout' | 'stderr'>

async function execute(script: string, execution: Execution): Promise<Result> {
  const out = { stdout: '', stderr: '' }
  const hear = (name: 'stdout' | 'stderr') => {
    const decoder = new StringDecoder()
    return (chunk: Buffer) => {
      if (out[name].length < mostOutput) out[name] += decoder.write(chunk)
      if (out[name].length > mostOutput) out[name] = `${out[name].slice(0, mostOutput)}\n[SDLC_TRUNCATED]`
    }
  }
  const end = await runGroup({
    program: '/bin/bash',
    args: [script],
    ...execution,
    graceMs: 0,
    endsWhole: true,
    onStdout: hear('stdout'),
    onStderr: hear('stderr'),
  })
  if (typeof end.cause === 'object') out.stderr += end.cause.notStarted
  return { exitCode: end.exitCode, timedOut: end.cause === 'timed-out', ...out }
}
