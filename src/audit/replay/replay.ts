/** Judges recorded calls by another policy: what would it have said, and why? No tool is run and no row is written. */
import { createPlane } from '../../hooks/dispatch.ts'
import type { Handler } from '../../hooks/handler.ts'
import type { Answer, Invocation, PermissionMode, Plane, Scope } from '../../hooks/plane.ts'
import type { JsonObject } from '../../hooks/shape.ts'
import type { Safety, Steps } from '../../hooks/steps.ts'
import { decide, judge } from '../../permissions/decide.ts'
import { type FileView, rememberingView } from '../../permissions/paths/view.ts'
import type { PermissionSettings } from '../../permissions/question.ts'
import { ruleText } from '../../permissions/rule.ts'
import { matchesRule } from '../../permissions/rule-applies.ts'
import type { RecordedCall } from './recorded-calls.ts'

export interface Policy {
  readonly permissions: PermissionSettings
  readonly mode: PermissionMode
  /** Those at PreToolUse and before_tool_apply run. */
  readonly handlers: readonly Handler[]
  readonly home: string
  readonly dbPath: string
  readonly env: NodeJS.ProcessEnv
  /** Commands and addresses are other programs: they run only with this. */
  readonly runCommands: boolean
  /** The input as the tool would have got it, and what the tool is. */
  tool(name: string, input: JsonObject, cwd: string): KnownTool
}

export interface KnownTool {
  readonly input: JsonObject
  readonly safety: Safety
  /** Neither built in nor of an MCP server: a program brought it along, and may have granted it. */
  readonly brought: boolean
}

type Word = 'allow' | 'ask' | 'deny'

export interface Because {
  readonly by: 'hook' | 'gate' | 'rule' | 'mode'
  /** The rule as written, the hook, or the mode. */
  readonly name: string
  readonly reason: string
}

export interface Change {
  readonly call: RecordedCall
  readonly was: Word
  readonly would: Word
  readonly because: Because
}

export interface Summary {
  readonly calls: number
  readonly same: number
  readonly newlyDenied: number
  readonly newlyAsked: number
  readonly newlyAllowed: number
  /** Calls on record that came to no judgement then, and are not judged now. */
  readonly notJudged: number
  /** Hooks that had a say and were not asked, because they are programs or need a model; and how often. */
  readonly notAsked: readonly { readonly hook: string; readonly calls: number }[]
  /** Hooks that failed, how often, and how the first time. */
  readonly failed: readonly { readonly hook: string; readonly calls: number; readonly why: string }[]
  /** By the agent whose calls they were. */
  readonly byAgent: Readonly<Record<string, { readonly calls: number; readonly changed: number }>>
}

/**
 * Deterministic as far as the hooks are: the same calls and the same policy give the same answer. With a `baseline`, changes
 * are from what that policy says today instead of what was said then.
 */
export async function replay(
  calls: Iterable<RecordedCall>,
  policy: Policy,
  onChange: (change: Change) => void,
  { baseline }: { readonly baseline?: Policy } = {},
): Promise<Summary> {
  const asker = openAsker(policy)
  const before = baseline && { policy: baseline, asker: openAsker(baseline) }
  const byAgent: Record<string, { calls: number; changed: number }> = {}
  const count = { calls: 0, same: 0, newlyDenied: 0, newlyAsked: 0, newlyAllowed: 0, notJudged: 0 }
  for (const call of calls) {
    if (call.was === null) {
      count.notJudged++
      continue
    }
    count.calls++
    byAgent[call.source] ??= { calls: 0, changed: 0 }
    const agent = byAgent[call.source]!
    agent.calls++
    const now = judged(call, policy, asker)
    const { decision: would, because } = now instanceof Promise ? await now : now
    const was = before ? (await judged(call, before.policy, before.asker)).decision : call.was.decision
    if (would === was) {
      count.same++
      continue
    }
    count[kinds[would]]++
    agent.changed++
    onChange({ call, was, would, because })
  }
  return { ...count, notAsked: tally(asker.notAsked), failed: tally(asker.failed), byAgent }
}

const kinds = { deny: 'newlyDenied', ask: 'newlyAsked', allow: 'newlyAllowed' } as const

const tally = <T extends object>(found: ReadonlyMap<string, T>) =>
  Array.from(found, ([hook, rest]) => ({ hook, ...rest }))

interface Judged {
  readonly decision: Word
  readonly because: Because
  /** What the rules were asked, unless a hook or the gate had the last word. */
  readonly question?: Question
}

