/** A change to permissions, as a hook may propose it and be offered it (spec 003, appendix B). */
import type { PermissionUpdate } from './plane.ts'
import { either, list, oneOf, optional, record, type Shape, string } from './shape.ts'

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
