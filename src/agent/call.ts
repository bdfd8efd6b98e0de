/** A call in flight: what its stages know of it, and how it may come out. */
import type { Decision } from '../hooks/plane.ts'
import type { JsonObject } from '../hooks/shape.ts'
import type { ToolUse } from '../providers/model.ts'

import type { Place } from '../sandbox/place.ts'
import type { WaitingShell } from '../tools/bash/waiting-shell.ts'
import { failed, type ToolOutput } from '../tools/output.ts'
import type { Tool } from '../tools/tool.ts'

import type { Answerer } from './events.ts'
import type { Pace } from './pace.ts'
import type { Session } from './session/session.ts'
import type { TurnEnd } from './turn-end.ts'

export interface Call {
  readonly session: Session
  readonly use: ToolUse
  readonly tool: Tool
  input: JsonObject
  /** What the hooks said; the rules hear of it. */
  hook: Decision
  /** Why they said so. */
  hookReason?: string
  /** What was asked or denied, and who said so: a row of the permission log. */
  permission?: { readonly decision: 'allow' | 'deny'; readonly reason: PermissionReason }
  /** The file as the rules judged it, links resolved: the tool touches this one and no other. */
  judgedPath?: string
  /** Where a Bash command runs, when a sandbox is enabled. */
  place?: Place
  /** The shell that waits for a Bash command. */
  shell?: WaitingShell
  /** Text for the model, beside the result. */
  context: string[]
  /** Of a call that runs beside others. */
  pace?: Pace
  /** How long the tool ran, where it did. */
  ranMs?: number
  /** The approval that it waits for: it has no result yet. */
  waiting?: string
  /** Set when a hook or the user ended the whole turn with this call. */
  end?: TurnEnd
}

export interface PermissionReason {
  readonly by: 'hook' | 'gate' | 'rule' | 'nobody' | Answerer
  readonly reason: string
  readonly rule?: string
  readonly [key: string]: unknown
}

export interface Outcome {
  readonly output: ToolOutput
  readonly as: 'ran' | 'denied' | 'intercepted' | 'interrupted' | 'invalid'
}

export const denied = (reason: string): Outcome => ({ output: failed(reason), as: 'denied' })

/** Denied by one who is accountable for it: goes into the permission log. */
export function refuse(call: Call, reason: string, by: PermissionReason['by'], rule?: string): Outcome {
  call.permission = { decision: 'deny', reason: { by, reason, ...(rule && { rule }) } }
  return denied(reason)
}

/** The one file that a call is about, where it is about one. */
export const pathOf = (input: JsonObject): string | undefined =>
  [input['file_path'], input['notebook_path']].find((path) => typeof path === 'string')