interface Suggested extends Judged {
  /** Where it would ask: the narrowest allow rules that would answer for the user. */
  readonly suggested?: readonly string[]
}

/** Judges single calls by a policy; what hooks a policy has are asked as in a replay. */
export function callJudge(policy: Policy): (call: RecordedCall) => Promise<Suggested> {
  const asker = openAsker(policy)
  return async (call) => {
    const { decision, because, question } = await judged(call, policy, asker)
    if (decision !== 'ask' || !question) return { decision, because }
    const { suggestions } = await decide(question)
    const suggested = suggestions.flatMap((update) =>
      update.type === 'addRules' && update.behavior === 'allow' ? update.rules.map(ruleText) : [],
    )
    return { decision, because, suggested }
  }
}

/** As a call goes: hooks, the planning gate as it stood then, the rules, the mode. At once where nothing has to be awaited. */
function judged(call: RecordedCall, policy: Policy, asker: Asker): Promise<Judged> | Judged {
  const known = policy.tool(call.tool, call.input, call.projectDir)
  return asker.plane
    ? askHooks(call, known, asker, policy).then((heard) => ruledOn(call, known, heard, policy, asker))
    : ruledOn(call, known, nobody, policy, asker)
}

function ruledOn(
  call: RecordedCall,
  known: KnownTool,
  hooks: Heard,
  policy: Policy,
  asker: Asker,
): Promise<Judged> | Judged {
  if (hooks.denied) return { decision: 'deny', because: hooks.denied }
  if (call.was?.by === 'gate') {
    const reason = 'the plan was not approved yet'
    return { decision: 'deny', because: { by: 'gate', name: 'the planning gate', reason } }
  }
  const granted = known.brought && call.was?.decision === 'allow'
  const hook = hooks.decision === 'none' && granted ? 'allow' : hooks.decision
  const question = {
    ...{ settings: policy.permissions, mode: policy.mode, tool: call.tool, input: hooks.input ?? known.input, hook },
    ...{ home: policy.home, cwd: call.projectDir, projectDir: call.projectDir, files: asker.files },
  }
  const ruled = asker.rule(question)
  return ruled instanceof Promise
    ? ruled.then((each) => verdictOf(question, each, hooks))
    : verdictOf(question, ruled, hooks)
}

function verdictOf(question: Question, { ruling, finding }: Ruled, hooks: Heard): Judged {
  const { hook, mode } = question
  const { decision, reason } = ruling
  if (finding.rule !== undefined && ruling.rule === finding.rule.text)
    return { decision, because: { by: 'rule', name: `${finding.word}:${finding.rule.text}`, reason }, question }
  if ((hook === 'allow' || hook === 'ask') && decision === hook)
    return {
      decision,
      because: { by: 'hook', name: hooks.hook ?? 'the program that brings the tool', reason },
      question,
    }
  return { decision, because: { by: 'mode', name: mode, reason }, question }
}

type Question = Parameters<typeof judge>[0]
type Ruled = Awaited<ReturnType<typeof judge>>

/**
 * Rulings, each made once: a history repeats itself, and nothing runs in between, so that the same question has the same
 * answer. What no rule looks at is no part of the question. Two generations: what was asked lately stays.
 */
function rememberingRulings(): (question: Question) => Promise<Ruled> | Ruled {
  let young = new Map<string, Ruled>()
  let old = new Map<string, Ruled>()
  const keep = (key: string, ruled: Ruled) => {
    if (key.length > longestKey) return
    if (young.size >= mostRulings) {
      old = young
      young = new Map()
    }
    young.set(key, ruled)
  }
  return (question) => {
    const key = keyOf(question)
    const known = young.get(key)
    if (known) return known
    const before = old.get(key)
    if (before) {
      keep(key, before)
      return before
    }
    return judge(question).then((ruled) => {
      keep(key, ruled)
      return ruled
    })
  }
}

function keyOf({ tool, input, cwd, hook }: Question): string {
  const { command } = input
  if (tool === 'Bash' && typeof command === 'string' && isOnlyCommand(input)) return `$${hook}\n${cwd}\n${command}`
  return `${hook}\n${tool}\n${cwd}\n${JSON.stringify(input, judgedOf(tool))}`
}

function isOnlyCommand(input: JsonObject): boolean {
  for (const key in input) if (key !== 'command' && key !== 'description') return false
  return true
}

const mostRulings = 25_000
const longestKey = 2_000
/** What rules on a tool never look at. */
const unjudged: Readonly<Record<string, readonly string[]>> = {
  ...{ Bash: ['description'], Write: ['content'], Edit: ['old_string', 'new_string'] },
}
const judgedOf = (tool: string) => {
  const left = unjudged[tool]
  return left && ((key: string, value: unknown): unknown => (left.includes(key) ? undefined : value))
}

