/** From flags to what a session is started with. */
import { resolve } from 'node:path'
import type { StartOptions } from '../agent/session/start-options.ts'
import type { AgentKind } from '../agent/subagents/agent-definitions.ts'
import { readPlainFile, statOf } from '../files/plain-file.ts'
import type { Flags } from './flags.ts'

export type FlagOptions = Omit<StartOptions, 'person' | 'on'>

export async function startOptions(flags: Flags, env: NodeJS.ProcessEnv = process.env): Promise<FlagOptions> {
  const mode = flags['dangerously-skip-permissions'] ? 'bypassPermissions' : flags['permission-mode']
  const systemPrompt = flags['system-prompt'] ?? textOf(flags['system-prompt-file'])
  const appended = [flags['append-system-prompt'], textOf(flags['append-system-prompt-file'])]
    .filter((text) => text)
    .join('\n\n')
  return {
    cwd: resolve(flags.cwd ?? process.cwd()),
    env,
    ...(flags.model && { model: flags.model }),
    ...(mode && { mode: mode as NonNullable<StartOptions['mode']> }),
    allow: flags['allowed-tools'] ?? [],
    deny: flags['disallowed-tools'] ?? [],
    ...(flags.tools && { tools: flags.tools }),
    addDirs: flags['add-dir'] ?? [],
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(appended !== '' && { appendSystemPrompt: appended }),
    withoutSkills: flags['disable-slash-commands'] === true,
    settings: {
      ...(flags.settings && { settings: flags.settings }),
      ...(flags['setting-sources'] !== undefined && {
        sources: flags['setting-sources'].split(',').map((each) => each.trim()),
      }),
    },
    mcpConfig: flags['mcp-config'] ?? [],
    strictMcp: flags['strict-mcp-config'] === true,
    ...(flags.agents && { agents: await agentsOf(flags.agents) }),
    ...(flags.agent && { agent: flags.agent }),
    ...(flags['session-id'] && { sessionId: flags['session-id'] }),
    ...((flags.continue || flags.resume) && { resume: flags.resume || true }),
    fork: flags['fork-session'] === true,
    ...(flags.name && { name: flags.name }),
    ...(flags['max-turns'] && { maxRequests: Number(flags['max-turns']) }),
    ...(flags['max-budget-usd'] && { maxBudgetUsd: Number(flags['max-budget-usd']) }),
    bare: flags.bare === true || env['CLAUDE_CODE_SIMPLE'] === '1',
    trust: flags.trust === true,
    ...((flags.init || flags['init-only']) && { setup: 'init' as const }),
    ...(flags.maintenance && { setup: 'maintenance' as const }),
    ...(flags.worktree !== undefined && { worktree: flags.worktree }),
    ...(flags['fallback-model'] && { fallbackModels: flags['fallback-model'].split(',').map((each) => each.trim()) }),
    ...(flags.record && {
      atEnd: async (session) => (await import('./headless/record.ts')).record(session, flags.record!),
    }),
    startRehearsal: async () => (await import('../rehearsal/server.ts')).startRehearsal(),
  }
}

/** What the parser of single flags cannot see. */
export async function optionsProblem(flags: Flags): Promise<string | undefined> {
  for (const name of ['max-turns', 'max-budget-usd'] as const) {
    const value = flags[name]
    if (value !== undefined && !(Number(value) > 0)) return `--${name} must be a number above 0, not "${value}"`
  }
  const sources = (flags['setting-sources'] ?? '').split(',').map((each) => each.trim())
  const odd = sources.find((each) => !['', 'user', 'project', 'local'].includes(each))
  if (odd) return `--setting-sources takes user, project and local, not "${odd}"`
  if (flags.agents) {
    const { readAgentsJson } = await import('../agent/subagents/agent-definitions.ts')
    const read = readAgentsJson(flags.agents)
    if ('problem' in read) return `--agents: ${read.problem}`
  }
  const lost = (flags['add-dir'] ?? []).find((folder) => !isFolder(resolve(flags.cwd ?? '', folder)))
  if (lost !== undefined) return `--add-dir: ${lost} is not a folder`
  if (flags.cwd !== undefined && !isFolder(flags.cwd)) return `--cwd: ${flags.cwd} is not a folder`
  if (flags['system-prompt'] !== undefined && flags['system-prompt-file'] !== undefined)
    return '--system-prompt and --system-prompt-file say the same; keep one of them'
  for (const name of ['system-prompt-file', 'append-system-prompt-file'] as const) {
    const problem = unreadable(flags[name])
    if (problem) return `--${name}: ${problem}`
  }
  const prompter = flags['permission-prompt-tool']
  if (prompter !== undefined && !flags.print) return '--permission-prompt-tool goes with -p; without it you are asked'
  if (prompter === 'stdio' && flags['input-format'] !== 'stream-json')
    return '--permission-prompt-tool stdio needs --input-format stream-json'
  if (prompter !== undefined && prompter !== 'stdio' && !/^mcp__.+__.+/.test(prompter))
    return `--permission-prompt-tool takes mcp__SERVER__TOOL or stdio, not "${prompter}"`
  if (flags['fork-session'] && !flags.continue && !flags.resume)
    return '--fork-session goes with --continue or --resume'
  return undefined
}

/** Checked before, by optionsProblem. The agent is loaded for this alone, and not at every start. */
async function agentsOf(json: string): Promise<readonly AgentKind[]> {
  const { readAgentsJson } = await import('../agent/subagents/agent-definitions.ts')
  const read = readAgentsJson(json)
  return 'problem' in read ? [] : read
}

const textOf = (file: string | undefined): string | undefined => (file === undefined ? undefined : readPlainFile(file))

function unreadable(file: string | undefined): string | undefined {
  try {
    textOf(file)
  } catch (cause) {
    return (cause as Error).message
  }
  return undefined
}

const isFolder = (path: string) => statOf(path)?.isDirectory() === true
