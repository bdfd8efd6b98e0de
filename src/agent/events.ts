/** What the agent reports to whoever watches it (the terminal, `-p`, an editor, the SDK), and what it asks of the user. */
import type { HookNote, PermissionUpdate } from '../hooks/plane.ts'
import type { JsonObject } from '../hooks/shape.ts'
import type { StopReason } from '../hooks/steps.ts'
import type { ModelFailure, ModelUsage, Part, Reply } from '../providers/model.ts'
import type { Question } from '../tools/host.ts'
import type { Display, Todo, ToolOutput } from '../tools/output.ts'

export interface SpeakingAgent {
  readonly id: string
  readonly type: string
  readonly about: string
  /** The call that started it. */
  readonly toolUseId?: string
}

/** `agent` is set when a sub-agent says it. */
export type AgentEvent = { readonly agent?: SpeakingAgent } & (
  | { readonly type: 'turn-started' }
  | { readonly type: 'request'; readonly model: string; readonly messageCount: number }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | {
      readonly type: 'assistant'
      readonly text: string
      readonly thinking?: string
      readonly toolUses: readonly { id: string; name: string; input: JsonObject }[]
      readonly usage?: ModelUsage
      readonly stop?: Reply['stop']
    }
  | {
      readonly type: 'tool-started'
      readonly id: string
      readonly name: string
      readonly input: JsonObject
      readonly summary: string
    }
  /** Hooks, rules and the user have let the call through; the tool itself starts. */
  | { readonly type: 'tool-running'; readonly id: string }
  | { readonly type: 'tool-progress'; readonly id: string; readonly text: string }
  | {
      readonly type: 'tool-finished'
      readonly id: string
      readonly name: string
      readonly output: ToolOutput
      /** How long the tool itself ran: waiting for hooks and for the user does not count. */
      readonly ms: number
      readonly outcome: 'ran' | 'denied' | 'intercepted' | 'interrupted' | 'invalid'
    }
  /** `toolUseId`: the call it is about. */
  | { readonly type: 'hook'; readonly note: HookNote; readonly toolUseId?: string }
  | {
      readonly type: 'usage'
      readonly usage: ModelUsage
      readonly costUsd: number | null
      readonly contextShare: number
    }
  | Extract<Part, { type: 'retry' }>
  | { readonly type: 'todos'; readonly todos: readonly Todo[] }
  | { readonly type: 'phase'; readonly from: string; readonly to: string }
  | {
      readonly type: 'compacted'
      readonly trigger: 'manual' | 'auto'
      readonly tokensBefore: number
      readonly tokensAfter: number
    }
  | {
      readonly type: 'task'
      readonly id: string
      readonly about: string
      readonly status: 'started' | 'completed' | 'failed' | 'killed'
    }
  | { readonly type: 'notice'; readonly level: 'info' | 'warning' | 'error'; readonly text: string }
  | { readonly type: 'brief'; readonly text: string }
  | { readonly type: 'display'; readonly display: Display }
  | {
      readonly type: 'turn-ended'
      readonly stop: StopReason | 'error'
      readonly text: string
      readonly failure?: ModelFailure
    }
)

/** Who answers. Every question may be withdrawn through the signal; undefined means nobody answers. */
export interface User {
  permission(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer | undefined>
  questions(questions: readonly Question[], signal: AbortSignal): Promise<Record<string, string> | undefined>
  approvePlan(plan: string, signal: AbortSignal): Promise<PlanAnswer | undefined>
  elicit(request: ElicitRequest, signal: AbortSignal): Promise<ElicitAnswer | undefined>
}

export interface PermissionRequest {
  readonly toolUseId: string
  readonly tool: string
  readonly input: JsonObject
  readonly summary: string
  /** The rule, hook or mode that makes it a prompt. */
  readonly reason: string
  readonly suggestions: readonly PermissionUpdate[]
  readonly agent?: string
  readonly agentId?: string
  /** What the sub-agent was started for, in a few words. */
  readonly agentTask?: string
}

/** `driver`: the program that holds our stdin and stdout. */
export type Answerer = 'person' | 'operator' | 'driver' | 'prompt_tool'

export type PermissionAnswer = { readonly by?: Answerer } & (
  | {
      readonly allow: true
      readonly updates?: readonly PermissionUpdate[]
      /** Yes to this input instead; the rules judge it once more. */
      readonly input?: JsonObject
    }
  | { readonly allow: false; readonly feedback?: string; readonly interrupt?: boolean }
)

export type PlanAnswer =
  | { readonly approve: true; readonly plan: string; readonly acceptEdits: boolean; readonly by?: Answerer }
  | { readonly approve: false; readonly feedback: string }

export interface ElicitRequest {
  readonly server: string
  readonly message: string
  readonly mode: 'form' | 'url'
  readonly url?: string
  readonly schema?: JsonObject
}

export type ElicitAnswer = { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: JsonObject }
