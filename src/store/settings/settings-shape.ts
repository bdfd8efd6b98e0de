/** The settings we know: one line each gives the type, the check and the JSON Schema. Other keys are kept as they are. */
import {
  boolean,
  either,
  type Infer,
  integer,
  type JsonObject,
  json,
  list,
  map,
  number,
  oneOf,
  optional,
  record,
  type Shape,
  string,
} from '../../hooks/shape.ts'

const strings = (about?: string) => optional(list(string(), about))
const flag = (about?: string) => optional(boolean(about))
const text = (about?: string) => optional(string(about))
const object = (about?: string) => optional(map(json(), about))
const servers = (about: string) => optional(list(map(json()), about))

export const permissionModes = ['default', 'acceptEdits', 'bypassPermissions', 'plan', 'dontAsk'] as const
const providerNames = ['claude_code_subscription', 'openai_compatible', 'lm_studio_local'] as const

/** Rules are checked one by one, so that one bad rule does not take the others with it. */
const rules = (about: string) => optional(list(json(), about) as Shape<string[]>)

export const permissionsShape = record({
  allow: rules('Calls that need no question, such as "Bash(npm test *)".'),
  ask: rules('Calls that are always asked about.'),
  deny: rules('Calls that are never made; a deny beats any allow.'),
  defaultMode: optional(oneOf(permissionModes, 'What happens to a call that no rule names.')),
  additionalDirectories: strings('Folders beside the project that tools may work in.'),
  disableBypassPermissionsMode: optional(oneOf(['disable'], 'Forbids the mode bypassPermissions.')),
  allowManagedPermissionRulesOnly: flag('Managed settings only: rules from elsewhere do not count.'),
})

const modelConfig = record(
  { provider: oneOf(providerNames), model_id: string() },
  'The model to use. No other key: credentials come from the environment or from ona login.',
  { closed: true },
)

export const sandboxShape = record(
  {
    enabled: flag('Bash commands run in a sandbox.'),
    failIfUnavailable: flag('No session starts where the sandbox does not work.'),
    autoAllowBashIfSandboxed: flag('False: a sandboxed command still needs a rule or a prompt.'),
    excludedCommands: strings('Commands that run outside the sandbox, such as "docker *".'),
    allowUnsandboxedCommands: flag('False: a call cannot ask to run outside the sandbox.'),
    filesystem: optional(
      record({
        allowWrite: strings('Further paths that commands may write.'),
        denyWrite: strings('Paths that they may not write.'),
        denyRead: strings('Paths that they may not read.'),
        allowRead: strings('Paths that they may read although a folder above is closed.'),
        allowManagedReadPathsOnly: flag('Managed settings: only the paths of their own allowRead count.'),
      }),
    ),
    network: optional(
      record({
        allowedDomains: strings('Hosts that commands may reach, such as "*.example.com".'),
        deniedDomains: strings('Hosts that they may not reach; a denial wins.'),
        allowUnixSockets: strings('Unix sockets that they may connect to.'),
        allowAllUnixSockets: flag('Every Unix socket that they can see.'),
        allowLocalBinding: flag('Commands of a session share one loopback interface.'),
        allowManagedDomainsOnly: flag('Managed settings: only the hosts that they allow count.'),
      }),
    ),
  },
  'Where Bash commands run.',
)

export const effortLevels = ['low', 'medium', 'high', 'xhigh', 'max'] as const

const modelSpec = record(
  {
    contextWindow: optional(integer('Tokens.', { min: 1 })),
    maxOutput: optional(integer('Tokens of one reply.', { min: 1 })),
    thinking: optional(oneOf(['adaptive', 'budget', 'none'], 'How the model thinks before it answers.')),
    efforts: optional(list(oneOf(effortLevels), 'The effort levels that it takes.')),
    price: optional(
      record({
        input: number('US dollars per million tokens.', { min: 0 }),
        output: number('US dollars per million tokens.', { min: 0 }),
        cacheRead: optional(number('As input unless given.', { min: 0 })),
        cacheWrite: optional(number('As input unless given.', { min: 0 })),
      }),
    ),
  },
  'What is known of one model.',
  { closed: true },
)

