/** The one source of every dispatcher schema: written out as JSON Schema files, used by install, doctor and tests. */
import { eventNames } from '../types.ts'

export interface Schema {
  readonly $schema?: string
  readonly title?: string
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly pattern?: string
  readonly minimum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
}

const text: Schema = { type: 'string' }
const flag: Schema = { type: 'boolean' }
const count: Schema = { type: 'integer', minimum: 0 }
const number: Schema = { type: 'number' }
const any: Schema = {}
const open: Schema = { type: 'object' }
const texts: Schema = { type: 'array', items: text }
const oneOf = (...values: unknown[]): Schema => ({ enum: values })
const list = (items: Schema): Schema => ({ type: 'array', items })
const record = (values: Schema): Schema => ({ type: 'object', additionalProperties: values })
const object = (
  properties: Record<string, Schema>,
  required: string[] = [],
  more: boolean | Schema = true,
): Schema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  ...(more !== true && { additionalProperties: more }),
})
const closed = (properties: Record<string, Schema>, required: string[] = []) => object(properties, required, false)

const event = oneOf(...eventNames)
const phase = oneOf('UNINITIALIZED', 'PLANNING', 'EXECUTING', 'COMPLETE', 'BLOCKED')
const decision = oneOf('allow', 'ask', 'deny')
const sessionId: Schema = { type: 'string', pattern: '^[0-9a-f]{8}$' }
const workId: Schema = { type: 'string', pattern: '^w[0-9]{3}$' }
const agentId: Schema = { type: 'string', pattern: '^[ua][0-9]{2}$' }
const hash16: Schema = { type: 'string', pattern: '^[0-9a-f]{16}$' }
const scalar: Schema = { type: ['string', 'number', 'boolean', 'null'] }
const contextItems = list(closed({ key: text, value: text }, ['key', 'value']))
const reason = closed({ reason: text }, ['reason'])
const neo4j = object({ enabled: flag, reachable: flag, schemaVersion: text, lastCheckTs: count }, [
  'enabled',
  'reachable',
])

const errorRecord = closed({ module: text, message: text, stackHash: { type: 'string', pattern: '^[0-9a-f]{8}$' } }, [
  'module',
  'message',
])
const eventFields: Record<string, Schema> = {
  kind: { type: 'string', minLength: 1 },
  toolName: text,
  decision,
  reason: text,
  phase,
  paths: texts,
  data: open,
  error: errorRecord,
  ms: number,
}
const artifactFields: Record<string, Schema> = {
  kind: { type: 'string', minLength: 1 },
  ref: { type: 'string', minLength: 1 },
  hash: hash16,
  summary: { type: 'string', maxLength: 200 },
  tags: texts,
  dependsOn: texts,
  agentId,
  supersedes: text,
}
const core = object(
  {
    sessionId,
    workId,
    lastTurnId: count,
    phase,
    prevPhase: phase,
    lastEventOffset: count,
    hostSessionId: text,
    createdTs: count,
    lastActiveTs: count,
  },
  ['sessionId', 'workId', 'lastTurnId', 'phase'],
)
const state = object(
  {
    core,
    plan: object({
      currentPath: text,
      mtime: { type: 'integer' },
      size: count,
      hash: hash16,
      status: oneOf('none', 'proposed', 'accepted', 'rejected', 'stale'),
      warnedMissing: workId,
    }),
    cap: object({ neo4j }),
    agents: record(object({ aid: agentId, type: text, startedTs: count, stoppedTs: count }, ['aid'])),
    rlm: object({ policyLoaded: flag, lastPolicyHash: hash16, policyStamp: text, pendingSubagentFlags: record(flag) }),
    memory: object({
      journalPath: text,
      activeCandidateCount: count,
      lastMatchTs: count,
      rulesStamp: text,
      registeredFor: workId,
      pendingFollowups: record(
        object({
          rule: text,
          triggeredAt: count,
          lastFiredTs: count,
          status: oneOf('pending', 'fired', 'completed', 'skipped'),
        }),
      ),
    }),
  },
  ['core'],
  open,
)
const mode = oneOf('deny', 'ask', 'warn', 'allow')
const phaseRule = closed({ allowTools: { anyOf: [texts, { const: '*' }] }, mode: oneOf('allow', 'warn', 'deny') }, [
  'allowTools',
  'mode',
])
const moduleEntry = closed({ enabled: flag, priority: number, path: text, hotPathSafe: flag, critical: flag }, [
  'enabled',
])

