/** The 27 events: one row each, in the order of the specification's stdin union. */

import {
  boolean,
  type Fielded,
  json,
  list,
  map,
  nullable,
  oneOf,
  optional,
  record,
  type Shape,
  string,
} from './shape.ts'
import type { StepName } from './steps.ts'
import { permissionUpdate } from './wire/permission-update.ts'

/** What exit code 2 of a command hook means at an event. */
export type OnBlock =
  | 'deny' // this one tool call is refused
  | 'refuse' // the prompt, task or change is refused
  | 'go-on' // the turn does not end; the model gets stderr
  | 'show-model' // too late to stop anything; the model gets stderr
  | 'show-user' // too late to stop anything; stderr is shown to the user

export interface EventRow<F extends Record<string, Shape<unknown>> = Record<string, Shape<unknown>>> {
  readonly fields: F
  /** The field that a hook's matcher is held against; none: only "" and * match. */
  readonly matchOn?: keyof F & string
  /** A matcher is ignored here, as in Claude Code; a guard with one still runs. */
  readonly takesNoMatcher?: true
  readonly onBlock: OnBlock
  /** The step of the turn at which the event is raised, where there is one. */
  readonly step?: StepName
}

const row = <F extends Record<string, Shape<unknown>>>(row: EventRow<F>): EventRow<F> => row

const toolCall = { tool_name: string(), tool_input: json() }
const task = {
  task_id: string(),
  task_subject: string(),
  task_description: optional(string()),
  teammate_name: optional(string()),
  team_name: optional(string()),
}
const elicitationMode = optional(oneOf(['form', 'url']))

