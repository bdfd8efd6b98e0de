/** For tests: a folder of its own, and the agent's side of tools with real files, real children and real tasks. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Db } from '../../src/store/open.ts'
import { builtInTool } from '../../src/tools/all.ts'
import type { BackgroundTasks, SeenFile, TaskState, ToolHost } from '../../src/tools/host.ts'
import type { Todo, ToolOutput } from '../../src/tools/output.ts'
import { readInput, type ToolContext } from '../../src/tools/tool.ts'
import { removeFolder } from './remove-folder.ts'

export interface Bench {
  readonly t: TestContext
  readonly folder: string
  readonly context: ToolContext
  /** What the host was told, in order: `checkpoint /x`, `move /y`. */
  readonly told: string[]
  /** A file in the folder; its parents are made. */
  file(path: string, content: string | Uint8Array): string
  content(path: string): string
  /** Runs a tool as the agent does: the input is parsed, then judged by nobody, then run. */
  use(tool: string, input: unknown, with_?: Partial<ToolContext>): Promise<ToolOutput>
  /** The result of a call as Claude Code's hooks read it. */
  response(tool: string, input: unknown): Promise<unknown>
}

export function bench(t: TestContext, overrides: Partial<ToolHost> = {}): Bench {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ona-tools-')))
  t.after(() => removeFolder(folder))
  const told: string[] = []
  let cwd = folder
  const seen = new Map<string, SeenFile>()
  let todos: readonly Todo[] = []
  const host: ToolHost = {
    async moveTo(directory) {
      const inside = directory === folder || directory.startsWith(`${folder}/`)
      if (inside) cwd = directory
      told.push(`move ${directory} ${inside}`)
      return inside
    },
    files: { note: (path, file) => void seen.set(path, file), get: (path) => seen.get(path) },
    mayShow: () => true,
    checkpoint: (path) => void told.push(`checkpoint ${path}`),
    tasks: realTasks(t),
    askUser: async () => undefined,
    setTodos: (next) => {
      todos = next
    },
    todos: () => todos,
    runAgent: async () => ({ content: 'no agents here', isError: true }),
    agentTypes: () => [],
    skills: { list: () => [], load: async () => ({ ok: false, why: 'no skills here' }) },
    enterPlanMode: async () => ({ content: 'planning', isError: false }),
    exitPlanMode: async () => ({ content: 'approved', isError: false }),
    mcp: undefined,
    deferredTools: () => [],
    unlisted: () => [],
    revealTools(names) {
      told.push(`reveal ${names.join(' ')}`)
      return names
    },
    askModel: async () => ({ ok: false, text: 'no model here' }),
    searchWeb: async () => undefined,
    mayReachPrivate: () => false,
    brief: (message) => void told.push(`brief ${message}`),
    ...overrides,
  }
  const context: ToolContext = {
    sessionId: 'session',
    conversationId: 'conversation',
    toolUseId: 'call',
    db: undefined as unknown as Db, // no built-in tool reaches for the database itself
    get cwd() {
      return cwd
    },
    projectDir: folder,
    home: folder,
    signal: new AbortController().signal,
    env: { PATH: process.env['PATH'], HOME: folder },
    host,
    progress: () => {},
  }
  const run = async (name: string, input: unknown, with_?: Partial<ToolContext>): Promise<ToolOutput> => {
    const tool = builtInTool(name)
    if (!tool) throw new Error(`no tool ${name}`)
    const parsed = readInput(tool, input, cwd)
    if (!parsed.ok) return { content: parsed.why, isError: true }
    return tool.run(parsed.input, with_ ? { ...context, cwd, ...with_ } : context)
  }
  return {
    t,
    folder,
    context,
    told,
    file(path, content) {
      const whole = join(folder, path)
      mkdirSync(dirname(whole), { recursive: true })
      writeFileSync(whole, content)
      return whole
    },
    content: (path) => readFileSync(join(folder, path), 'utf8'),
    async use(name, input, with_) {
      const { response: _, ...output } = await run(name, input, with_)
      return output
    },
    response: async (name, input) => (await run(name, input)).response?.(),
  }
}

/** Commands that run and could be sent to the background. */
export const foreground = new Set<() => void>()

function realTasks(t: TestContext): BackgroundTasks {
  interface Running {
    state: TaskState
    readonly end: Promise<void>
    readonly stop: AbortController
  }
  const tasks = new Map<string, Running>()
  t.after(() => {
    for (const { stop } of tasks.values()) stop.abort()
  })
  return {
    start({ kind, about, run }) {
      const id = `task-${tasks.size + 1}`
      const stop = new AbortController()
      const write = (text: string) => {
        task.state = { ...task.state, output: task.state.output + text }
      }
      const task: Running = {
        state: { id, kind, about, status: 'running', exitCode: null, output: '' },
        stop,
        end: Promise.resolve()
          .then(() => run(stop.signal, write))
          .then(({ exitCode }) => {
            const status = stop.signal.aborted ? 'killed' : exitCode === 0 ? 'completed' : 'failed'
            task.state = { ...task.state, status, exitCode }
          }),
      }
      tasks.set(id, task)
      return id
    },
    async output(id, waitMs, signal) {
      const task = tasks.get(id)
      if (!task) return undefined
      const waited = new AbortController()
      const limit = AbortSignal.any([signal, waited.signal])
      const timer = setTimeout(() => waited.abort(), waitMs)
      const over = new Promise((resolve) => limit.addEventListener('abort', resolve))
      if (!limit.aborted) await Promise.race([task.end, over])
      clearTimeout(timer)
      const { state } = task
      task.state = { ...state, output: '' }
      return state
    },
    movable: (move) => {
      foreground.add(move)
      return () => void foreground.delete(move)
    },
    async stop(id) {
      const task = tasks.get(id)
      task?.stop.abort()
      await task?.end
      return task?.state
    },
  }
}
