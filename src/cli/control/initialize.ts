/** The host's `initialize` request: what it asks for before the session starts, and what it gets back. */

import type { Session } from '../../agent/session/session.ts'
import type { StartOptions } from '../../agent/session/start-options.ts'
import type { AgentKind } from '../../agent/subagents/agent-definitions.ts'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { version } from '../../package-root.ts'
import type { Plugin } from '../../plugins/read-plugin.ts'
import { modelList } from '../model-list.ts'
import { claudeVersion } from './claude-version.ts'
import { hostHooks } from './host-hooks.ts'
import type { HostServers } from './host-servers.ts'
import type { Pipe } from './pipe.ts'

export interface HostRequest {
  /** Added to the options that the flags gave; lists are joined to theirs. */
  readonly options: Partial<StartOptions>
  readonly jsonSchema?: string
  readonly forwardSubagentText: boolean
  /** Facts for the answer. */
  readonly answer: JsonObject
  /** For stderr. */
  readonly notes: readonly string[]
}

/** Fields that change nothing that ona does; they are safe to leave out. */
const withoutEffect = [
  ...['promptSuggestions', 'agentProgressSummaries', 'supportedDialogKinds', 'perTaskStopAffordance'],
  ...['sdkMcpServerManifests', 'sdkMcpServerManifestsOrigin', 'excludeDynamicSections', 'systemPromptSnapshot'],
]
const known = [
  ...['subtype', 'hooks', 'sdkMcpServers', 'sdkMcpServerConfigs', 'jsonSchema', 'systemPrompt', 'appendSystemPrompt'],
  ...['agents', 'title', 'skills', 'forwardSubagentText', 'plugins', ...withoutEffect],
]

/** What is not honoured is a problem: a host must not believe that its guard or its prompt is in force. */
export async function readInitialize(
  request: JsonObject,
  pipe: Pick<Pipe, 'request'>,
  servers: HostServers,
): Promise<HostRequest | { readonly problem: string }> {
  const strange = Object.keys(request).find((key) => !known.includes(key) && request[key] !== undefined)
  if (strange) return { problem: `initialize: ${strange} is not supported` }
  const hooks = hostHooks(request['hooks'], pipe)
  if ('problem' in hooks) return { problem: `initialize: ${hooks.problem}` }
  const agents = await agentsOf(request['agents'])
  if ('problem' in agents) return agents
  const names = request['sdkMcpServers'] ?? []
  if (!isTexts(names)) return { problem: 'initialize: sdkMcpServers must be a list of names' }
  const policy = toolRules(request['sdkMcpServerConfigs'])
  const { systemPrompt, appendSystemPrompt, title, jsonSchema, skills, forwardSubagentText } = request
  if (systemPrompt !== undefined && typeof systemPrompt !== 'string' && !isTexts(systemPrompt))
    return { problem: 'initialize: systemPrompt must be a list of strings' }
  if (skills !== undefined && !isTexts(skills)) return { problem: 'initialize: skills must be a list of names' }
  const plugins = await pluginsOf(request['plugins'])
  if ('problem' in plugins) return plugins
  return {
    options: {
      handlers: hooks.handlers,
      servers: names.map((name) => servers.config(name)),
      moreServers: true,
      ...(agents.kinds.length > 0 && { agents: agents.kinds }),
      ...(systemPrompt !== undefined && { systemPrompt: [systemPrompt].flat().join('\n\n') }),
      ...(typeof appendSystemPrompt === 'string' && { appendSystemPrompt }),
      ...(typeof title === 'string' && { name: title }),
      ...(skills && { onlySkills: skills }),
      ask: policy.ask,
      deny: policy.deny,
      ...(plugins.plugins.length > 0 && { plugins: plugins.plugins }),
    },
    ...(isObject(jsonSchema) && { jsonSchema: JSON.stringify(jsonSchema) }),
    forwardSubagentText: forwardSubagentText === true,
    answer: {
      ...(request['hooks'] !== undefined && { hooks_applied: true }),
      ...(request['plugins'] !== undefined && { plugins_applied: true }),
      hook_on_failure_supported: true,
      ...(isObject(request['sdkMcpServerManifests']) && {
        sdk_mcp_manifests_parked: Object.fromEntries(
          Object.keys(request['sdkMcpServerManifests']).map((name) => [name, 'not_honoured']),
        ),
      }),
    },
    notes: hooks.neverRaised.map((event) => `hooks: ona never raises ${event}; the host's hook is not called`),
  }
}

