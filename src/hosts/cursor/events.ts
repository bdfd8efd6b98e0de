import type { Moment } from '../hook.ts'

export const cursorEvents: Record<Moment, string> = {
  boot: 'sessionStart',
  compact: 'preCompact',
  talk: 'beforeSubmitPrompt',
  before: 'preToolUse',
  after: 'postToolUse',
  stop: 'stop',
}
