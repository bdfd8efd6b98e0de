/** The configuration that an installation starts with. From then on it is the user's. */
import { defaultBudgets, defaultPhasePolicy, minimalSet, modulePath, shipped } from './manifest.ts'
import type { Json } from './types.ts'

const defaultManifest = (enabled: readonly string[] = minimalSet): Json => ({
  $schema: './schema/dispatch-manifest.schema.json',
  version: 1,
  dialect: 'auto',
  budgets: defaultBudgets,
  enforcePhases: false,
  phasePolicy: defaultPhasePolicy,
  rewriteOwner: { inputMetadata: 'session', updatedInput: 'planGraph-exec' },
  gc: { maxAgeDays: 7, maxSessions: 20 },
  modules: Object.fromEntries(
    Object.entries(shipped).map(([name, { priority, hotPathSafe, critical }]) => [
      name,
      { enabled: enabled.includes(name), priority, path: modulePath(name), hotPathSafe, critical },
    ]),
  ),
})

const config: Json = {
  session: {
    promptAudit: 'hash',
    promptUnblocks: true,
    implicitExecuting: true,
    completeOnStop: false,
    blockAfterDenies: 1,
    blockOnBudget: true,
    redactKeys: ['password', 'token', 'secret', 'apiKey', 'authorization'],
  },
  'graph-pretooluse': {
    maxResults: 500,
    deferGuard: false,
    rules: {
      'grep-no-include': 'ask',
      'grep-ignored-files': 'ask',
      'grep-max-results': 'ask',
      'file-search-wildcard': 'ask',
      'terminal-recursive': 'ask',
    },
  },
  'planGraph-exec': { planGraphFile: 'planGraph.json', unmetDependencies: 'ask' },
  'plan-subagent-contract': {
    subagentDir: 'sa',
    agentTypeDir: 'Plan',
    planAgentTypes: ['Plan', 'Planner'],
    requiredOutputs: ['planGraph.json'],
    retryInvalidPlan: true,
  },
  'rlm-work': { subagentDir: 'sa' },
  'memory-journal': { experienceFile: 'experience.jsonl', candidatesFile: 'candidates.json', minCount: 3 },
  'memory-activation': {},
  'stop-synth': { summaryFile: 'summary.md', adrDir: 'adr' },
}

const workspace: Json = {
  version: 2,
  workRoot: '.ai/tmp',
  session: {
    stateFile: 'state.json',
    eventsFile: 'events.jsonl',
    registryFile: 'registry.jsonl',
    promptsFile: 'p.jsonl',
  },
  feature: { logsDir: 'logs', outputDir: 'output' },
  hooks: {
    configFile: 'config.json',
    policyFile: 'rlm-policy.json',
    followupRulesFile: 'followup-rules.json',
    manifestFile: 'dispatch.manifest.json',
    schemaDir: 'schema',
  },
}

const own = ['.ai/tmp/**', '.ai/hooks/**']
const rlmPolicy: Json = {
  $schema: './schema/rlm-policy.schema.json',
  version: 1,
  defaultMode: 'warn',
  requireSubagent: [
    { toolName: 'create_file', mode: 'warn', exemptPatterns: own },
    { toolName: 'replace_string_in_file', mode: 'warn', exemptPatterns: own },
    { toolName: 'multi_replace_string_in_file', mode: 'warn', exemptPatterns: own },
    { toolName: 'run_in_terminal', mode: 'ask' },
  ],
  broadDiscovery: {
    mode: 'warn',
    rules: [
      { toolName: 'grep_search', check: 'no_include_pattern' },
      { toolName: 'file_search', check: 'wildcard_query' },
      { toolName: 'grep_search', check: 'max_results_high', threshold: 500 },
    ],
  },
  phaseOverrides: { PLANNING: { requireSubagent: 'skip' } },
}

const followupRules: Json = {
  $schema: './schema/followup-rules.schema.json',
  version: 1,
  rules: [
    {
      id: 'tests-after-edit',
      description: 'An edited source file wants its test looked at.',
      trigger: {
        event: 'PostToolUse',
        toolNamePattern: '^(create_file|(multi_)?replace_string_in_file|apply_patch|insert_edit_into_file)$',
        pathPatterns: ['src/**'],
        excludePathPatterns: ['**/*.test.*', '**/*.spec.*', '**/*.css', '**/*.scss', '**/*.md'],
      },
      followup: {
        action: 'inject_context',
        contextKey: 'tests-after-edit',
        contextValue: '{{matchedPath}} has changed: bring its test up to date and run it.',
      },
      cooldown: { perWorkId: 3, intervalMs: 30_000 },
    },
  ],
}

/** File name under .ai/hooks, and what it says to begin with. */
export const defaultFiles = (enabled: readonly string[]): Readonly<Record<string, Json>> => ({
  'dispatch.manifest.json': defaultManifest(enabled),
  'config.json': config,
  'workspace.json': workspace,
  'rlm-policy.json': rlmPolicy,
  'followup-rules.json': followupRules,
})
