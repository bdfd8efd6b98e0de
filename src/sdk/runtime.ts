/** What runs share: the database, the settings with their hooks, the models, the MCP servers. Opened once, and closed. */
import { resolve } from 'node:path'
import type { User } from '../agent/events.ts'
import { type Opened, openSharedRuntime } from '../agent/session/open-runtime.ts'
import type { ActiveModel } from '../agent/session/runtime.ts'
import type { StartOptions } from '../agent/session/start-options.ts'
import { errorOf } from '../hooks/kernel.ts'
import type { Price } from '../providers/models/spec.ts'
import type { Player } from '../rehearsal/server.ts'
import { inMemory, type SqlValue, StoreError } from '../store/open.ts'
import { orAborted } from './abort.ts'
import { AgentError } from './agent-error.ts'
import { checkRuntimeOptions } from './check-definition.ts'
import { activeModel, type OwnModel } from './model.ts'

export interface RuntimeOptions {
  /** The file of the database; in memory, and gone with the runtime, unless said. */
  readonly db?: string
  /** The project: its settings and hooks govern, and tools work there. By default where the process stands. */
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** Settings over those of the files, as in settings.json. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** Only managed settings and `settings`: no file of the user or the project is read. */
  readonly bare?: boolean
  /** The folder's own hooks and allow rules apply, in this runtime. */
  readonly trust?: boolean
  /** MCP servers by name, as in settings.json. */
  readonly mcpServers?: Readonly<Record<string, unknown>>
  /** US dollars a million tokens by wire model, before our own table. */
  readonly prices?: Readonly<Record<string, Partial<Price> & Pick<Price, 'input' | 'output'>>>
  /** Answers what rules ask about. Without it nobody does, and such a call is denied. */
  readonly user?: Partial<User>
  /** What the built-in model answers with, for tests and examples. */
  readonly rehearsal?: Player
  /** Hears of hooks that failed and settings that were left out; by default a line on stderr each. */
  log?(entry: LogEntry): void
}

export interface LogEntry {
  readonly level: 'warning' | 'error'
  readonly text: string
  readonly hook?: string
  readonly agent?: string
  readonly cause?: unknown
}

export interface AgentRuntime {
  /** The path of the database. */
  readonly db: string
  /** Reads the record: every prompt, call, hook and permission is a row. */
  query<Row = Record<string, unknown>>(sql: string, ...values: SqlValue[]): Row[]
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
  readonly [shared]: Shared
}

export const shared = Symbol('shared')

export interface Shared extends Opened {
  readonly cwd: string
  closed(): boolean
  model(name: string | OwnModel | undefined, agent: string): Promise<ActiveModel>
  log(entry: LogEntry): void
}

/** Throws an AgentError where settings or database cannot be used. */
export function openRuntime(options: RuntimeOptions = {}): AgentRuntime {
  checkRuntimeOptions(options)
  if (!process.getBuiltinModule?.('node:sqlite'))
    throw new AgentError('start', '', `ona needs Node 24.15 or later; this is ${process.version}`)
  const { cwd = process.cwd(), env = process.env, log = toStderr } = options
  const opened = openedOrThrown({
    cwd,
    env,
    db: options.db === undefined || options.db === inMemory ? inMemory : resolve(options.db),
    user: { ...nobody, ...interruptible(options.user) },
    on: (event) => {
      if (event.type === 'notice' && event.level !== 'info') log({ level: event.level, text: event.text })
    },
    settings: {
      ...(options.settings && { settings: JSON.stringify(options.settings) }),
      trust: options.trust === true,
    },
    ...(options.mcpServers && { mcpConfig: [JSON.stringify({ mcpServers: options.mcpServers })] }),
    bare: options.bare === true,
    rehearsalByDefault: options.rehearsal !== undefined,
    startRehearsal: async () => {
      const { startRehearsal } = await import('../rehearsal/server.ts')
      return startRehearsal({ player: options.rehearsal })
    },
  })
  for (const event of opened.tell) if (event.type === 'notice') log({ level: 'warning', text: event.text })

  const runtime = { ...opened.runtime, ...(options.prices && { prices: withCache(options.prices) }) }
  const models = new Map<string, ReturnType<typeof runtime.modelFor>>()
  const { db } = runtime
  let closed = false
  const close = async () => {
    if (closed) return
    closed = true
    opened.cleanUp()
  }
  return {
    db: db.path,
    query: (sql, ...values) => db.all(sql, ...values),
    close,
    [Symbol.asyncDispose]: close,
    [shared]: {
      ...opened,
      closed: () => closed,
      runtime,
      cwd,
      log,
      async model(name = '', agent) {
        if (typeof name !== 'string') return activeModel(name)
        const chosen = models.get(name) ?? runtime.modelFor(name)
        models.set(name, chosen)
        const model = await chosen
        if (!('problem' in model)) return model
        models.delete(name)
        throw new AgentError('start', agent, model.problem, model.error && { error: model.error })
      },
    },
  }
}

function openedOrThrown(options: StartOptions): Opened {
  try {
    const opened = openSharedRuntime(options)
    if (!('problem' in opened)) return opened
    throw new AgentError('start', '', opened.problem, opened.error && { error: opened.error })
  } catch (cause) {
    throw cause instanceof StoreError ? new AgentError('start', '', cause.message, { cause }) : cause
  }
}

const nobody: User = {
  permission: async () => undefined,
  questions: async () => undefined,
  approvePlan: async () => undefined,
  elicit: async () => undefined,
}

/** A question that nobody waits for any more has no answer. */
function interruptible(user: Partial<User> = {}): Partial<User> {
  const asks = Object.entries(user).map(([name, ask]) => [
    name,
    (asked: never, signal: AbortSignal) =>
      orAborted<unknown>(ask(asked, signal), signal).catch((cause) => {
        if (!signal.aborted) throw cause
      }),
  ])
  return Object.fromEntries(asks)
}

/** A price that says nothing of caches counts cached tokens as any other. */
const withCache = (prices: NonNullable<RuntimeOptions['prices']>): Record<string, Price> =>
  Object.fromEntries(
    Object.entries(prices).map(([model, price]) => [
      model,
      { cacheRead: price.input, cacheWrite: price.input, ...price },
    ]),
  )

export function toStderr({ text, cause }: LogEntry): void {
  const why = cause === undefined ? '' : `: ${errorOf(cause).message}`
  process.stderr.write(`ona: ${text}${why}\n`)
}