export const events = {
  PreToolUse: row({
    fields: { ...toolCall, tool_use_id: string() },
    matchOn: 'tool_name',
    onBlock: 'deny',
    step: 'before_tool_apply',
  }),
  PostToolUse: row({
    fields: { ...toolCall, tool_response: json(), tool_use_id: string() },
    matchOn: 'tool_name',
    onBlock: 'show-model',
    step: 'after_tool_apply',
  }),
  PostToolUseFailure: row({
    fields: { ...toolCall, tool_use_id: string(), error: string(), is_interrupt: optional(boolean()) },
    matchOn: 'tool_name',
    onBlock: 'show-model',
    step: 'after_tool_apply',
  }),
  PermissionDenied: row({
    fields: { ...toolCall, tool_use_id: string(), reason: string() },
    matchOn: 'tool_name',
    onBlock: 'show-user',
    step: 'after_permission',
  }),
  Notification: row({
    fields: { message: string(), title: optional(string()), notification_type: string() },
    matchOn: 'notification_type',
    onBlock: 'show-user',
  }),
  UserPromptSubmit: row({
    fields: { prompt: string() },
    takesNoMatcher: true,
    onBlock: 'refuse',
    step: 'before_ingest',
  }),
  SessionStart: row({
    fields: {
      source: oneOf(['startup', 'resume', 'clear', 'compact']),
      agent_type: optional(string()),
      model: optional(string()),
    },
    matchOn: 'source',
    onBlock: 'show-user',
    step: 'after_session_enter',
  }),
  SessionEnd: row({
    fields: {
      reason: oneOf(['clear', 'resume', 'logout', 'prompt_input_exit', 'other', 'bypass_permissions_disabled']),
    },
    matchOn: 'reason',
    onBlock: 'show-user',
  }),
  Stop: row({
    fields: { stop_hook_active: boolean(), last_assistant_message: optional(string()) },
    takesNoMatcher: true,
    onBlock: 'go-on',
    step: 'before_turn_end',
  }),
  StopFailure: row({
    fields: {
      error: oneOf([
        'authentication_failed',
        'billing_error',
        'rate_limit',
        'invalid_request',
        'server_error',
        'unknown',
        'max_output_tokens',
      ]),
      error_details: optional(string()),
      last_assistant_message: optional(string()),
    },
    matchOn: 'error',
    onBlock: 'show-user',
  }),
  SubagentStart: row({
    fields: { agent_id: string(), agent_type: string() },
    matchOn: 'agent_type',
    onBlock: 'show-user',
    step: 'after_turn_enter',
  }),
  SubagentStop: row({
    fields: {
      stop_hook_active: boolean(),
      agent_id: string(),
      agent_transcript_path: string(),
      agent_type: string(),
      last_assistant_message: optional(string()),
    },
    matchOn: 'agent_type',
    onBlock: 'go-on',
    step: 'before_turn_end',
  }),
  PreCompact: row({
    fields: { trigger: oneOf(['manual', 'auto']), custom_instructions: nullable(string()) },
    matchOn: 'trigger',
    onBlock: 'refuse',
    step: 'before_compact',
  }),
  PostCompact: row({
    fields: { trigger: oneOf(['manual', 'auto']), compact_summary: string() },
    matchOn: 'trigger',
    onBlock: 'show-user',
    step: 'after_compact',
  }),
  PermissionRequest: row({
    fields: { ...toolCall, permission_suggestions: optional(list(permissionUpdate)) },
    matchOn: 'tool_name',
    onBlock: 'deny',
    step: 'before_permission',
  }),
  Setup: row({ fields: { trigger: oneOf(['init', 'maintenance']) }, matchOn: 'trigger', onBlock: 'show-user' }),
  TeammateIdle: row({ fields: { teammate_name: string(), team_name: string() }, onBlock: 'go-on' }),
  TaskCreated: row({ fields: task, onBlock: 'refuse' }),
  TaskCompleted: row({ fields: task, onBlock: 'refuse' }),
  Elicitation: row({
    fields: {
      mcp_server_name: string(),
      message: string(),
      mode: elicitationMode,
      url: optional(string()),
      elicitation_id: optional(string()),
      requested_schema: optional(map(json())),
    },
    matchOn: 'mcp_server_name',
    onBlock: 'refuse',
  }),
  ElicitationResult: row({
    fields: {
      mcp_server_name: string(),
      elicitation_id: optional(string()),
      mode: elicitationMode,
      action: oneOf(['accept', 'decline', 'cancel']),
      content: optional(map(json())),
    },
    matchOn: 'mcp_server_name',
    onBlock: 'refuse',
  }),
  ConfigChange: row({
    fields: {
      source: oneOf(['user_settings', 'project_settings', 'local_settings', 'policy_settings', 'skills']),
      file_path: optional(string()),
    },
    matchOn: 'source',
    onBlock: 'refuse',
  }),
  InstructionsLoaded: row({
    fields: {
      file_path: string(),
      memory_type: oneOf(['User', 'Project', 'Local', 'Managed']),
      load_reason: oneOf(['session_start', 'nested_traversal', 'path_glob_match', 'include', 'compact']),
      globs: optional(list(string())),
      trigger_file_path: optional(string()),
      parent_file_path: optional(string()),
    },
    matchOn: 'load_reason',
    onBlock: 'show-user',
  }),
  WorktreeCreate: row({ fields: { name: string() }, takesNoMatcher: true, onBlock: 'refuse' }),
  WorktreeRemove: row({ fields: { worktree_path: string() }, takesNoMatcher: true, onBlock: 'show-user' }),
  CwdChanged: row({
    fields: { old_cwd: string(), new_cwd: string() },
    takesNoMatcher: true,
    onBlock: 'show-user',
  }),
  FileChanged: row({
    fields: { file_path: string(), event: oneOf(['change', 'add', 'unlink']) },
    matchOn: 'file_path',
    onBlock: 'show-user',
  }),
} as const

export type EventName = keyof typeof events
/** An event's own fields, as on the wire. */
export type EventFields = { [E in EventName]: Fielded<(typeof events)[E]['fields']> }

export const eventNames = Object.keys(events) as EventName[]
/** An event's row, whichever it is. */
export const rowOf = (name: EventName): EventRow => events[name] as unknown as EventRow
export const isEventName = (name: string): name is EventName => Object.hasOwn(events, name)

/** What every event carries besides its own fields. There is no transcript_path: the database is the transcript. */
export const header = {
  hook_event_name: string(),
  session_id: string(),
  conversation_id: string(),
  runtime_db_path: string(),
  cwd: string(),
  permission_mode: optional(string()),
  agent_id: optional(string()),
  agent_type: optional(string()),
}
export type Header = Fielded<typeof header>

/** A whole event as a hook reads it on stdin. */
export type Event<E extends EventName = EventName> = { [N in E]: Header & { hook_event_name: N } & EventFields[N] }[E]

export const eventShape = (name: EventName): Shape<unknown> => record({ ...header, ...events[name].fields })
