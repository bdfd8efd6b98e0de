/** Wrong usage that the parser of single flags cannot see. Each message names the flag, the fault and a remedy. */
import { resolve } from 'node:path'
import { readPlainFile, statOf } from '../files/plain-file.ts'
import { notKnown } from '../hooks/text/nearest.ts'
import type { Flags } from './flags.ts'

/** The first fault, or undefined. What a check needs is loaded only when its flag was given. */
export async function optionsProblem(flags: Flags): Promise<string | undefined> {
  for (const check of checks) {
    const problem = await check(flags)
    if (problem !== undefined) return problem
  }
  return undefined
}

export const isFolder = (path: string): boolean => statOf(path)?.isDirectory() === true

type Check = (flags: Flags) => string | undefined | Promise<string | undefined>

const checks: readonly Check[] = [
  numbers,
  settingSources,
  agents,
  folders,
  promptFiles,
  tools,
  rules,
  servers,
  plugins,
  pairs,
]

function numbers(flags: Flags): string | undefined {
  for (const name of ['max-turns', 'max-budget-usd'] as const) {
    const value = flags[name]
    if (value !== undefined && !(Number(value) > 0)) return `--${name} must be a number above 0, not "${value}"`
  }
  return undefined
}

function settingSources(flags: Flags): string | undefined {
  const sources = (flags['setting-sources'] ?? '').split(',').map((each) => each.trim())
  const unknown = sources.find((each) => !['', 'user', 'project', 'local'].includes(each))
  return unknown && `--setting-sources takes user, project and local, not "${unknown}"`
}

async function agents(flags: Flags): Promise<string | undefined> {
  if (!flags.agents) return undefined
  const { readAgentsJson } = await import('../agent/subagents/agent-definitions.ts')
  const read = readAgentsJson(flags.agents)
  return 'problem' in read ? `--agents: ${read.problem}` : undefined
}

function folders(flags: Flags): string | undefined {
  const missing = (flags['add-dir'] ?? []).find((folder) => !isFolder(resolve(flags.cwd ?? '', folder)))
  if (missing !== undefined) return `--add-dir: ${missing} is not a folder`
  return flags.cwd !== undefined && !isFolder(flags.cwd) ? `--cwd: ${flags.cwd} is not a folder` : undefined
}

function promptFiles(flags: Flags): string | undefined {
  if (flags['system-prompt'] !== undefined && flags['system-prompt-file'] !== undefined)
    return '--system-prompt and --system-prompt-file exclude each other; keep one of them'
  for (const name of ['system-prompt-file', 'append-system-prompt-file'] as const) {
    const problem = unreadable(flags[name])
    if (problem) return `--${name}: ${problem}`
  }
  return undefined
}

function unreadable(file: string | undefined): string | undefined {
  try {
    if (file !== undefined) readPlainFile(file)
  } catch (cause) {
    return (cause as Error).message
  }
  return undefined
}

async function tools(flags: Flags): Promise<string | undefined> {
  if (!flags.tools) return undefined
  const { builtInTools } = await import('../tools/all.ts')
  const { canonicalTool } = await import('../permissions/rules/rule.ts')
  const names = builtInTools.map((tool) => tool.name)
  const known = (name: string) => ['', 'default'].includes(name) || names.includes(canonicalTool(name))
  const unknown = flags.tools.find((name) => !known(name) && !name.startsWith('mcp__'))
  return unknown === undefined ? undefined : `--tools ${notKnown(unknown, names)}`
}

async function rules(flags: Flags): Promise<string | undefined> {
  const lists = { 'allowed-tools': 'allow', 'disallowed-tools': 'deny' } as const
  for (const [name, behavior] of Object.entries(lists)) {
    const given = flags[name as keyof typeof lists] ?? []
    if (given.length === 0) continue
    const { readRule } = await import('../permissions/rules/rule.ts')
    for (const text of given.filter((each) => each !== '')) {
      const read = readRule(text, behavior)
      if (!read.ok) return `--${name} "${text}": ${read.why}`
      const typo = read.warning && (await misspeltTool(read.rule.tool))
      if (typo) return `--${name} "${text}": ${read.warning}; did you mean "${typo}"?`
    }
  }
  return undefined
}

/** The tool that a name one or two letters away means. A name that is far from all may be another product's tool. */
async function misspeltTool(name: string): Promise<string | undefined> {
  const { builtInTools } = await import('../tools/all.ts')
  const { nearest } = await import('../hooks/text/nearest.ts')
  const names = builtInTools.map((tool) => tool.name)
  return nearest(name, names, (each) => (each.length > 5 ? 2 : 1))
}

async function servers(flags: Flags): Promise<string | undefined> {
  if (!flags['mcp-config']) return undefined
  const { flagServers } = await import('../mcp/config.ts')
  const problems = flags['mcp-config'].flatMap((value) => flagServers(value, resolve(flags.cwd ?? '')).problems)
  return problems.length === 0 ? undefined : `--mcp-config: ${problems[0]}`
}

async function plugins(flags: Flags): Promise<string | undefined> {
  const folders = [...(flags['plugin-dir'] ?? []), ...(flags['plugin-dir-no-mcp'] ?? [])]
  if (folders.length === 0) return undefined
  const { readPlugin } = await import('../plugins/read-plugin.ts')
  for (const folder of folders) {
    const read = readPlugin(folder, { env: process.env })
    if ('problem' in read) return `--plugin-dir: ${read.problem}`
  }
  return undefined
}

/** Flags that only make sense together. */
function pairs(flags: Flags): string | undefined {
  const prompter = flags['permission-prompt-tool']
  const streamed = flags['input-format'] === 'stream-json'
  if (prompter !== undefined && !flags.print && !streamed)
    return '--permission-prompt-tool needs -p; without it ona prompts you'
  if (prompter === 'stdio' && !streamed) return '--permission-prompt-tool stdio needs --input-format stream-json'
  if (prompter !== undefined && prompter !== 'stdio' && !/^mcp__.+__.+$/.test(prompter))
    return `--permission-prompt-tool takes mcp__SERVER__TOOL or stdio, not "${prompter}"`
  if (flags['fork-session'] && !flags.continue && !flags.resume) return '--fork-session needs --continue or --resume'
  return undefined
}