/** Only keys that something reads: any other key gets a warning that it has no effect. */
export const settingsShape = record({
  permissions: optional(permissionsShape),
  hooks: optional(either(list(map(json())), map(list(map(json())))) as Shape<HookEntry[]>),
  model_config: optional(modelConfig),
  model: text('The model, by its short or its full name.'),
  availableModels: strings('The models that may be chosen by name; others are refused.'),
  fallbackModel: optional(either(string(), list(string()))),
  effortLevel: optional(oneOf(effortLevels, 'How much the model works on an answer.')),
  alwaysThinkingEnabled: flag('False: no model thinks before it answers. True: those with a thinking budget do, too.'),
  openaiDialect: optional(
    oneOf(
      ['responses', 'chat_completions'],
      'The API that openai_compatible speaks, where the automatic choice is wrong.',
    ),
  ),
  models: optional(map(modelSpec, 'What is known of a model, by wire name: goes before the catalogue.')),
  agent: text('The kind of sub-agent that a whole session runs as.'),
  env: optional(map(string(), 'Variables for the session and the commands it runs.')),
  apiKeyHelper: text('A command that prints an API key.'),
  oauth: object('Endpoints and client id of the account login.'),
  forceLoginMethod: optional(oneOf(['claudeai', 'console'], 'Only an account, or only a key, may be used to log in.')),
  hookFailure: optional(
    oneOf(['refuse', 'proceed'], 'refuse: a hook that fails refuses what it guards, unless it sets onFailure itself.'),
  ),
  builtinRules: flag('False: without the built-in allow rules, so that reading prompts too.'),
  disableAllHooks: flag('No hook runs but those of managed settings.'),
  allowManagedHooksOnly: flag('Managed settings only: hooks from elsewhere do not run.'),
  allowManagedPermissionRulesOnly: flag('Managed settings only: rules from elsewhere do not count.'),
  allowManagedMcpServersOnly: flag('Managed settings only: only its allowedMcpServers count.'),
  trustedDirectories: strings('Managed settings only: folders that count as trusted, with all below them.'),
  mcpServers: optional(map(map(json()), 'MCP servers by name.')),
  enableAllProjectMcpServers: flag('Every server of .mcp.json is approved.'),
  enabledMcpjsonServers: strings('Servers of .mcp.json that are approved.'),
  disabledMcpjsonServers: strings('Servers of .mcp.json that are not started.'),
  allowedMcpServers: servers('Servers that may be used.'),
  deniedMcpServers: servers('Servers that may not be used; a denial wins.'),
  outputStyle: text('How the agent writes: default, explanatory, learning, or a file in output-styles/.'),
  autoCompactEnabled: flag('False: a conversation that fills the window is not made a summary.'),
  cleanupPeriodDays: optional(
    integer('Days after which the content of a session is erased; 0, the default, keeps everything.', { min: 0 }),
  ),
  respectGitignore: flag('False: @ offers files that git ignores.'),
  approvals: optional(
    record(
      {
        expiresAfterHours: optional(number('How long a call waits; 24 by default.', { min: 0.01 })),
        owner: text('Who decides; any operator of the database by default.'),
      },
      'Where nobody answers a prompt, the call waits for ona approvals instead of being denied.',
    ),
  ),
  theme: text('Colours of the terminal.'),
  editorMode: optional(oneOf(['normal', 'vim'], 'The keys of the input line.')),
  statusLine: object('{"type":"command","command":"…"}: prints the line under the prompt.'),
  sandbox: optional(sandboxShape),
  enabledPlugins: object('{"name@marketplace": true}: plugins whose hooks, commands, agents and servers take part.'),
  extraKnownMarketplaces: object('{"name": {"source": {"source": "github", "repo": "owner/name"}}}.'),
  strictKnownMarketplaces: optional(list(map(json()), 'Managed settings only: the marketplaces that may be used.')),
  blockedMarketplaces: optional(list(map(json()), 'Managed settings only: marketplaces that may not be used.')),
  $schema: text(),
})

/** Settings as the product uses them: keys we do not know are there too. */
export type Settings = Infer<typeof settingsShape> & JsonObject

/** A hook as it is in the snapshot, whichever shape the file had. */
export type HookEntry = {
  hook_event_name: string
  matcher: string
  /** Where it came from; a hook without it was put into the snapshot by the operator. */
  source: Level | 'operator'
} & JsonObject

/** Where settings come from, the weakest first. */
export const levels = ['default', 'user', 'project', 'local', 'flag', 'managed'] as const
export type Level = (typeof levels)[number]

/** Keys that count in managed settings alone. */
export const managedOnly = [
  'allowManagedHooksOnly',
  'allowManagedPermissionRulesOnly',
  'allowManagedMcpServersOnly',
  'trustedDirectories',
  'strictKnownMarketplaces',
  'blockedMarketplaces',
]

/** Keys that no file of a folder can set: the record belongs to the user or the administrator. */
export const notFromFolder = ['cleanupPeriodDays']

/** Keys that mean something else in Claude Code's own files, and are not taken from them. */
export const notFromClaude = ['cleanupPeriodDays']

/** Keys that a repository cannot set for its users. */
export const notFromProject = ['disableAllHooks', 'enableAllProjectMcpServers', 'enabledMcpjsonServers']
