/** What the hosts send, parsed once into one spelling. */
import { claudeWire } from '../../hosts/claudecode/wire.ts'
import { copilotWire } from '../../hosts/copilot/wire.ts'
import { vscodeWire } from '../../hosts/vscode/wire.ts'
import type { Wire } from '../../hosts/wire.ts'
import { isObject } from '../session/paths.ts'
import type { EventName, HostEvent, Json } from '../types.ts'
import type { Stdin } from './stdin.ts'
import { callPaths, canonicalTool, isClaudeToolName } from './tools.ts'

/** How the answer is spelt; see output.ts. */
export type Dialect = 'vscode' | 'claude' | 'copilot-cli'
export const wires: Readonly<Record<Dialect, Wire>> = {
  vscode: vscodeWire,
  claude: claudeWire,
  'copilot-cli': copilotWire,
}

export interface Parsed {
  readonly raw: Json
  readonly problems: readonly string[]
  /** Nothing was read, or nothing that makes sense: if it was a call, no guard has seen it. */
  readonly unseen: boolean
}

export function parseInput(stdin: Stdin, eventName: EventName): Parsed {
  if ('problem' in stdin) {
    const problem = {
      empty: 'stdin was empty',
      silent: 'stdin stayed open and silent',
      'cut-off': 'stdin broke off in the middle',
      'too-large': 'stdin is over 128 MiB',
    }
    return { raw: {}, problems: [problem[stdin.problem]], unseen: true }
  }
  let raw: unknown
  try {
    raw = JSON.parse(stdin.text.charCodeAt(0) === 0xfeff ? stdin.text.slice(1) : stdin.text)
  } catch (cause) {
    return { raw: {}, problems: [`stdin is not JSON: ${(cause as Error).message}`], unseen: true }
  }
  if (!isObject(raw)) return { raw: {}, problems: ['stdin is not a JSON object'], unseen: true }
  const named = text(raw, 'hook_event_name', 'hookEventName')
  const problems =
    named !== undefined && named !== eventName && !sameEvent(named, eventName)
      ? [`the host says ${named.slice(0, 40)} but this is registered for ${eventName}`]
      : []
  const nameless = eventName === 'PreToolUse' && text(raw, 'tool_name', 'toolName') === undefined
  return { raw, problems: nameless ? [...problems, 'stdin names no tool'] : problems, unseen: nameless }
}

const sameEvent = (named: string, eventName: EventName): boolean =>
  named.charAt(0).toUpperCase() + named.slice(1) === eventName ||
  Object.values(wires).some(
    ({ eventNames = {} }) => Object.hasOwn(eventNames, named) && eventNames[named] === eventName,
  )

export function toHostEvent(name: EventName, raw: Json, repoRoot: string): HostEvent {
  const toolName = text(raw, 'tool_name', 'toolName')
  const given = raw['tool_input'] ?? raw['toolInput'] ?? raw['toolArgs']
  const toolInput = isObject(given) ? given : typeof given === 'string' ? parsedObject(given) : undefined
  let paths: string[] | undefined
  const event = {
    name,
    toolName,
    tool: toolName === undefined ? undefined : canonicalTool(toolName),
    toolInput,
    toolOutput: raw['tool_response'] ?? raw['tool_result'] ?? raw['toolOutput'] ?? raw['toolResult'],
    toolError: text(raw, 'tool_error', 'toolError', 'error'),
    toolUseId: text(raw, 'tool_use_id', 'toolUseId'),
    prompt: text(raw, 'prompt'),
    transcript_path: text(raw, 'transcript_path', 'transcriptPath'),
    subagentId: text(raw, 'agent_id', 'agentId', 'subagentId'),
    subagentType: text(raw, 'agent_type', 'agentType', 'agentName', 'subagentType'),
    subagentPrompt: text(raw, 'subagentPrompt'),
    subagentResult: text(raw, 'subagentResult', 'last_assistant_message'),
    compactSummary: text(raw, 'compactSummary'),
    customInstructions: text(raw, 'custom_instructions', 'customInstructions'),
    stopHookActive: raw['stop_hook_active'] === true || raw['stopHookActive'] === true,
    source: text(raw, 'source'),
    trigger: text(raw, 'trigger'),
    cwd: text(raw, 'cwd'),
    timestamp:
      text(raw, 'timestamp') ??
      (typeof raw['timestamp'] === 'number' ? new Date(raw['timestamp']).toJSON() : undefined),
    model: text(raw, 'model'),
    permissionMode: text(raw, 'permission_mode'),
    hostSessionId: text(raw, 'session_id', 'sessionId') ?? process.env['COPILOT_SESSION_ID'],
    get paths() {
      // a tool whose whole input is a text may be given a patch
      paths ??= callPaths(toolInput ?? (typeof given === 'string' ? { input: given } : undefined), repoRoot)
      return paths
    },
  }
  return event
}

/**
 * `auto`: Claude Code says its permission mode, Copilot CLI its name in the environment; both say CLAUDE_PROJECT_DIR. Copilot
 * CLI reads Claude Code's file too, so what is registered there as `claude` is answered to whoever it is that asks.
 */
export function recogniseDialect(asked: string | undefined, raw: Json): Dialect {
  const named = asked !== undefined && Object.hasOwn(wires, asked) ? (asked as Dialect) : undefined
  const copilot = copilotWire.isSender(raw, process.env)
  if (named && !(named === 'claude' && copilot)) return named
  if (copilot) return 'copilot-cli'
  if (claudeWire.isSender(raw, process.env)) return 'claude'
  if (raw['toolArgs'] !== undefined || raw['tool_result'] !== undefined) return 'copilot-cli'
  const tool = text(raw, 'tool_name', 'toolName')
  return tool !== undefined && isClaudeToolName(tool) ? 'copilot-cli' : 'vscode'
}

function text(raw: Json, ...names: string[]): string | undefined {
  for (const name of names) {
    const value = raw[name]
    if (typeof value === 'string') return value
  }
  return undefined
}

function parsedObject(json: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return isObject(value) ? value : undefined
  } catch {
    return undefined // a tool whose whole input is a text
  }
}
