/** A repository with the dispatcher in it, and events fired at it as a host would. */
import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defaultFiles } from '../../src/dispatcher/defaults.ts'
import { shipped } from '../../src/dispatcher/manifest.ts'
import { type EventName, eventNames, type Json, type LoggedEvent } from '../../src/dispatcher/types.ts'
import { cachedFolder } from './cached-folder.ts'
import { removeFolder } from './remove-folder.ts'

const made: string[] = []
process.on('exit', () => {
  for (const folder of made) removeFolder(folder)
})

export function tempFolder(name = 'dispatcher-'): string {
  const folder = mkdtempSync(join(tmpdir(), name))
  made.push(folder)
  return folder
}

const runtime = await cachedFolder({
  name: 'ona-dispatcher',
  inputs: ['src/**/!(*.test).ts', 'scripts/build-dispatcher.ts'],
  make: async (folder) => (await import('../../scripts/build-dispatcher.ts')).buildDispatcher(folder),
})

export const builtRuntime = runtime
export const everyModule = Object.keys(shipped)
export const sid = '1f0c22ab'
const hostId = `${sid}-1111-4222-8333-444444444444`

/** A repository with the dispatcher in it. */
export type Repo = ReturnType<typeof repoAt>

/** One whose manifest has these modules on. Their budget is never spent, however busy the machine is. */
export function makeRepo(modules: readonly string[] = everyModule, root = tempFolder()): Repo {
  cpSync(runtime, join(root, '.ai/hooks'), { recursive: true })
  const repo = repoAt(root)
  for (const [name, content] of Object.entries(defaultFiles(modules))) repo.put(`.ai/hooks/${name}`, content)
  repo.setBudgets(60_000)
  return repo
}

export function repoAt(root: string) {
  /** In the session's folder. */
  const read = (path: string): string => readFileSync(join(root, '.ai/tmp', sid, path), 'utf8')
  const lines = (path: string): Json[] =>
    read(path)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  const put = (path: string, content: unknown): void => {
    const file = join(root, path)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  }
  /** Changes one configuration file. */
  const edit = (name: string, change: (content: Json) => void): void => {
    const content = JSON.parse(readFileSync(join(root, '.ai/hooks', name), 'utf8'))
    change(content)
    put(`.ai/hooks/${name}`, content)
  }
  return {
    root,
    put,
    edit,
    setBudgets(ms: number): void {
      const budgets = Object.fromEntries(eventNames.map((name) => [name, ms]))
      edit('dispatch.manifest.json', (manifest) => Object.assign(manifest, { budgets }))
    },
    /** A module of the user's own, enabled: `body` is its text after `export default`. */
    addModule(name: string, body: string, entry: Json = {}): void {
      const path = `features/${name}/hook.mjs`
      put(`.ai/hooks/${path}`, `export default ${body}\n`)
      const enabled = { enabled: true, priority: 50, path, hotPathSafe: true, critical: false, ...entry }
      edit('dispatch.manifest.json', (manifest) => Object.assign(manifest['modules'] as Json, { [name]: enabled }))
    },
    fire: (event: EventName, extra?: Json, firing?: Firing) => fire(root, event, extra, firing),
    read,
    lines,
    exists: (path: string): boolean => existsSync(join(root, '.ai/tmp', sid, path)),
    state: (): Json & { core: Json } => JSON.parse(read('state.json')),
    events: (kind?: string): LoggedEvent[] =>
      (lines('events.jsonl') as unknown as LoggedEvent[]).filter((event) => kind === undefined || event.kind === kind),
    trace: (): string => readFileSync(join(root, '.ai/tmp/dispatch.log'), 'utf8'),
  }
}

export const moduleBody = (name: string, handle: string, events: EventName[] = ['PreToolUse']): string =>
  `{ name: '${name}', supports: new Set(${JSON.stringify(events)}), priority: 50, hotPathSafe: true, critical: false, async handle(eventName, ctx) { ${handle} } }`

export interface Answer {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly output: Json & { decision?: string; warnings?: string[]; hookSpecificOutput?: Json; _debug?: Json }
  readonly ms: number
}

export interface Firing {
  /** Written to stdin as it is, a list piece by piece; otherwise the payload as JSON. */
  readonly stdin?: string | Buffer | readonly string[]
  /** Stdin stays open. */
  readonly leaveOpen?: boolean
  readonly env?: Record<string, string>
  readonly args?: readonly string[]
  readonly node?: string
  readonly cwd?: string
}

export const payload = (event: EventName, extra: Json = {}): Json => ({
  timestamp: '2026-11-15T05:00:00.000Z',
  hook_event_name: event,
  session_id: hostId,
  ...extra,
})

function fire(root: string, event: EventName, extra: Json = {}, firing: Firing = {}): Promise<Answer> {
  const started = Date.now()
  const env: Record<string, string | undefined> = { ...process.env, ...firing.env }
  if (!firing.env?.['CLAUDE_PROJECT_DIR']) delete env['CLAUDE_PROJECT_DIR']
  const child: ChildProcess = spawn(
    firing.node ?? process.env['DISPATCHER_NODE'] ?? process.execPath,
    [join(root, '.ai/hooks/dispatch.mjs'), event, ...(firing.args ?? [])],
    { cwd: firing.cwd ?? root, env: env as NodeJS.ProcessEnv, stdio: 'pipe' },
  )
  let stdout = ''
  let stderr = ''
  child.stdout!.on('data', (chunk) => (stdout += chunk))
  child.stderr!.on('data', (chunk) => (stderr += chunk))
  child.stdin!.on('error', () => {}) // it may answer without reading us to the end
  const stdin = firing.stdin ?? JSON.stringify(payload(event, extra))
  const pieces = Array.isArray(stdin) ? [...stdin] : [stdin]
  const writeNext = () => {
    if (pieces.length > 0) child.stdin!.write(pieces.shift(), writeNext)
    else if (!firing.leaveOpen) child.stdin!.end()
  }
  writeNext()
  return new Promise((done) => {
    child.on('close', (code) => {
      child.stdin!.destroy()
      let output: Answer['output'] = {}
      try {
        output = JSON.parse(stdout)
      } catch {} // the test looks at stdout itself
      done({ code, stdout, stderr, output, ms: Date.now() - started })
    })
  })
}

/** Every file under a folder, from it. */
export const filesUnder = (folder: string): string[] =>
  existsSync(folder)
    ? (
        readdirSync(folder, { recursive: true, withFileTypes: true }) as {
          isFile(): boolean
          parentPath: string
          name: string
        }[]
      )
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
        .sort()
    : []

export const readFile = { tool_name: 'read_file', tool_input: { filePath: 'src/a.ts' }, tool_use_id: 't1' }
