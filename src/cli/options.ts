/** From flags to what a session is started with. */
import { resolve } from 'node:path'
import type { StartOptions } from '../agent/session/start-options.ts'
import type { AgentKind } from '../agent/subagents/agent-definitions.ts'
import { readPlainFile } from '../files/plain-file.ts'
import type { Plugin } from '../plugins/read-plugin.ts'
import { sendsTelemetry } from '../store/telemetry.ts'
import type { Flags } from './flags.ts'

export type FlagOptions = Omit<StartOptions, 'user' | 'on'>

export async function startOptions(flags: Flags, env: NodeJS.ProcessEnv = process.env): Promise<FlagOptions> {
  const mode = flags['dangerously-skip-permissions'] ? 'bypassPermissions' : modeOf(flags['permission-mode'])
  const systemPrompt = flags['system-prompt'] ?? textOf(flags['system-prompt-file'])
  const appended = [flags['append-system-prompt'], textOf(flags['append-system-prompt-file'])]
    .filter((text) => text)
    .join('\n\n')
  const thinking = flags['max-thinking-tokens']
  return {
    cwd: resolve(flags.cwd ?? process.cwd()),
    env: thinking === undefined ? env : { ...env, MAX_THINKING_TOKENS: thinking },
    ...(flags.model && { model: flags.model }),
    ...(flags.effort && { effort: flags.effort as NonNullable<StartOptions['effort']> }),
    ...(mode && { mode }),
    allow: flags['allowed-tools'] ?? [],
    deny: flags['disallowed-tools'] ?? [],
    ...(flags.tools && { tools: await canonicalTools(flags.tools) }),
    addDirs: flags['add-dir'] ?? [],
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(appended !== '' && { appendSystemPrompt: appended }),
    withoutSkills: flags['disable-slash-commands'] === true,
    settings: {
      ...(flags.settings && { settings: flags.settings }),
      ...(flags['setting-sources'] !== undefined && {
        sources: flags['setting-sources']
          .split(',')
          .map((each) => each.trim())
          .filter((each) => each !== ''),
      }),
    },
    mcpConfig: flags['mcp-config'] ?? [],
    strictMcp: flags['strict-mcp-config'] === true,
    ...(flags.agents && { agents: await agentsOf(flags.agents) }),
    ...(flags.agent && { agent: flags.agent }),
    ...((flags['plugin-dir'] || flags['plugin-dir-no-mcp']) && { plugins: await pluginsOf(flags, env) }),
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
    async atEnd(session) {
      if (flags.record) await (await import('./headless/record.ts')).record(session, flags.record)
      if (sendsTelemetry(session.runtime.env)) await (await import('./headless/flush-telemetry.ts')).flush(session)
    },
    startRehearsal: async () => (await import('../rehearsal/server.ts')).startRehearsal(),
  }
}

/** Checked before by optionsProblem. Loads the agent's reader only when the flag was given. */
async function agentsOf(json: string): Promise<readonly AgentKind[]> {
  const { readAgentsJson } = await import('../agent/subagents/agent-definitions.ts')
  const read = readAgentsJson(json)
  return 'problem' in read ? [] : read
}

const textOf = (file: string | undefined): string | undefined => (file === undefined ? undefined : readPlainFile(file))

/** `manual` is another name of default; `auto` needs a classifier that ona does not have, so it prompts as default does. */
const modeOf = (mode: Flags['permission-mode']): StartOptions['mode'] =>
  mode === 'manual' || mode === 'auto' ? 'default' : mode

/** Checked before by optionsProblem. */
async function pluginsOf(flags: Flags, env: NodeJS.ProcessEnv): Promise<Plugin[]> {
  const { readPlugin } = await import('../plugins/read-plugin.ts')
  const read = [
    ...(flags['plugin-dir'] ?? []).map((folder) => readPlugin(folder, { env })),
    ...(flags['plugin-dir-no-mcp'] ?? []).map((folder) => readPlugin(folder, { env, withoutMcp: true })),
  ]
  return read.filter((each) => !('problem' in each)) as Plugin[]
}

async function canonicalTools(names: readonly string[]): Promise<string[]> {
  const { canonicalTool } = await import('../permissions/rules/rule.ts')
  return names.map(canonicalTool)
}
