/** Work that goes on beside the turn: background shells and agents, their bounded output, and the news of their end. */
import type { Block } from '../../hooks/steps.ts'
import type { BackgroundTasks, TaskState } from '../../tools/host.ts'
import { boundedResult } from '../context/window.ts'
import type { AgentEvent } from '../events.ts'

/** What is kept of a task's output; the oldest goes first. */
const kept = 1_048_576

interface Task {
  readonly id: string
  readonly kind: 'bash' | 'agent'
  readonly about: string
  status: TaskState['status']
  exitCode: number | null
  /** What has not been asked for yet. */
  output: string
  dropped: boolean
  readonly abort: AbortController
  ended: Promise<void>
}

export interface Tasks extends BackgroundTasks {
  list(): readonly TaskState[]
  /** Ended since the last call, for the turn to hear of; not those whose end was seen through `output`. */
  takeFinished(): readonly TaskState[]
  /** Something has ended by itself that nobody has heard of yet. */
  hasNews(): boolean
  /** Waits for that to be an agent. False: none is at work, or the wait is over. */
  news(waitMs: number, signal: AbortSignal): Promise<boolean>
  /** Waits until all have ended, or the time is over. */
  settle(waitMs: number): Promise<void>
  stopAll(): Promise<void>
  /** Sends the commands that run in the foreground to the background; how many there were. */
  moveToBackground(): number
  /** Stops the shell commands; agents go on, and meet the planning gate themselves. */
  stopCommands(): Promise<void>
}

export function createTasks(tell: (event: AgentEvent) => void): Tasks {
  const tasks = new Map<string, Task>()
  const finished = new Set<Task>()
  const foreground = new Set<() => void>()
  let count = 0

  const start: BackgroundTasks['start'] = ({ kind, about, run }) => {
    const id = `${kind}_${++count}`
    const abort = new AbortController()
    const task: Task = {
      id,
      kind,
      about,
      status: 'running',
      exitCode: null,
      output: '',
      dropped: false,
      abort,
      ended: Promise.resolve(),
    }
    tasks.set(id, task)
    tell({ type: 'task', id, about, status: 'started' })
    task.ended = run(abort.signal, (text) => write(task, text)).then(
      ({ exitCode, note }) => end(task, exitCode, note),
      (cause: unknown) => end(task, null, cause instanceof Error ? cause.message : String(cause)),
    )
    return id
  }

  function write(task: Task, text: string): void {
    task.output += text
    if (task.output.length <= kept) return
    task.output = task.output.slice(-kept)
    task.dropped = true
  }

  function end(task: Task, exitCode: number | null, note?: string): void {
    if (note) write(task, note)
    task.exitCode = exitCode
    task.status = task.abort.signal.aborted ? 'killed' : exitCode === 0 ? 'completed' : 'failed'
    finished.add(task)
    tell({ type: 'task', id: task.id, about: task.about, status: task.status })
  }

  const output: BackgroundTasks['output'] = async (id, waitMs, signal) => {
    const task = tasks.get(id)
    if (!task) return undefined
    if (task.status === 'running' && waitMs > 0) await within(task.ended, waitMs, signal)
    const state = stateOf(task)
    finished.delete(task)
    task.output = ''
    task.dropped = false
    return state
  }

  const stop: BackgroundTasks['stop'] = async (id) => {
    const task = tasks.get(id)
    if (!task) return undefined
    task.abort.abort()
    await task.ended
    return stateOf(task)
  }

  async function stopEach(which: (task: Task) => boolean): Promise<void> {
    const stopped = [...tasks.values()].filter(which)
    for (const task of stopped) task.abort.abort()
    await Promise.all(stopped.map((task) => task.ended))
  }

  return {
    start,
    output,
    stop,
    movable(move) {
      foreground.add(move)
      return () => void foreground.delete(move)
    },
    moveToBackground() {
      const moved = [...foreground]
      foreground.clear()
      for (const move of moved) move()
      return moved.length
    },
    list: () => [...tasks.values()].map(stateOf),
    takeFinished() {
      const states = [...finished].map(stateOf)
      finished.clear()
      return states
    },
    hasNews: () => [...finished].some(({ status }) => status !== 'killed'),
    async news(waitMs, signal) {
      const agents = [...tasks.values()].filter(({ kind }) => kind === 'agent')
      const ended = () => agents.some((task) => finished.has(task) && task.status !== 'killed')
      const running = agents.filter(({ status }) => status === 'running').map((task) => task.ended)
      if (!ended() && running.length > 0) await within(Promise.race(running), waitMs, signal)
      return ended() && !signal.aborted
    },
    async settle(waitMs) {
      const running = [...tasks.values()].map((task) => task.ended)
      await within(Promise.all(running), waitMs, new AbortController().signal)
    },
    stopAll: () => stopEach(() => true),
    stopCommands: () => stopEach(({ kind, status }) => kind === 'bash' && status === 'running'),
  }
}

/** What ended and was not heard of yet, in words for the model, once each. The session of an agent keeps its result whole. */
export const newsOf = (tasks: Tasks, window: number): Block[] =>
  tasks.takeFinished().map(({ id, kind, status, about, output }) => {
    const result = kind === 'agent' ? `<result>${boundedResult(output, window)}</result>` : ''
    const news = `<task-id>${id}</task-id><status>${status}</status><summary>${about}</summary>${result}`
    return { type: 'text', text: `<task-notification>${news}</task-notification>` }
  })

const stateOf = (task: Task): TaskState => ({
  id: task.id,
  kind: task.kind,
  about: task.about,
  status: task.status,
  exitCode: task.exitCode,
  output: task.dropped ? `[SDLC_TRUNCATED]\n${task.output}` : task.output,
})

async function within(work: Promise<unknown>, waitMs: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  let giveUp = () => {}
  const limit = new Promise<void>((resolve) => {
    giveUp = resolve
    timer = setTimeout(resolve, waitMs)
    signal.addEventListener('abort', giveUp, { once: true })
  })
  await Promise.race([work, limit])
  clearTimeout(timer)
  signal.removeEventListener('abort', giveUp)
}
