/** One pure function decides on a call: allow, ask or deny, with the rule that said so. */
import type { Decision, PermissionMode, PermissionUpdate } from '../hooks/plane.ts'
import type { JsonObject } from '../hooks/shape.ts'

/** The `permissions` of the settings (spec 003, appendix E), rules already validated. */
export interface PermissionSettings {
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  readonly ask?: readonly string[]
  readonly defaultMode?: PermissionMode
  readonly additionalDirectories?: readonly string[]
  readonly disableBypassPermissionsMode?: 'disable'
  readonly allowManagedPermissionRulesOnly?: boolean
}

export interface PermissionQuestion {
  readonly settings: PermissionSettings
  readonly mode: PermissionMode
  readonly tool: string
  readonly input: JsonObject
  /** What the hooks said; an allow answers the mode's question, and never undoes a deny or ask rule. */
  readonly hook: Decision
  readonly cwd: string
  readonly projectDir: string
  readonly home: string
}

export interface Ruling {
  readonly decision: 'allow' | 'ask' | 'deny'
  /** For people and the model: which rule, mode or hook said so, and what would allow it. */
  readonly reason: string
  /** The rule as written, where one decided. */
  readonly rule?: string
  /** What "always" in the dialog would save. */
  readonly suggestions: readonly PermissionUpdate[]
}
