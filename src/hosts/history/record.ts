/** What a history reader takes and gives: the lines of another agent's session files become records of one vocabulary. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { isFileTool, namedFiles, patchedFiles, patchKey } from '../named-files.ts'
import type { Skipped } from './files.ts'

export interface HistoryReader {
  readonly agent: string
  readonly title: string
  /** Folders (or databases) in which this agent keeps its sessions. */
  roots(env: NodeJS.ProcessEnv, home: string): readonly string[]
  /** The session files under a root; for a file, itself when it is one. */
  files(root: string, skipped?: Skipped): HistoryFile[]
  /** How many sessions these files hold, without reading them; by default one a key. `orMore`: some files hold several. */
  sessionsIn?(files: readonly HistoryFile[], sinceMs: number): { readonly count: number; readonly orMore?: true }
  /** Changes `state`, which begins as what the file says `about` itself and is stored between imports as JSON. A line that means nothing to us gives `unknown`. */
  read(line: JsonObject, state: State): readonly HistoryRecord[]
  /** Lines whose first 300 bytes contain one of these are skipped without being parsed: bulk that no reader uses. */
  readonly skip?: readonly string[]
  /** Later lines repeat earlier ones: records are recognised by their keys. */
  readonly repeats?: boolean
  /** For agents that copy earlier records into the file of a forked session: names a record in all files, '' for none. A record is stored once. */
  copyKey?(line: JsonObject, state: State): string
  /** Whether a file is a thin copy of sessions that others hold whole. It comes after them, and a session is read from one kind alone. */
  isThin?(path: string): boolean
  /** Instead of lines, a document that changes in place (a SQLite database): what to read after `cursor`. `unreadable`: parts that cannot be read. */
  rows?(path: string, cursor: number): Iterable<{ line: JsonObject; cursor: number } | { unreadable: number }>
}

export interface HistoryFile {
  readonly path: string
  /** Names the file among those of its agent, wherever it is moved to. */
  readonly key: string
  /** What the file's name and neighbours say of it: a sub-agent's kind, the folder of the project. */
  readonly about?: JsonObject
  /** It is lines, although the reader has `rows`. */
  readonly lines?: true
}

/** Plain JSON. */
export type State = Record<string, unknown> & { readonly calls?: Record<string, string> }

export type HistoryRecord = { readonly session: string; readonly at: string; readonly key: string } & (
  | {
      readonly kind: 'session'
      readonly cwd?: string
      readonly version?: string
      readonly title?: string
      /** Of a sub-agent: the session that started it. */
      readonly parent?: { readonly session: string; readonly agentId: string; readonly agentType: string }
    }
  | { readonly kind: 'prompt'; readonly text: string }
  | { readonly kind: 'reply'; readonly text: string; readonly calls: readonly Call[] }
  | { readonly kind: 'usage'; readonly usage: Usage }
  | {
      readonly kind: 'result'
      readonly call: string
      readonly tool: string
      readonly output: string
      readonly isError: boolean
      readonly decision: Decision
    }
  | { readonly kind: 'hook'; readonly hook: HookRun }
  /** Something that went wrong, or that an auditor wants to see: kept as an event. */
  | { readonly kind: 'event'; readonly type: string; readonly detail: JsonObject }
  | { readonly kind: 'unknown'; readonly type: string }
)

export interface Call {
  readonly id: string
  /** In ona's vocabulary; `original` keeps what the agent called it where that differs. */
  readonly name: string
  readonly input: JsonObject
  readonly original?: { readonly name: string; readonly input: JsonObject }
}

export interface Usage {
  readonly model: string
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly costUsd?: number
}

export interface Decision {
  readonly decision: 'allow' | 'deny'
  /** What rules and hooks said, before a user answered. */
  readonly was: 'allow' | 'ask' | 'deny'
  /** rule, hook, mode, person, nobody; `unrecorded` where the history does not say. */
  readonly by: string
  readonly reason?: string
}

export interface HookRun {
  readonly event: string
  readonly command: string
  readonly call?: string
  readonly tool?: string
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  readonly ms: number
}

/** It ran, and the history does not say whether anybody was asked. */
export const ran: Decision = { decision: 'allow', was: 'allow', by: 'unrecorded' }

export const object = (value: unknown): JsonObject => (isObject(value) ? value : {})
export const objects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
export const text = (value: unknown): string => (typeof value === 'string' ? value : '')
export const number = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) ? Math.max(0, value) : 0

/** `text` parts joined; a plain string as it is. */
export const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : objects(content)
        .map((part) => text(part['text']))
        .filter((part) => part !== '')
        .join('\n')

/** ISO strings, milliseconds and seconds as ISO; '' for what is no time. */
export function time(value: unknown): string {
  const ms = typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? asMs(value) : Number.NaN
  return ms >= 0 && ms < 253_402_300_800_000 ? new Date(ms).toISOString() : ''
}
const asMs = (value: number): number => (value < 100_000_000_000 ? value * 1000 : value)

/** How an agent's tool becomes one of ours: the name, and the keys of the input that rules look at. */
export type ToolTable = Readonly<Record<string, readonly [name: string, keys?: Readonly<Record<string, string>>]>>

/**
 * Looks a tool up in the agent's table; `mcp` recognises the names of MCP tools. A call that names several files, or whose
 * files are in a patch, lists them in `file_paths`: each of them is judged, as the hooks of that agent do.
 */
export function callOf(
  table: ToolTable,
  call: { readonly id: string; readonly name: string; readonly input: JsonObject },
  mcp: (name: string) => string | undefined = () => undefined,
): Call {
  const row = Object.hasOwn(table, call.name) ? table[call.name]! : undefined
  const name = row?.[0] ?? mcp(call.name) ?? call.name
  const keys = row?.[1] ?? {}
  const renamed = Object.keys(call.input).some((key) => Object.hasOwn(keys, key) && keys[key] !== key)
  const input = renamed
    ? Object.fromEntries(Object.entries(call.input).map(([key, value]) => [keys[key] ?? key, value]))
    : call.input
  const files = filesIn(name, call.input, input['file_path'])
  if (name === call.name && !renamed && !files) return call
  const original = { name: call.name, input: renamed ? call.input : {} }
  return { id: call.id, name, input: files ? { ...input, ...files } : input, original }
}

/** What is added to an input for its files; `named`: the one that it already names as we do. */
function filesIn(tool: string, input: JsonObject, named: unknown): JsonObject | undefined {
  const key = patchKey(input)
  if (!isFileTool(tool)) return key === undefined ? undefined : { file_paths: patchedFiles(text(input[key])) }
  const [first, ...others] = namedFiles(input)
  if (first === undefined || (others.length === 0 && first === named)) return undefined
  return { file_path: first, ...(others.length > 0 && { file_paths: [first, ...others] }) }
}

/** Remembers which tool a call used until its result arrives. */
export function opened(state: State, calls: readonly Call[]): void {
  const open = state.calls ?? {}
  Object.assign(state, { calls: open })
  for (const { id, name } of calls) open[id] = name
  const ids = Object.keys(open)
  for (const id of ids.slice(0, Math.max(0, ids.length - 1000))) delete open[id]
}

export function closed(state: State, id: string): string | undefined {
  const { calls } = state
  const name = calls && Object.hasOwn(calls, id) ? calls[id] : undefined
  if (name !== undefined) delete calls![id]
  return typeof name === 'string' ? name : undefined
}
