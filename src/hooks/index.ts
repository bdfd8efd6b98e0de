/** What a hook's author may lean on; adding a line here is a promise. */
export { allow, ask, deny, type ToolAnswer } from './answers.ts'
export {
  defineHook,
  defineStepHook,
  type HookArgs,
  type HookContext,
  type HookOptions,
  type StandardArgs,
  type StepArgs,
  type StepHookOptions,
} from './define.ts'
export { createPlane, type PlaneOptions } from './dispatch.ts'
export {
  type Event,
  type EventFields,
  type EventName,
  eventNames,
  eventShape,
  type Header,
  isEventName,
} from './events.ts'
export type { Handler, StepReply, StepVerdict } from './handler.ts'
export type { AskModel, ModelQuestion } from './handlers/prompt.ts'
export { serveHook } from './handlers/serve.ts'
export { type Ordered, orderHandlers } from './order.ts'
export type { Answer, Decision, HookNote, Invocation, PermissionUpdate, Plane, Raised, Scope } from './plane.ts'
export { createRedactor, type Redact, redact } from './secrets/redact.ts'
export { type HookProblem, readHooks, sayHookProblem } from './settings.ts'
export { type Applied, applyVerdict, runStepPipeline, toEnvelope, type VerdictError } from './step/apply.ts'
export { type Block, type Control, type StepName, type Steps, type StopReason, stepNames } from './steps.ts'
export { type Output, outputShape, readOutput } from './wire/output.ts'
