/** Runs the program as a user or a script would, in a home and a folder of its own. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { compileCache } from './compile-cache.ts'
import { removeFolder } from './remove-folder.ts'
import { type Invocation, type Ran, runProgram } from './run-program.ts'

export type { Ran }

/** The command line of every ona that the tests of this process have started. */
export const started: (readonly string[])[] = []

export interface Place {
  readonly home: string
  readonly folder: string
  readonly db: string
  write(path: string, content: string | object): string
  run(words: readonly string[], options?: RunOptions): Promise<Ran>
  /** Rows of the database. */
  rows<Row = Record<string, unknown>>(sql: string): Row[]
}

export interface RunOptions extends Omit<Invocation, 'cwd' | 'env'> {
  readonly env?: Record<string, string>
}

export function place(t: { after(work: () => void): void }, env: Record<string, string> = {}): Place {
  const root = mkdtempSync(join(tmpdir(), 'ona-test-'))
  t.after(() => removeFolder(root))
  const home = join(root, 'home')
  const folder = join(root, 'folder')
  const db = join(home, '.ona/agent.db')
  for (const each of [home, folder]) mkdirSync(each)
  return {
    home,
    folder,
    db,
    write(path, content) {
      const at = join(folder, path)
      mkdirSync(dirname(at), { recursive: true })
      const text = typeof content === 'string' ? content : JSON.stringify(content)
      writeFileSync(at, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 })
      return at
    },
    run(words, { env: more = {}, ...options } = {}) {
      started.push(words)
      const given = {
        PATH: process.env['PATH'],
        HOME: home,
        ONA_KEYCHAIN: 'off',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        ...env,
        ...more,
      }
      return runProgram(words, { ...options, cwd: folder, env: withModel(words, given) })
    },
    rows(sql) {
      const open = new DatabaseSync(db, { readOnly: true, timeout: 30_000 })
      try {
        return open.prepare(sql).all() as never
      } finally {
        open.close()
      }
    },
  }
}

/** What these command lines print, all run in one process: for what is not about the process. Each begins with a command's name. */
export function runCommands(lines: readonly (readonly string[])[]): Ran[] {
  const home = mkdtempSync(join(tmpdir(), 'ona-commands-'))
  try {
    const stdout = execFileSync(process.execPath, [compileCache, join(import.meta.dirname, 'run-commands.ts')], {
      cwd: home,
      env: { PATH: process.env['PATH'], HOME: home, ONA_KEYCHAIN: 'off' },
      input: lines.map((words) => `${JSON.stringify(words)}\n`).join(''),
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    })
    return stdout
      .trim()
      .split('\n')
      .map((line): Ran => JSON.parse(line))
  } finally {
    removeFolder(home)
  }
}

/** A session that names no provider asks for the rehearsal model; `ANTHROPIC_MODEL: ''` asks for none. */
export const withModel = ([first = '-']: readonly string[], env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  !first.startsWith('-') ||
  Object.keys(env).some((name) => /^(?:ANTHROPIC|OPENAI|LM_STUDIO|CLAUDE_CODE_OAUTH)_/.test(name))
    ? env
    : { ...env, ANTHROPIC_MODEL: 'rehearsal' }