const bodies: Record<string, Schema> = {
  'hook-input': {
    ...object({
      hook_event_name: text,
      hookEventName: text,
      session_id: text,
      sessionId: text,
      timestamp: { type: ['string', 'number'] },
      cwd: text,
      transcript_path: text,
      model: text,
      permission_mode: text,
      tool_name: text,
      tool_input: any,
      tool_use_id: text,
      tool_response: any,
      tool_error: text,
      prompt: text,
      source: text,
      trigger: text,
      custom_instructions: text,
      agent_id: text,
      agent_type: text,
      stop_hook_active: flag,
    }),
    description: 'What a host writes to stdin. Everything may be missing; both spellings are read.',
  },
  'hook-output': {
    ...closed({
      decision: oneOf('allow', 'ask', 'deny', 'block'),
      denyReason: text,
      reason: text,
      updatedInput: open,
      additionalContext: { anyOf: [contextItems, text] },
      warnings: texts,
      continue: { const: false },
      stopReason: text,
      systemMessage: { type: 'string', maxLength: 1000 },
      permissionDecision: oneOf('ask', 'deny'),
      permissionDecisionReason: text,
      modifiedArgs: open,
      hookSpecificOutput: closed(
        {
          hookEventName: event,
          permissionDecision: decision,
          permissionDecisionReason: text,
          updatedInput: open,
          additionalContext: { type: 'string', minLength: 1 },
          decision: { const: 'block' },
          reason: text,
        },
        ['hookEventName'],
      ),
      _debug: object({ hookRunId: text, modulesRan: texts, elapsedMs: count, budgetMs: number, budgetExceeded: flag }),
    }),
    description: 'What the dispatcher writes to stdout, in every dialect.',
  },
  ctx: object(
    {
      ids: object({ sessionId, workId, agentId, turnId: count, hookRunId: text }, [
        'sessionId',
        'workId',
        'agentId',
        'turnId',
        'hookRunId',
      ]),
      event: object({ name: event, toolName: text, tool: text, toolInput: open, prompt: text, paths: texts }, [
        'name',
        'paths',
      ]),
      paths: object(
        {
          repoRoot: text,
          hooksRoot: text,
          workRoot: text,
          sessionRoot: text,
          stateFile: text,
          eventsFile: text,
          registryFile: text,
        },
        ['repoRoot', 'hooksRoot', 'workRoot', 'sessionRoot', 'stateFile', 'eventsFile', 'registryFile'],
      ),
      state,
      config: open,
      feature: object({ root: text, logs: text, output: text }, ['root', 'logs', 'output']),
      cap: object({ neo4j }, ['neo4j']),
      timers: object({ startMs: number, budgetMs: number }, ['startMs', 'budgetMs']),
    },
    ['ids', 'event', 'paths', 'state', 'config', 'feature', 'cap', 'timers'],
  ),
  'hook-action': closed({
    decision,
    denyReason: text,
    inputMetadata: object(
      { _hookSessionId: sessionId, _hookWorkId: workId, _hookArtifactRoot: text, _hookTurnId: count },
      [],
      scalar,
    ),
    updatedInput: open,
    additionalContext: contextItems,
    statePatch: open,
    emitEvents: list(closed(eventFields, ['kind'])),
    registerArtifacts: list(closed(artifactFields, ['kind', 'ref'])),
    warnings: texts,
    metrics: record(scalar),
    block: reason,
    stop: reason,
  }),
  state: { ...state, description: 'state.json: a snapshot of what events.jsonl says.' },
  'event-record': closed({ ts: count, event, producer: text, hookRunId: text, turnId: count, workId, ...eventFields }, [
    'ts',
    'event',
    'producer',
    'kind',
  ]),
  'artifact-record': closed({ ts: count, producer: text, workId, ...artifactFields }, [
    'ts',
    'producer',
    'kind',
    'ref',
    'workId',
  ]),
  'rlm-policy': closed(
    {
      $schema: text,
      version: { const: 1 },
      defaultMode: mode,
      requireSubagent: list(closed({ toolName: text, mode, exemptPatterns: texts, reason: text }, ['toolName'])),
      broadDiscovery: closed({
        mode,
        rules: list(
          closed(
            {
              toolName: text,
              check: oneOf('no_include_pattern', 'wildcard_query', 'max_results_high', 'no_scope'),
              threshold: count,
              reason: text,
            },
            ['toolName', 'check'],
          ),
        ),
      }),
      phaseOverrides: record(
        closed({ requireSubagent: oneOf('enforce', 'skip'), broadDiscovery: oneOf('enforce', 'skip') }),
      ),
    },
    ['version'],
  ),
  'followup-rules': closed(
    {
      $schema: text,
      version: { const: 1 },
      rules: list(
        closed(
          {
            id: { type: 'string', minLength: 1 },
            description: text,
            enabled: flag,
            multiMatch: flag,
            trigger: closed(
              {
                event: oneOf('PreToolUse', 'PostToolUse'),
                toolName: text,
                toolNamePattern: text,
                pathPatterns: texts,
                excludePathPatterns: texts,
                conditions: list(
                  closed(
                    { field: text, op: oneOf('eq', 'neq', 'contains', 'matches', 'exists', 'notExists'), value: any },
                    ['field', 'op'],
                  ),
                ),
              },
              ['event'],
            ),
            followup: closed(
              {
                action: oneOf('inject_context', 'warn', 'enqueue_tool', 'ask'),
                contextKey: text,
                contextValue: text,
                message: text,
                toolHint: closed({ toolName: text, inputTemplate: open }, ['toolName']),
                priority: oneOf('high', 'normal', 'low'),
              },
              ['action'],
            ),
            cooldown: closed({ perSession: count, perWorkId: count, intervalMs: count }),
          },
          ['id', 'trigger', 'followup'],
        ),
      ),
    },
    ['version', 'rules'],
  ),
  'dispatch-manifest': closed(
    {
      $schema: text,
      version: { const: 1 },
      dialect: oneOf('auto', 'vscode', 'claude', 'copilot-cli'),
      budgets: closed(
        Object.fromEntries(
          eventNames.map((name) => [
            name,
            { type: 'number', minimum: name === 'PreToolUse' || name === 'PostToolUse' ? 50 : 100 },
          ]),
        ),
      ),
      enforcePhases: flag,
      phasePolicy: closed({
        UNINITIALIZED: phaseRule,
        PLANNING: phaseRule,
        EXECUTING: phaseRule,
        COMPLETE: phaseRule,
        BLOCKED: phaseRule,
      }),
      rewriteOwner: closed({ inputMetadata: text, updatedInput: text }),
      gc: closed({ maxAgeDays: { type: 'number', minimum: 1 }, maxSessions: { type: 'number', minimum: 1 } }),
      autoApprove: flag,
      stampToolInput: flag,
      modules: {
        anyOf: [record(moduleEntry), list({ anyOf: [text, object({ name: text }, ['name'])] })],
      },
    },
    ['version', 'modules'],
  ),
  'plan-graph': object(
    {
      version: { const: 1 },
      workId,
      goal: text,
      defaultPolicy: decision,
      nodes: {
        type: 'array',
        minItems: 1,
        maxItems: 500,
        items: object(
          {
            id: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
            description: { type: 'string', minLength: 1, maxLength: 500 },
            kind: oneOf('change', 'validate', 'explore', 'side_effect', 'escalate'),
            tool: text,
            tools: texts,
            scope: { anyOf: [text, texts, object({ files_allow: texts })] },
            dependencies: texts,
            validates: texts,
            status: oneOf('pending', 'in_progress', 'complete', 'failed', 'skipped', 'forbidden', 'denied'),
            reason: text,
            acceptance: texts,
          },
          ['id', 'description'],
        ),
      },
    },
    ['nodes'],
  ),
}

/** By file name without `.schema.json`. */
export const schemas: Readonly<Record<string, Schema>> = Object.fromEntries(
  Object.entries(bodies).map(([name, body]) => [
    name,
    { $schema: 'https://json-schema.org/draft/2020-12/schema', title: name, ...body },
  ]),
)
