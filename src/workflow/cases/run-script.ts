/**
 * Runs the script of a case: in a process group and a folder of its own, on a copy of the project, with a database of its
 * own. The program under test finds neither the script nor the other cases.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { runGroup } from '../../hooks/process/process-group.ts'
import { packageRoot } from '../../package-root.ts'
import type { WrapPlace, Wrapped } from '../../sandbox/wrap.ts'
import { type Db, openDb } from '../../store/open.ts'
import type { Run } from './cases.ts'
import { copyProject, type ProjectCopy } from './project-copy.ts'
import { changedSince, treeStamp } from './tree-stamp.ts'

export interface ScriptPlace {
  /** The copy of the project. */
  readonly projectDir: string
  /** The copy of its installed packages, where it has any. */
  readonly packages?: string | undefined
  /** The record that the case's own database begins from. */
  readonly db: Db
  readonly conversationId: string
  readonly env: NodeJS.ProcessEnv
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** How a program is started: as it is, or in the sandbox. */
  wrap?(words: readonly string[], place: ScriptFolders): Promise<Wrapped>
  /** Whether `wrap` keeps a script from writing outside of its folder. */
  sandboxed?(): Promise<boolean>
}

/** A copy of the project for scripts to run in. */
export const copyFor = async (place: ScriptPlace, texts?: ReadonlyMap<string, string>): Promise<ProjectCopy> =>
  copyProject(place.projectDir, { sandboxed: (await place.sandboxed?.()) === true, ...(texts && { texts }) })

export interface ScriptFolders extends WrapPlace {
  /** Everything that the script may write. */
  readonly folder: string
  readonly copy: string
  readonly packages?: string
}

export type Result = Pick<Run, 'exitCode' | 'timedOut' | 'stdout' | 'stderr'>

/** What is kept of each stream. */
const mostOutput = 262_144

export async function runScript(content: string, place: ScriptPlace): Promise<Result> {
  const root = mkdtempSync(join(tmpdir(), 'ona-case-'))
  try {
    const folder = join(root, 'case')
    const programs = join(root, 'programs')
    for (const each of [folder, programs]) mkdirSync(each)
    const database = join(root, 'record', 'agent.db')
    makeRecord(database, place)
    writeFileSync(join(programs, 'ona'), `#!/bin/sh\nexec ${ona} "$@"\n`, { mode: 0o555 })
    const env = {
      ...place.env,
      PATH: [place.env['PATH'], programs].join(delimiter),
      PROJECT_DIR: place.projectDir,
      CASE_DIR: folder,
      AGENT_SDLC_DB: database,
      TMPDIR: folder,
    }
    // without --norc bash would read ~/.bashrc, because stdin is a socket
    const plain = { words: ['/bin/bash', '--norc', '-c', reader, 'case'], env }
    const { packages } = place
    const folders = { cwd: folder, env, folder: root, copy: place.projectDir, ...(packages && { packages }) }
    const run: Wrapped = (await place.wrap?.(plain.words, folders)) ?? plain
    const before = run.unheld === undefined ? undefined : treeStamp(run.unheld)
    const result = await execute(run.words[0]!, run.words.slice(1), {
      content,
      cwd: folder,
      timeoutMs: place.timeoutMs ?? 60_000,
      ...(place.signal && { signal: place.signal }),
      env: run.env,
    })
    return before ? held(result, changedSince(before, treeStamp(run.unheld!))) : result
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

const ona = `"${process.execPath}" "${join(packageRoot, 'bin', 'ona.mjs')}"`

/** The script comes by stdin and is in no file; \`ona\` is a function, so that nothing on the PATH can stand in for it. */
const reader = `ona() { ${ona} "$@"; }; script=$(cat); exec < /dev/null; eval "$script"`

/** A case that reached the project itself fails, whatever it found: what it was graded by may be its own work. */
function held(result: Result, changed: readonly string[]): Result {
  if (changed.length === 0) return result
  const names = changed.slice(0, 5).join(', ') + (changed.length > 5 ? ` and ${changed.length - 5} more` : '')
  const why = `the project itself changed while the case ran, and no sandbox held it: ${names}`
  return { ...result, exitCode: result.exitCode || 1, stderr: `${result.stderr}${why}\n` }
}

/** Databases to begin from, one for each record: made once a process, and copied. */
const blanks = new WeakMap<Db, Buffer>()

/** A database with the settings and the conversation, and nothing of what happened in it: no cases, no transcript. */
function makeRecord(path: string, { db, conversationId }: ScriptPlace): void {
  const blank = blanks.get(db) ?? blankRecord(path)
  blanks.set(db, blank)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, blank, { mode: 0o600 })
  const own = openDb(path)
  try {
    const settings = db.get<{ json: string }>("SELECT json FROM settings_snapshot WHERE scope = 'effective'")
    const conversation = db.get<{ projectDir: string; phase: string }>(
      'SELECT project_dir AS projectDir, phase FROM conversations WHERE id = ?',
      conversationId,
    )
    own.transaction(() => {
      if (settings)
        own.run(
          "INSERT OR REPLACE INTO settings_snapshot(scope, json, updated_at) VALUES ('effective', ?, datetime('now'))",
          settings.json,
        )
      if (conversation)
        own.run(
          'INSERT INTO conversations(id, project_dir, phase) VALUES (?, ?, ?)',
          conversationId,
          conversation.projectDir,
          conversation.phase,
        )
    })
  } finally {
    own.close()
  }
}

function blankRecord(path: string): Buffer {
  openDb(path).close()
  return readFileSync(path)
}

interface Execution {
  readonly content: string
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

async function execute(
  program: string,
  args: readonly string[],
  { content, ...execution }: Execution,
): Promise<Result> {
  const out = { stdout: '', stderr: '' }
  const hear = (name: 'stdout' | 'stderr') => {
    const decoder = new StringDecoder()
    return (chunk: Buffer) => {
      if (out[name].length <= mostOutput) out[name] += decoder.write(chunk)
      if (out[name].length > mostOutput) out[name] = `${out[name].slice(0, mostOutput)}\n[SDLC_TRUNCATED]`
    }
  }
  const end = await runGroup({
    program,
    args,
    ...execution,
    input: content,
    graceMs: 0,
    endsWhole: true,
    onStdout: hear('stdout'),
    onStderr: hear('stderr'),
  })
  if (typeof end.cause === 'object') out.stderr += end.cause.notStarted
  return { exitCode: end.exitCode, timedOut: end.cause === 'timed-out', ...out }
}
