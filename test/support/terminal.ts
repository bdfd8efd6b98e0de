/** ona in a real terminal (tmux), driven by keys and seen as text; and ona over a pipe. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { withModel } from './program.ts'
import { removeFolder } from './remove-folder.ts'
import { runProgram } from './run-program.ts'

const program = join(import.meta.dirname, '../..', 'bin', 'ona.mjs')
const socket = `ona-test-${process.pid}`
const tmux = (...words: string[]) =>
  spawnSync('tmux', ['-L', socket, '-f', '/dev/null', ...words], { encoding: 'utf8' })

export const hasTmux = (): boolean => spawnSync('tmux', ['-V']).status === 0
export const stopTmux = (): void => void tmux('kill-server')

/** A project and a home of its own; settings and files as given. */
export interface Place {
  readonly project: string
  readonly home: string
  readonly env: NodeJS.ProcessEnv
  query<T>(sql: string): T[]
  remove(): void
}

export function newPlace(files: Record<string, string> = {}): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ona-tui-')))
  const [project, home] = [join(root, 'project'), join(root, 'home')]
  mkdirSync(project)
  mkdirSync(home)
  for (const [name, text] of Object.entries(files)) {
    const file = name.startsWith('~/') ? join(home, name.slice(2)) : join(project, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    LANG: 'C.UTF-8',
    TERM: 'screen-256color',
    NO_COLOR: '1',
    EDITOR: 'true',
  }
  return {
    project,
    home,
    env,
    query<T>(sql: string) {
      const db = new DatabaseSync(join(home, '.ona', 'agent.db'), { readOnly: true, timeout: 30_000 })
      const rows = db
        .prepare(sql)
        .all()
        .map((row) => ({ ...row })) as T[]
      db.close()
      return rows
    },
    remove: () => removeFolder(root),
  }
}

export interface Ona {
  /** tmux names: Enter, Escape, Up, C-c, BTab. */
  keys(...names: string[]): void
  type(text: string): void
  paste(text: string): void
  /** Waits until the screen shows it, and gives the screen. */
  until(shows: RegExp, withinMs?: number): Promise<string>
  /** Everything since the start, scrollback and screen. */
  all(): string
  /** The screen with its colours. */
  styled(): string
  /** Every byte that it wrote to the terminal. */
  raw(): string
  /** The terminal is closed, as when its window goes away. */
  close(): void
  resize(columns: number, rows: number): void
  /** Sends the program a signal. */
  kill(signal: string): void
  cursor(): { column: number; row: number }
}

let count = 0

/** Makes bin/ona.mjs believe that it runs on a Node that is too old, so that it starts the one of the checkout. */
const asOldNode = [
  '--import',
  'data:text/javascript,Object.defineProperty(process.versions, "node", { value: "20.0.0" })',
]

export function openOna(
  place: Place,
  {
    columns = 90,
    rows = 30,
    words = [],
    env = {},
    shell = false,
    launcher = false,
    background = 'default',
  }: {
    columns?: number
    rows?: number
    words?: string[]
    env?: NodeJS.ProcessEnv
    shell?: boolean
    launcher?: boolean
    /** What the terminal answers when it is asked for its background (OSC 11); `default`: it does not answer. */
    background?: string
  } = {},
): Ona {
  const name = `t${++count}`
  const all = { ...place.env, ...env }
  const set = Object.entries(all).map(([key, value]) => `${key}=${value ?? ''}`)
  const command = ['env', '-i', ...set, process.execPath, ...(launcher ? asOldNode : []), program, ...words]
    .map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
    .join(' ')
  const started = tmux(
    'start-server',
    ';',
    'set-option',
    '-g',
    'history-limit',
    '50000',
    ';',
    'set-option',
    '-g',
    'window-style',
    `bg=${background}`,
    ';',
    'new-session',
    '-d',
    '-s',
    name,
    '-x',
    String(columns),
    '-y',
    String(rows),
    '-c',
    place.project,
    shell ? 'bash --norc' : `${command}; echo "LEFT WITH $?"; cat`,
  )
  if (started.status !== 0) throw new Error(`tmux: ${started.stderr}`)
  const copy = join(place.home, '..', `${name}.raw`)
  tmux('pipe-pane', '-t', name, `cat > '${copy}'`)
  if (shell) tmux('send-keys', '-t', name, '-l', `${command}; echo "LEFT WITH $?"\r`)
  const capture = (...words_: string[]) => tmux('capture-pane', '-p', '-t', name, ...words_).stdout.trimEnd()
  return {
    keys: (...names) => void tmux('send-keys', '-t', name, ...names),
    type: (text) => void tmux('send-keys', '-t', name, '-l', text),
    paste(text) {
      spawnSync('tmux', ['-L', socket, 'load-buffer', '-'], { input: text })
      tmux('paste-buffer', '-p', '-t', name)
    },
    async until(shows, withinMs = 60_000) {
      const end = Date.now() + withinMs
      for (let tries = 0, seen = -1; ; tries++) {
        // a look at the screen is a process: only after something was written, and now and then
        const size = statSync(copy, { throwIfNoEntry: false })?.size ?? 0
        const isLate = Date.now() > end
        if (size !== seen || tries % 40 === 0 || isLate) {
          seen = size
          const screen = capture()
          if (shows.test(screen)) return screen
          if (isLate) throw new Error(`the screen never showed ${shows}:\n${screen}`)
        }
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    },
    all: () => capture('-S', '-'),
    styled: () => capture('-e'),
    raw: () => readFileSync(copy, 'utf8'),
    close: () => void tmux('kill-session', '-t', name),
    resize: (wide, high) => void tmux('resize-window', '-t', name, '-x', String(wide), '-y', String(high)),
    kill(signal) {
      const shell = tmux('list-panes', '-t', name, '-F', '#{pane_pid}').stdout.trim()
      const [child] = spawnSync('pgrep', ['-P', shell], { encoding: 'utf8' }).stdout.trim().split('\n')
      process.kill(Number(child), `SIG${signal}`)
    },
    cursor() {
      const [column, row] = tmux('display-message', '-p', '-t', name, '#{cursor_x} #{cursor_y}')
        .stdout.trim()
        .split(' ')
      return { column: Number(column), row: Number(row) }
    },
  }
}

/** Lines over a pipe; what came out, and the exit code. */
export async function pipeOna(
  place: Place,
  lines: readonly string[],
  words: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<{ out: string; err: string; code: number | null }> {
  const input = lines.map((line) => `${line}\n`).join('')
  const all = withModel(words, { ...place.env, ...env })
  const { stdout: out, stderr: err, code } = await runProgram(words, { cwd: place.project, env: all, input })
  return { out, err, code }
}
