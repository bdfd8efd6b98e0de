/** An answer to a permission question, and the changes to permissions that it may bring (spec 003, appendix B). */
import { boolean, either, json, list, literal, map, oneOf, optional, record, type Shape, string } from '../shape.ts'

type Destination = 'userSettings' | 'projectSettings' | 'localSettings' | 'session' | 'cliArg'
type RuleValue = { readonly toolName: string; readonly ruleContent?: string }
export type PermissionMode = 'default' | 'acceptEdits' | 'bypassPermissions' | 'plan' | 'dontAsk'

export type PermissionUpdate =
  | {
      readonly type: 'addRules' | 'replaceRules' | 'removeRules'
      readonly rules: readonly RuleValue[]
      readonly behavior: 'allow' | 'deny' | 'ask'
      readonly destination: Destination
    }
  | { readonly type: 'setMode'; readonly mode: PermissionMode; readonly destination: Destination }
  | {
      readonly type: 'addDirectories' | 'removeDirectories'
      readonly directories: readonly string[]
      readonly destination: Destination
    }

const destination = oneOf(['userSettings', 'projectSettings', 'localSettings', 'session', 'cliArg'])
const rules = list(record({ toolName: string(), ruleContent: optional(string()) }))

export const permissionUpdate: Shape<PermissionUpdate> = either(
  record({
    type: oneOf(['addRules', 'replaceRules', 'removeRules']),
    rules,
    behavior: oneOf(['allow', 'deny', 'ask']),
    destination,
  }),
  record({
    type: oneOf(['setMode']),
    mode: oneOf(['acceptEdits', 'bypassPermissions', 'default', 'dontAsk', 'plan']),
    destination,
  }),
  record({ type: oneOf(['addDirectories', 'removeDirectories']), directories: list(string()), destination }),
)

export const permissionDecision = either(
  record({
    behavior: literal('allow'),
    updatedInput: optional(map(json())),
    updatedPermissions: optional(list(permissionUpdate)),
  }),
  record({ behavior: literal('deny'), message: optional(string()), interrupt: optional(boolean()) }),
)
