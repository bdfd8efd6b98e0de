import type { Moment } from '../hook.ts'

export const geminiEvents: Record<Moment, string> = {
  boot: 'SessionStart',
  compact: 'PreCompress',
  talk: 'BeforeAgent',
  before: 'BeforeTool',
  after: 'AfterTool',
  stop: 'AfterAgent',
}

/** The same under Claude Code's names, in which a role's command gets them. */
export const geminiEventNames: Readonly<Record<string, string>> = {
  BeforeTool: 'PreToolUse',
  AfterTool: 'PostToolUse',
  AfterAgent: 'Stop',
  BeforeAgent: 'UserPromptSubmit',
  PreCompress: 'PreCompact',
}
