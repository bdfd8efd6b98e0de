/** Claude Code's events and its variable for the project's root; Codex, ona and VS Code use the same event names. */
import type { Moment } from '../hook.ts'

export const claudeEvents: Record<Moment, string> = {
  boot: 'SessionStart', // startup, resume, clear and compact: every fresh context
  compact: 'PreCompact',
  talk: 'UserPromptSubmit',
  before: 'PreToolUse',
  after: 'PostToolUse',
  stop: 'Stop',
}

/** The variable is missing where other agents read this file; those stand at the root already. */
export const claudeRoot = '"${CLAUDE_PROJECT_DIR:-.}"'
