/** What a platform team, a role or a supplier of brains may lean on; adding a line here is a promise. */
export { adapterFor, type BrainHooksAdapter, type BrainHooksDao, type OwnAdapter, type PickOne } from './adapter.ts'
export type { Brain, Limit } from './brain.ts'
export { detectBrainReplsInRepo } from './detect.ts'
export { applyOnAct, applyOnAsk, dispatchHandlers, linkedDispatch } from './dispatch.ts'
export { type DurationParts, durationMs, durationText, type IsoDuration } from './duration.ts'
export type { FileEdit } from './files.ts'
export type { BrainHook, BrainHookEvent, BrainHookFilter, BrainHookUnique } from './hook.ts'
export { applySync, type BrainPlan, planSync, type SyncRequest, type Target } from './plan.ts'
export { Problem } from './problem.ts'
export {
  type ActInput,
  type AskInput,
  authorOf,
  hooksOf,
  parseRoles,
  type Role,
  type RoleDir,
  type RoleDirs,
  type RoleHookOnBrain,
  type RoleHooks,
  type RoleHooksOnBrain,
  type RoleHooksOnDispatch,
  type RoleRegistry,
  type Transform,
  type Transforms,
} from './role.ts'
export { type BrainSupplier, getBrainHooks, getBrainHooksAdapterByConfigImplicit } from './suppliers.ts'
export { type Change, diffHooks, syncRoleHooksIntoBrainRepl } from './sync.ts'
