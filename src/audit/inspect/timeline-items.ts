/** What a timeline is made of: its items, and the rows they come from. */
import type { JsonObject } from '../../hooks/shape.ts'
import type { HookAnswer } from './hook-answer.ts'

export type Item =
  | { readonly kind: 'prompt'; readonly at: string; readonly text: string; readonly source: string }
  | { readonly kind: 'reply'; readonly at: string; readonly text: string }
  | CallItem
  | ({ readonly kind: 'hook'; readonly tool: string | null } & HookAnswer)
  | { readonly kind: 'phase'; readonly at: string; readonly from: string; readonly to: string; readonly by: string }
  | PlanItem
  | AgentItem
  | { readonly kind: 'note'; readonly at: string; readonly about: string; readonly text: string }

export interface CallItem {
  readonly kind: 'call'
  readonly at: string
  readonly id: string
  readonly tool: string
  readonly input: JsonObject
  /** Null: it has no result yet, or never got one. */
  readonly output: string | null
  readonly is_error: boolean
  readonly permission: Permission | null
  readonly hooks: readonly HookAnswer[]
  readonly agents: readonly AgentItem[]
}

export interface Permission {
  readonly decision: string
  readonly by: string
  readonly reason: string
  readonly rule: string | null
}

export interface PlanItem {
  readonly kind: 'plan'
  readonly at: string
  readonly what: 'drafted' | 'approved' | 'signed off'
  readonly plan: number | null
  readonly by: string
  /** Where it was drafted. */
  readonly content: string
}

export interface AgentItem {
  readonly kind: 'agent'
  readonly at: string
  readonly type: string
  readonly session: string
  readonly items: readonly Item[]
  /** Rows of its transcript that are not among the items. */
  readonly left_out: number
}

export interface Session {
  readonly id: string
  readonly conversationId: string
  readonly startedAt: string
  readonly entries: number
  /** Events of the conversation that name no session are shown in the session that was running. */
  readonly firstEvent: number
  readonly nextEvent: number
}

export interface EntryRow {
  readonly sequence: number
  readonly type: string
  readonly toolUseId: string | null
  readonly at: string
  readonly payload: string | null
}