interface Asker {
  readonly rule: (question: Question) => Promise<Ruled> | Ruled
  /** Nothing is run in between, so a path leads where it led a call ago. */
  readonly files: FileView
  /** None: no hook of the policy has a say before a call. */
  readonly plane: Plane | undefined
  readonly notAsked: Map<string, { calls: number }>
  readonly failed: Map<string, { calls: number; why: string }>
}

function openAsker({ handlers, permissions, mode, home, env, runCommands }: Policy): Asker {
  const concerned = handlers
    .filter(({ event }) => event === 'PreToolUse' || event === 'before_tool_apply')
    .map((handler) => (mayBeAsked(handler, runCommands) ? handler : { ...handler, withheld: NOT_ASKED }))
  const plane =
    concerned.length === 0
      ? undefined
      : createPlane(concerned, {
          env,
          matchesRule: (rule, tool, input, { cwd }) =>
            matchesRule(rule, { settings: permissions, mode, tool, input, hook: 'none', cwd, projectDir: cwd, home }),
        })
  return {
    rule: rememberingRulings(),
    files: rememberingView({ lasting: true }),
    plane,
    notAsked: new Map(),
    failed: new Map(),
  }
}

const NOT_ASKED = 'not_asked_in_a_replay'

/** A handler that must not run anyway (its folder is not trusted) stays so for its own reason. */
const mayBeAsked = ({ kind, withheld }: Handler, runCommands: boolean): boolean =>
  withheld !== undefined || kind === 'function' || kind === 'builtin' || (runCommands && kind !== 'prompt')

interface Heard {
  readonly decision: Answer['decision']
  readonly denied?: Because
  /** Who said so. */
  readonly hook?: string
  readonly input?: JsonObject
}

const nobody: Heard = { decision: 'none' }

async function askHooks(
  call: RecordedCall,
  { input, safety }: KnownTool,
  { plane, notAsked, failed }: Asker,
  { dbPath, mode }: Policy,
): Promise<Heard> {
  const rows: Invocation[] = []
  const scope: Scope = {
    sessionId: call.sessionId,
    conversationId: call.conversationId,
    dbPath,
    cwd: call.projectDir,
    projectDir: call.projectDir,
    permissionMode: mode,
    ...(call.agent && { agentId: call.agent.id, agentType: call.agent.type }),
    toolUseId: call.toolUseId,
    at: new Date(`${call.at.replace(' ', 'T')}Z`),
    record: (row) => rows.push(row),
  }
  const step: Steps['before_tool_apply'] = { toolName: call.tool, safety, args: input, result: null }
  const fields = { tool_name: call.tool, tool_input: input, tool_use_id: call.toolUseId }
  const answer = await plane!.ask('before_tool_apply', step, scope, { name: 'PreToolUse', fields })
  for (const { skippedReason, command } of rows)
    if (skippedReason === NOT_ASKED) notAsked.set(command, { calls: (notAsked.get(command)?.calls ?? 0) + 1 })
  for (const { effect, hook, reason } of answer.notes)
    if (effect === 'failed' || effect === 'warned') {
      const before = failed.get(hook)
      failed.set(hook, { calls: (before?.calls ?? 0) + 1, why: before?.why ?? reason })
    }
  const said = answer.notes.findLast(({ effect }) => effect !== 'changed' && effect !== 'warned')
  const refused = refusal(answer, step)
  if (refused !== undefined)
    return { decision: 'deny', denied: { by: 'hook', name: said?.hook ?? lastAsked(rows), reason: refused } }
  const hook =
    answer.decision === 'ask' ? said?.hook : lastAsked(rows.filter(({ stdout }) => allows.test(stdout ?? '')))
  return { decision: answer.decision, ...(hook && { hook }), input: step.args as JsonObject }
}

/** Why the tool would not have run, where that is a hook's word. */
function refusal(answer: Answer, step: Steps['before_tool_apply']): string | undefined {
  if (answer.decision === 'deny') return answer.reason || 'denied'
  if (answer.stop !== null) return answer.stop || 'ended the turn'
  if (answer.control.kind === 'break') return answer.reason || 'ended the turn'
  return step.result ? "answered in the tool's place" : undefined
}

const allows = /"(allow|approve)"/
const lastAsked = (rows: readonly Invocation[]): string =>
  rows.findLast((row) => row.skippedReason === null)?.command ?? ''
