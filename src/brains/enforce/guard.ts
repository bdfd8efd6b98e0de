/**
 * The program that applies a policy's rules to one call, for agents whose own rules cannot express them. It is bundled to one
 * file, lies in a folder that only root writes, and is loaded by the shim, or run by opencode's plugin: exit 2 refuses with the
 * reason on stderr, a JSON answer asks, silence leaves the call to the agent. Whatever it cannot read makes it fail, and its
 * failure refuses.
 */
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { judge } from '../../permissions/decide.ts'

export interface Rules {
  readonly permissions: { readonly deny: readonly string[]; readonly ask: readonly string[] }
  /** For each host: its names of MCP tools, or the beginnings of them, and the name in a rule. */
  readonly mcp: Readonly<Record<string, readonly (readonly [native: string, rule: string])[]>>
}
interface Call {
  readonly tool: string
  readonly input: Record<string, unknown>
}

/** By the policy in a folder. */
export const guard = (folder: string, host: string, text: string) => ruledBy(policyIn(folder), host, text)

const policyIn = (folder: string) => JSON.parse(readFileSync(join(folder, 'policy.json'), 'utf8')) as Rules

async function ruledBy(rules: Rules, host: string, text: string): Promise<{ word: string; why: string }> {
  const event = JSON.parse(text) as { tool_name?: string; tool_input?: unknown; cwd?: string }
  if (typeof event.tool_name !== 'string') throw new Error('the event names no tool')
  const cwd = event.cwd ?? process.cwd()
  const found = []
  for (const { tool, input } of callsOf(event.tool_name, event.tool_input, rules.mcp[host] ?? [])) {
    const { finding } = await judge({
      settings: rules.permissions,
      mode: 'bypassPermissions',
      tool,
      input,
      hook: 'none',
      cwd,
      projectDir: cwd,
      home: homedir(),
    })
    found.push(finding)
  }
  return (
    found.find(({ word }) => word === 'deny') ?? found.find(({ word }) => word === 'ask') ?? { word: 'open', why: '' }
  )
}

/** The calls that one event stands for: a patch changes many files, and hosts name paths and MCP tools in their own ways. */
function callsOf(name: string, given: unknown, mcp: Rules['mcp'][string]): Call[] {
  const input = inputOf(name, given)
  const patch = [input['command'], input['patchText'], input['patch'], input['input']].find(
    (text) => typeof text === 'string' && text.includes('*** Begin Patch'),
  )
  if (typeof patch === 'string')
    return Array.from(patch.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm), ([, path]) => ({
      tool: 'Edit',
      input: { file_path: path!.trim() },
    }))
  const tool =
    mcp.find(([native]) => (native.endsWith('*') ? name.startsWith(native.slice(0, -1)) : name === native))?.[1] ?? name
  const path = input['file_path'] ?? input['absolute_path'] ?? input['path'] ?? input['filePath']
  const takesFile = /^(Read|Write|Edit|MultiEdit|NotebookEdit)$/.test(tool) && path !== undefined
  return [{ tool, input: takesFile ? { ...input, file_path: path } : input }]
}

function inputOf(name: string, given: unknown): Record<string, unknown> {
  const value: unknown = typeof given === 'string' && given.trimStart().startsWith('{') ? JSON.parse(given) : given
  if (typeof value !== 'object' || value === null) throw new Error('the event has no input for the tool')
  const input = value as Record<string, unknown>
  if (name !== 'Bash') return input
  const command = input['command'] ?? input['cmd']
  if (Array.isArray(command))
    return { ...input, command: command.map((word) => `'${String(word).replaceAll("'", "'\\''")}'`).join(' ') }
  if (typeof command !== 'string') throw new Error('the event has no command')
  return { ...input, command }
}

export const judged = async (folder: string, host: string, event: string) => judgedBy(policyIn(folder), host, event)

/** The guard's word as the end of a hook that was run: exit code and output. */
export async function judgedBy(rules: Rules, host: string, event: string) {
  const { word, why } = await ruledBy(rules, host, event)
  if (word === 'deny') return { status: 2, stdout: '', stderr: `denied by policy: ${why}\n` }
  const decision = {
    hookEventName: 'PreToolUse',
    permissionDecision: 'ask',
    permissionDecisionReason: `policy: ${why}`,
  }
  return { status: 0, stdout: word === 'ask' ? JSON.stringify({ hookSpecificOutput: decision }) : '', stderr: '' }
}
