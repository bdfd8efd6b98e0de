/** The version of Claude Code whose stream-json protocol this is; hosts compare it before they use a feature. */
export const claudeVersion = '2.1.325'
