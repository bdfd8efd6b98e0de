/** Agents in code; adding a line here is a promise. */
export type { AgentEvent, PermissionAnswer, PermissionRequest, User } from '../agent/events.ts'
export { allow, ask, deny, type ToolAnswer } from '../hooks/answers.ts'
export {
  defineStepHook,
  type HookArgs as PlaneHookArgs,
  type StepArgs,
} from '../hooks/define.ts'
export type { Handler } from '../hooks/handler.ts'
export type { Block } from '../hooks/steps.ts'
export type { Message, ModelRequest, Reply } from '../providers/model.ts'
export type { Price } from '../providers/models/spec.ts'
export type { Chat, Said } from '../rehearsal/chat.ts'
export { defineAgent } from './agent.ts'
export { AgentError, type AgentFailure } from './agent-error.ts'
export type {
  Agent,
  AgentDefinition,
  AgentHooks,
  AgentPermissions,
  AnyAgent,
  Filtered,
  FunctionTool,
  GlobalHooks,
  Guard,
  GuardArgs,
  Handoff,
  Handover,
  HookArgs,
  HookName,
  TokenCounts,
  ToolScope,
  ValidationFailure,
} from './agent-types.ts'
export { type AgentToolOptions, asTool } from './as-tool.ts'
export { Context } from './context.ts'
export { defineHook, guard } from './guard.ts'
export { handoff } from './handoff.ts'
export { addGlobalHooks, hookNames } from './hooks.ts'
export type { OwnModel } from './model.ts'
export type { Field, Fields, TransformOptions } from './output/fields.ts'
export type { Schema } from './output/schema.ts'
export { type RunOptions, type RunResult, run } from './run.ts'
export type { RunEvent } from './run-event.ts'
export { type AgentRuntime, type LogEntry, openRuntime, type RuntimeOptions } from './runtime.ts'
export { type RunStream, stream } from './stream.ts'
export { defineTool } from './tool.ts'
export type { RunUsage } from './usage.ts'
