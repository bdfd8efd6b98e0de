/** A home, a folder and a database for fault campaigns, which outlive a single test. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { removeFolder } from './remove-folder.ts'
import { type Ran, runProgram } from './run-program.ts'

export const onaFile = join(import.meta.dirname, '../../bin/ona.mjs')

export interface World {
  readonly root: string
  readonly home: string
  readonly folder: string
  readonly db: string
  readonly env: Record<string, string>
  start(words: readonly string[], options?: StartOptions): ChildProcess
  run(words: readonly string[], options?: StartOptions & { input?: string }): Promise<Ran>
  sql<Row = Record<string, unknown>>(text: string): Row[]
  close(): void
}

interface StartOptions {
  /** In place of the world's own. */
  readonly env?: Record<string, string>
  readonly cwd?: string
  readonly uid?: number
}

export function world(more: Record<string, string> = {}): World {
  const root = mkdtempSync(join(tmpdir(), 'ona-faults-'))
  const home = join(root, 'home')
  const folder = join(root, 'folder')
  const db = join(home, '.ona/agent.db')
  for (const each of [home, folder]) mkdirSync(each)
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, ONA_KEYCHAIN: 'off', ...more }
  const start = (words: readonly string[], options: StartOptions = {}) =>
    spawn(process.execPath, [onaFile, ...words], { cwd: folder, env, ...options, detached: true, timeout: 120_000 })
  return {
    root,
    home,
    folder,
    db,
    env,
    start,
    run: (words, { env: given = env, cwd = folder, ...options } = {}) =>
      runProgram(words, { env: given, cwd, timeoutMs: 120_000, ...options }),
    sql(text) {
      const open = new DatabaseSync(db, { timeout: 30_000 })
      try {
        open.exec('PRAGMA busy_timeout = 30000')
        return open.prepare(text).all() as never
      } finally {
        open.close()
      }
    },
    close: () => removeFolder(root),
  }
}

/** Ends the program and everything that it started, at once. */
export function killAll(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL')
  } catch {
    // it has ended already
  }
}

export const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) =>
    child.exitCode !== null || child.signalCode !== null ? resolve() : child.on('close', () => resolve()),
  )
