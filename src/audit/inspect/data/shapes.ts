/** What the server answers and the browser shows. Types only: both sides import them. */

export interface Progress {
  /** Rows of the record, and how many of them the index has  */
  readonly rows: number
  readonly read: number
}

export interface Totals {
  readonly conversations: number
  readonly prompts: number
  readonly calls: number
  readonly refused: number
  readonly asked: number
  readonly tokens: number
  /** Null: no reply had a price. */
  readonly cost: number | null
}

export interface Day {
  /** `2026-11-15`, in local time. */
  readonly day: string
  readonly calls: number
  readonly refused: number
  readonly cost: number
}

export interface HookStat {
  readonly hook: string
  readonly runs: number
  readonly denied: number
  readonly failed: number
  readonly p50: number
  readonly p95: number
}

export interface RulingStat {
  readonly tool: string
  readonly decider: string
  readonly cause: string
  readonly times: number
  /** How many of them were allowed in the end. */
  readonly allowed: number
}

export interface ConversationRow {
  readonly id: string
  readonly title: string
  readonly agent: string
  readonly project: string
  readonly phase: string
  /** UTC, `2026-11-15 08:23:00`. */
  readonly lastActive: string
  readonly calls: number
  readonly refused: number
  readonly cost: number | null
}

export interface Choices {
  readonly agents: readonly string[]
  readonly projects: readonly string[]
  readonly hooks: readonly string[]
  /** Of a fleet's record; otherwise none. */
  readonly nodes: readonly string[]
  readonly teams: readonly string[]
}

export interface Hit {
  /** `user`, `assistant`, `tool_use` or `tool_result`. */
  readonly type: string
  readonly at: string
  /** The page of the conversation that holds it. */
  readonly page: number
  /** Around the first of the words; every second piece is one of them. */
  readonly pieces: readonly string[]
}

export interface Found extends ConversationRow {
  /** `ona audit archive` moved it out of the database. */
  readonly archived?: boolean
  /** None of an archived conversation where much was found: opening it shows them. */
  readonly hits: readonly Hit[]
}

export interface SearchResult {
  readonly found: readonly Found[]
  readonly more: boolean
}

/** A call that waits for a decision. */
export interface Waiting {
  readonly id: string
  readonly tool: string
  readonly summary: string
  readonly input: string
  readonly reason: string
  /** Who decides; null: any operator. */
  readonly owner: string | null
  readonly conversation: string
  readonly createdAt: string
  readonly expiresAt: string
}

export interface Dashboard {
  /** The record is that of a fleet, which has pages of its own. */
  readonly isFleet: boolean
  readonly database: string
  readonly progress: Progress
  readonly totals: Totals
  readonly days: readonly Day[]
  readonly hooks: readonly HookStat[]
  readonly denials: readonly RulingStat[]
  readonly prompts: readonly RulingStat[]
  readonly approvals: readonly Waiting[]
  readonly choices: Choices
  readonly conversations: readonly ConversationRow[]
  readonly page: number
  readonly pages: number
}
