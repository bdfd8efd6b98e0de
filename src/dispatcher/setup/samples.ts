/** One input of each event as VS Code sends it: for the doctor, for warming up, and for a first try by hand. */
import type { EventName, Json } from '../types.ts'

const sessionId = '0a0a0a0a'

const extra: Record<EventName, Json> = {
  SessionStart: { source: 'new' },
  UserPromptSubmit: { prompt: 'Where is src/app/home.service.ts used?' },
  PreToolUse: {
    tool_name: 'read_file',
    tool_input: { filePath: 'README.md', startLine: 1, endLine: 20 },
    tool_use_id: 'sample-1',
  },
  PostToolUse: {
    tool_name: 'read_file',
    tool_input: { filePath: 'README.md', startLine: 1, endLine: 20 },
    tool_use_id: 'sample-1',
    tool_response: 'twenty lines',
  },
  PreCompact: { trigger: 'auto' },
  SubagentStart: { agent_id: 'sample-agent', agent_type: 'Explore' },
  SubagentStop: { agent_id: 'sample-agent', agent_type: 'Explore', stop_hook_active: false },
  Stop: { stop_hook_active: false },
}

export function sample(name: EventName, cwd: string): string {
  const common = {
    timestamp: new Date().toISOString(),
    cwd,
    session_id: `${sessionId}-0000-4000-8000-000000000000`,
    hook_event_name: name,
  }
  return JSON.stringify({ ...common, ...extra[name] })
}
/** The folder samples leave under .ai/tmp. */
sample.sessionId = sessionId
