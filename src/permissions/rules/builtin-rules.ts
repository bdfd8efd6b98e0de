/**
 * The built-in layer: allow rules for what only reads, below every other layer of `permissions.allow`.
 *
 * They are ordinary entries of the snapshot, so the order of document 003 §5.12 stays literal. They are never written to a
 * user's file. Managed settings and `"builtinRules": false` turn them off.
 */

/** Read, Grep and Glob in the working directories, except files that usually hold secrets. */
export const readInWorkingDirectories = 'Read(builtin:working-directories)'
/** Commands that the parser proves to be read-only, under the same limits on paths. */
export const readOnlyCommands = 'Bash(builtin:read-only)'

export const builtinRules: readonly string[] = [
  readInWorkingDirectories,
  readOnlyCommands,
  'Agent',
  'AskUserQuestion',
  'Brief',
  'EnterPlanMode',
  'ExitPlanMode',
  'ListMcpResources',
  'ReadMcpResource',
  'Skill',
  'TaskOutput',
  'TaskStop',
  'TodoWrite',
  'ToolSearch',
]

export const isBuiltinRule = (text: string): boolean => builtinRules.includes(text)
