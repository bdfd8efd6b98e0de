/** What a platform team, a role or a supplier of brains may lean on; adding a line here is a promise. */

export type { FileEdit } from '../files/file-edits.ts'
export { Problem } from '../files/problem.ts'
export {
  adapterFor,
  type BrainHooksAdapter,
  type BrainHooksDao,
  type OwnAdapter,
  type PickOne,
} from '../hosts/adapter.ts'
export { type DurationParts, durationMs, durationText, type IsoDuration } from '../hosts/duration.ts'
export type { BrainHook, BrainHookEvent, BrainHookFilter, BrainHookUnique } from '../hosts/hook.ts'
export type { Host as Brain, Limit } from '../hosts/host.ts'
export { detectBrainReplsInRepo } from './detect.ts'
export { applyOnAct, applyOnAsk, dispatchHandlers, linkedDispatch } from './dispatch.ts'
export { applySync, type BrainPlan, planSync, type SyncRequest, type Target } from './plan.ts'
export { parseRoles } from './read-roles.ts'
export {
  type ActInput,
  type AskInput,
  authorOf,
  hooksOf,
  type Role,
  type RoleDir,
  type RoleDirs,
  type RoleHookOnBrain,
  type RoleHooks,
  type RoleHooksOnBrain,
  type RoleHooksOnDispatch,
  type RoleProof,
  type RoleRegistry,
  type Transform,
  type Transforms,
} from './role.ts'
export { type BrainSupplier, getBrainHooks, getBrainHooksAdapterByConfigImplicit } from './suppliers.ts'
export { type Change, diffHooks, syncRoleHooksIntoBrainRepl } from './sync.ts'