/** Starts from what the flags asked for. */
export const withHost = (flags: StartOptions, { options }: HostRequest): StartOptions => ({
  ...flags,
  ...options,
  handlers: [...(flags.handlers ?? []), ...(options.handlers ?? [])],
  deny: [...(flags.deny ?? []), ...(options.deny ?? [])],
  agents: [...(flags.agents ?? []), ...(options.agents ?? [])],
  plugins: [...(flags.plugins ?? []), ...(options.plugins ?? [])],
})

/** `always_deny` and `always_ask` of the host's own servers become rules; a policy that is not known asks. */
export function toolRules(configs: unknown): { ask: string[]; deny: string[] } {
  const rules = { ask: [] as string[], deny: [] as string[] }
  if (!isObject(configs)) return rules
  for (const [server, config] of Object.entries(configs)) {
    const tools = isObject(config) && Array.isArray(config['tools']) ? config['tools'].filter(isObject) : []
    for (const { name, permission_policy: policy } of tools) {
      if (typeof name !== 'string' || policy === undefined || policy === 'always_allow') continue
      rules[policy === 'always_deny' ? 'deny' : 'ask'].push(`mcp__${server}__${name}`)
    }
  }
  return rules
}

async function agentsOf(agents: unknown): Promise<{ kinds: readonly AgentKind[] } | { problem: string }> {
  if (agents === undefined || agents === null) return { kinds: [] }
  const { readAgentsJson } = await import('../../agent/subagents/agent-definitions.ts')
  const read = readAgentsJson(JSON.stringify(agents))
  return 'problem' in read ? { problem: `initialize: agents: ${read.problem}` } : { kinds: read }
}

async function pluginsOf(given: unknown): Promise<{ plugins: readonly Plugin[] } | { problem: string }> {
  if (given === undefined) return { plugins: [] }
  if (!Array.isArray(given)) return { problem: 'initialize: plugins must be a list' }
  const { readPlugin } = await import('../../plugins/read-plugin.ts')
  const plugins: Plugin[] = []
  for (const each of given) {
    if (!isObject(each) || each['type'] !== 'local' || typeof each['path'] !== 'string')
      return { problem: 'initialize: a plugin must be {"type":"local","path":…}' }
    const read = readPlugin(each['path'], { env: process.env, withoutMcp: each['skipMcpDiscovery'] === true })
    if ('problem' in read) return { problem: `initialize: ${read.problem}` }
    plugins.push(read)
  }
  return { plugins }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

/** The answer to `initialize`. */
export async function initialized(session: Session, more: JsonObject = {}): Promise<JsonObject> {
  const { runtime, projectDir } = session
  const { outputStyles } = await import('../../agent/context/output-style.ts')
  return {
    commands: commandsOf(session),
    agents: runtime.agents.map(({ name, description, model }) => ({ name, description, ...(model && { model }) })),
    output_style: runtime.settings.outputStyle ?? 'default',
    available_output_styles: outputStyles({ ...runtime, projectDir }),
    models: await modelList(session),
    account: { apiKeySource: session.model.why, apiProvider: 'firstParty' },
    claude_code_version: claudeVersion,
    ona_version: version(),
    ...more,
  }
}

export const commandsOf = ({ runtime }: Session) =>
  runtime.skills.list().map(({ name, description, argumentHint = '' }) => ({ name, description, argumentHint }))
