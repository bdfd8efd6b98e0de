/** Events that only Claude Code has. */

/** They only observe: a hook there is left out with a warning. */
export const observingEvents: readonly string[] = ['PostModelSwitch', 'DirectoryAdded', 'MessageDisplay']

/** They can block: a guard there cannot be in force here, so it is an error. */
export const blockingEvents: readonly string[] = ['PreModelSwitch', 'UserPromptExpansion', 'PostToolBatch']
