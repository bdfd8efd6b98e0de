/** Agents in code; adding a line here is a promise. */
export type { AgentEvent, PermissionAnswer, PermissionRequest, Person } from '../agent/events.ts'
export {
  defineHook,
  defineStepHook,
  type HookArgs as PlaneHookArgs,
  type StepArgs,
} from '../hooks/define.ts'
export type { Handler } from '../hooks/handler.ts'
export type { Block } from '../hooks/steps.ts'
export type { Message, ModelRequest, Reply } from '../providers/model.ts'
export type { Price } from '../providers/models/spec.ts'
export type { Chat, Said } from '../rehearsal/chat.ts'
export { type Agent, type AgentDefinition, type AgentPermissions, type AnyAgent, defineAgent } from './agent.ts'
export { AgentError, type AgentFailure } from './agent-error.ts'
export { Context } from './context.ts'
export type { Field, Fields, TransformOptions } from './fields.ts'
export { type Filtered, type Handoff, type Handover, handoff } from './handoff.ts'
export {
  type AgentHooks,
  addGlobalHooks,
  type GlobalHooks,
  type HookArgs,
  type HookName,
  hookNames,
  type TokenCounts,
  type ValidationFailure,
} from './hooks.ts'
export type { OwnModel } from './model.ts'
export { type RunOptions, type RunResult, run } from './run.ts'
export { type AgentRuntime, type LogEntry, openRuntime, type RuntimeOptions } from './runtime.ts'
export type { Schema } from './schema.ts'
export { type RunStream, stream } from './stream.ts'
export { defineTool, type FunctionTool, type ToolScope } from './tool.ts'
export type { RunUsage } from './usage.ts'
