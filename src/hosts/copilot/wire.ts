/** Copilot CLI and the dispatcher. It reads VS Code's registration, and Claude Code's file too. */
import type { Wire } from '../wire.ts'

export const copilotWire: Wire = {
  ignoresUnknownKeys: true,
  readsTopLevel: true,
  isSender: (raw, env) => env['COPILOT_CLI'] !== undefined && raw['permission_mode'] === undefined,
  eventNames: { userPromptSubmitted: 'UserPromptSubmit', agentStop: 'Stop' },
}
