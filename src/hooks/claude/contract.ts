/**
 * Claude Code's contract: what a hook that is written for Claude Code reads. It differs from document 003 §6 in the header
 * (`transcript_path`, no database) and in `tool_response`.
 */
import type { EventName } from '../events.ts'
import type { Handler } from '../handler.ts'
import type { Raised, Scope } from '../plane.ts'
import type { JsonObject } from '../shape.ts'

/** What the agent provides for such hooks. Used only when one of them is about to run. */
export interface ClaudeHost {
  /** The session as Claude Code names it, its transcript file brought up to date. */
  sessionOf(scope: Scope): ClaudeSession
  /** The file where a hook writes `export` lines for later Bash commands. */
  envFile(scope: Scope, name: string): string
  /** A hook that was not waited for has ended, with this for the model and the user. */
  deliver(scope: Scope, said: { readonly context: readonly string[]; readonly messages: readonly string[] }): void
}

export interface ClaudeSession {
  /** Of the main session, also in a sub-agent. */
  readonly sessionId: string
  readonly transcriptPath: string
  /** Of the sub-agent, in one. */
  readonly agentTranscriptPath?: string
  /** Why the file is not up to date. */
  readonly problem?: string
}

/** What the hook reads on stdin. */
export function claudeInput(raised: Raised, fields: JsonObject, scope: Scope, session?: ClaudeSession): JsonObject {
  const { permissionMode, agentId, agentType } = scope
  const own = { ...fields, ...raised.claude?.() }
  return {
    session_id: session?.sessionId ?? scope.sessionId,
    transcript_path: session?.transcriptPath ?? '',
    cwd: scope.cwd,
    ...(permissionMode !== undefined && { permission_mode: permissionMode }),
    ...(agentId !== undefined && { agent_id: agentId }),
    ...(agentType !== undefined && { agent_type: agentType }),
    hook_event_name: raised.name,
    ...own,
    ...(typeof own['tool_name'] === 'string' && { tool_name: claudeToolName(own['tool_name']) }),
    ...(raised.name === 'SubagentStop' && { agent_transcript_path: session?.agentTranscriptPath ?? '' }),
  }
}

/** Tools that Claude Code calls by another name. */
const toolNames: ReadonlyMap<string, string> = new Map([
  ['ListMcpResources', 'ListMcpResourcesTool'],
  ['ReadMcpResource', 'ReadMcpResourceTool'],
  ['Brief', 'SendUserMessage'],
])
export const claudeToolName = (tool: string): string => toolNames.get(tool) ?? tool

/** The names by which a matcher may mean a tool. `Task` is the older name of Agent in Claude Code. */
export function namesOf(tool: string | undefined): readonly (string | undefined)[] {
  const other = tool === 'Agent' ? 'Task' : tool !== undefined ? toolNames.get(tool) : undefined
  return other === undefined ? [tool] : [tool, other]
}

/** Whether Claude Code would run the hook at all: a prompt for a sub-agent is no prompt of the user's. */
export const isForMainOnly = ({ profile, event }: Pick<Handler, 'profile' | 'event'>): boolean =>
  profile === 'claude' && event === 'UserPromptSubmit'

/** Events at which a hook can set variables for later Bash commands. */
const settingEnv: readonly string[] = ['SessionStart', 'Setup', 'CwdChanged', 'FileChanged'] satisfies EventName[]
export const setsEnv = ({ profile, event }: Pick<Handler, 'profile' | 'event'>): boolean =>
  profile === 'claude' && settingEnv.includes(event)

/** `{"async": true}` as the first line: the hook goes on beside the turn. */
export function isDetaching(line: string): boolean {
  if (!line.trimStart().startsWith('{')) return false
  try {
    return (JSON.parse(line) as JsonObject)['async'] === true
  } catch {
    return false // the JSON goes on in the next line, and is an answer
  }
}
