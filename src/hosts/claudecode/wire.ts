/** Claude Code and the dispatcher. Its hook output is validated, so nothing but its own keys is sent. */
import type { Registration, Wire } from '../wire.ts'

export const claudeWire: Wire = {
  ignoresUnknownKeys: false,
  readsTopLevel: false,
  isSender: (raw, env) => Boolean(env['CLAUDE_PROJECT_DIR']) || raw['permission_mode'] !== undefined,
}

/** https://code.claude.com/docs/en/hooks, "Configuration". It may start anywhere below the project, so the path is absolute. */
export const claudeRegistration: Registration = {
  file: '.claude/settings.json',
  entry: (event, timeout) => ({
    hooks: [
      {
        type: 'command',
        command: `node "\${CLAUDE_PROJECT_DIR:-.}/.ai/hooks/dispatch.mjs" ${event} claude`,
        timeout,
      },
    ],
  }),
}
