/** A question about a tool call, and its answer. */
import type { Decision, PermissionMode, PermissionUpdate } from '../hooks/plane.ts'
import type { JsonObject } from '../hooks/shape.ts'
import type { KnownPlaces } from './paths/pattern.ts'
import type { FileView } from './paths/view.ts'
import type { ProtectedPath } from './protected-paths.ts'
import type { Rule } from './rules/rule.ts'

/** The `permissions` of the settings (spec 003, appendix E). Never changed in place: rules are read once an object. */
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
  /** Other folders that deny and ask rules stay anchored to: the project that a worktree was made from. */
  readonly origins?: readonly string[]
  /** Paths that only this session protects: see protected-paths.ts. */
  readonly protect?: readonly ProtectedPath[]
  /** The command runs in a sandbox that holds protected paths itself. */
  readonly fenced?: true
  /** What is seen of the file system; without one, it is looked at each time. */
  readonly files?: FileView
  /** Worked out from the others once a ruling: see `placesOf`. */
  readonly places?: KnownPlaces
}

export interface Ruling {
  readonly decision: 'allow' | 'ask' | 'deny'
  /** For the user and the model: which rule, mode or hook said so, and what would allow it. */
  readonly reason: string
  /** The rule as written, where one decided. */
  readonly rule?: string
  /** What "always" in the dialog would save. */
  readonly suggestions: readonly PermissionUpdate[]
  /** The file's spellings as they were judged; `leadsAsJudged` tells whether they still hold when the tool starts. */
  readonly paths?: readonly string[]
}

/** What the rules alone say; open: none of them decides. */
export interface Finding {
  readonly word: 'deny' | 'ask' | 'allow' | 'open'
  readonly rule?: Rule
  readonly why: string
  /** An ask out of doubt, where no rule allows it either: a mode that denies has the last word. */
  readonly unlessDenied?: true
  /** Bash: the commands that no allow rule covers, where that can be known. */
  readonly uncovered?: readonly string[]
}
