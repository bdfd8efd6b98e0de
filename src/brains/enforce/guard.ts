/**
 * The program that applies a policy's rules to one call, for agents whose own rules cannot express them. It is bundled to one
 * file, lies in a folder that only root writes, and is loaded by the shim, or run by opencode's plugin: exit 2 refuses with the
 * reason on stderr, a JSON answer asks, silence leaves the call to the agent. Whatever it cannot read makes it fail, and its
 * failure refuses.
 */
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../hooks/shape.ts'
import { isFileTool, namedFiles, patchedFiles, patchKey, withFile } from '../../hosts/named-files.ts'
import { judge } from '../../permissions/decide.ts'
import { canonicalTool } from '../../permissions/rules/rule.ts'

export interface Rules {
  readonly permissions: { readonly deny: readonly string[]; readonly ask: readonly string[] }
  /** For each host: its names of MCP tools, or the beginnings of them, and the name in a rule. */
  readonly mcp: Readonly<Record<string, readonly (readonly [native: string, rule: string])[]>>
}
interface Call {
  readonly tool: string
  readonly input: JsonObject
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

/** The calls that one event stands for: an edit may change many files, and hosts name paths and MCP tools in their own ways. */
function callsOf(name: string, given: unknown, mcp: Rules['mcp'][string]): Call[] {
  const input = inputOf(name, given)
  const named = mcp.find(([native]) =>
    native.endsWith('*') ? name.startsWith(native.slice(0, -1)) : name === native,
  )?.[1]
  const tool = canonicalTool(named ?? name)
  const key = patchKey(input)
  if (!isFileTool(tool)) {
    // a patch in the input of another tool is only a part of what it does
    const patched = key === undefined ? [] : patchedFiles(String(input[key]))
    return [{ tool, input }, ...patched.map((file_path) => ({ tool: 'Edit', input: { file_path } }))]
  }
  const files = namedFiles(input)
  if (files.length === 0) return [{ tool, input }]
  const judged = key === undefined ? tool : 'Edit'
  return files.map((path) => ({ tool: judged, input: withFile(judged, input, path) }))
}

function inputOf(name: string, given: unknown): JsonObject {
  const value: unknown = typeof given === 'string' && given.trimStart().startsWith('{') ? JSON.parse(given) : given
  // a tool whose whole input is a patch
  if (typeof value === 'string' && value.includes('*** Begin Patch')) return { input: value }
  if (typeof value !== 'object' || value === null) throw new Error('the event has no input for the tool')
  const input = value as JsonObject
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
