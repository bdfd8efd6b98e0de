/** Judges one recorded call by a policy, as a call goes: hooks, the planning gate as it stood then, the rules, the mode. */
import { createPlane } from '../../hooks/dispatch.ts'
import type { Handler } from '../../hooks/handler.ts'
import type { Answer, HookNote, Invocation, PermissionMode, Plane, Scope } from '../../hooks/plane.ts'
import type { JsonObject } from '../../hooks/shape.ts'
import type { Safety, Steps } from '../../hooks/steps.ts'
import { isFileTool, withFile } from '../../hosts/named-files.ts'
import { decide } from '../../permissions/decide.ts'
import { type FileView, rememberingView } from '../../permissions/paths/view.ts'
import type { ProtectedPath } from '../../permissions/protected-paths.ts'
import type { PermissionSettings } from '../../permissions/question.ts'
import { ruleText } from '../../permissions/rules/rule.ts'
import { matchesRule } from '../../permissions/rules/rule-applies.ts'
import type { RecordedCall } from './recorded-calls.ts'
import type { Question, Ruled } from './ruled.ts'
import { type Asked, type Rulings, rememberingRulings } from './rulings.ts'

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
  /** Files that hooks run and the database: rules of the session's own. */
  readonly protect?: readonly ProtectedPath[]
  /** Commands run in a sandbox, which answers prompts for them where there is one. */
  readonly sandboxAnswers?: boolean
  /** The input as the tool would have got it, and what the tool is. */
  tool(name: string, input: JsonObject, cwd: string): KnownTool
}

export interface KnownTool {
  readonly input: JsonObject
  readonly safety: Safety
  /** Neither built in nor of an MCP server: a program brought it along, and may have granted it. */
  readonly brought: boolean
}

export type Word = 'allow' | 'ask' | 'deny'

export interface Because {
  readonly by: 'hook' | 'gate' | 'rule' | 'mode'
  /** The rule as written, the hook, or the mode. */
  readonly name: string
  readonly reason: string
}

export interface Judged {
  readonly decision: Word
  readonly because: Because
  /** What the rules were asked, unless a hook or the gate had the last word. */
  readonly asked?: Asked
  /** A hook that was not asked, or a sandbox, may have said something else. */
  readonly isPartial?: true
}

interface Suggested extends Judged {
  /** Where it would ask: the narrowest allow rules that would answer for the user. */
  readonly suggested?: readonly string[]
}

/** Judges single calls by a policy; what hooks a policy has are asked as in a replay. */
export function callJudge(policy: Policy): (call: RecordedCall) => Promise<Suggested> {
  const asker = openAsker(policy)
  return async (call) => {
    const { decision, because, asked } = await judged(call, policy, asker)
    if (decision !== 'ask' || !asked) return { decision, because }
    const { suggestions } = await decide(questionOf(asked, policy, asker))
    const suggested = suggestions.flatMap((update) =>
      update.type === 'addRules' && update.behavior === 'allow' ? update.rules.map(ruleText) : [],
    )
    return { decision, because, suggested }
  }
}

/** At once where nothing has to be awaited. */
export function judged(call: RecordedCall, policy: Policy, asker: Asker): Promise<Judged> | Judged {
  const known = policy.tool(call.tool, call.input, call.projectDir)
  if (!asker.plane && !policy.sandboxAnswers) return ruledOn(call, known, nobody, policy, asker)
  return partlyJudged(call, known, policy, asker)
}

async function partlyJudged(call: RecordedCall, known: KnownTool, policy: Policy, asker: Asker): Promise<Judged> {
  const heard = asker.plane ? await askHooks(call, known, asker, policy) : nobody
  const verdict = await ruledOn(call, known, heard, policy, asker)
  const isOpen = heard.isPartial ? verdict.decision !== 'deny' : policy.sandboxAnswers && mayBeSandboxed(call, verdict)
  return isOpen ? { ...verdict, isPartial: true } : verdict
}

/** Whether a sandbox, where there is one, answers in the user's place; a command that asks to run outside prompts there. */
function mayBeSandboxed({ tool, input }: RecordedCall, { decision, because: { by, reason } }: Judged): boolean {
  if (tool !== 'Bash') return false
  if (input['dangerouslyDisableSandbox'] === true) return decision === 'allow'
  return decision !== 'allow' && by === 'mode' && !/^the ask rule "/.test(reason)
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
  const ruled = (asked: Asked): Promise<Judged> | Judged => {
    const found = asker.rule(asked, () => questionOf(asked, policy, asker))
    return found instanceof Promise
      ? found.then((each) => verdictOf(asked, each, hooks, policy.mode))
      : verdictOf(asked, found, hooks, policy.mode)
  }
  const asked = { tool: call.tool, input: hooks.input ?? known.input, cwd: call.projectDir, hook }
  return call.input['file_paths'] === undefined ? ruled(asked) : strictestOf(eachOf(asked, call.input), ruled)
}

/** Of a call that names several files, the strictest ruling on one of them. */
async function strictestOf(
  calls: readonly Asked[],
  ruled: (asked: Asked) => Promise<Judged> | Judged,
): Promise<Judged> {
  let strictest: Judged | undefined
  for (const asked of calls) {
    const verdict = await ruled(asked)
    if (!strictest || strictness[verdict.decision] > strictness[strictest.decision]) strictest = verdict
  }
  return strictest!
}
const strictness: Record<Word, number> = { allow: 0, ask: 1, deny: 2 }

/** A file tool is judged for each of its files; any other for itself, and for the files of the patch in its input. */
function eachOf<T extends { readonly tool: string; readonly input: JsonObject }>(
  asked: T,
  { file_paths }: JsonObject,
): [T, ...T[]] {
  const files = Array.isArray(file_paths) ? file_paths.filter((path) => typeof path === 'string') : []
  const isFiles = isFileTool(asked.tool)
  const tool = isFiles ? asked.tool : 'Edit'
  const [first, ...others] = files.map((path) => ({ ...asked, tool, input: withFile(tool, asked.input, path) }))
  if (!first) return [asked]
  return isFiles ? [first, ...others] : [asked, first, ...others]
}

function questionOf({ tool, input, cwd, hook }: Asked, policy: Policy, { files }: Asker): Question {
  const { permissions: settings, mode, home, protect } = policy
  return { settings, mode, tool, input, hook, home, cwd, projectDir: cwd, files, ...(protect && { protect }) }
}

function verdictOf(asked: Asked, { decision, reason, rule }: Ruled, hooks: Heard, mode: PermissionMode): Judged {
  const { hook } = asked
  if (rule !== undefined) return { decision, because: { by: 'rule', name: rule, reason }, asked }
  if ((hook === 'allow' || hook === 'ask') && decision === hook)
    return {
      decision,
      because: { by: 'hook', name: hooks.hook ?? 'the program that brings the tool', reason },
      asked,
    }
  return { decision, because: { by: 'mode', name: mode, reason }, asked }
}

export interface Asker {
  readonly rule: Rulings
  /** Nothing is run in between, so a path leads where it led a call ago. */
  readonly files: FileView
  /** None: no hook of the policy has a say before a call. */
  readonly plane: Plane | undefined
  readonly notAsked: Map<string, { calls: number }>
  readonly failed: Map<string, { calls: number; why: string }>
}

export function openAsker({ handlers, permissions, mode, home, env, runCommands }: Policy): Asker {
  const concerned = handlers
    .filter(hasSay)
    .map((handler) => (mayBeAsked(handler, runCommands) ? handler : { ...handler, withheld: NOT_ASKED }))
  const plane =
    concerned.length === 0
      ? undefined
      : createPlane(concerned, {
          env,
          async matchesRule(rule, tool, input, { cwd }) {
            const question = {
              settings: permissions,
              mode,
              tool,
              input,
              hook: 'none',
              cwd,
              projectDir: cwd,
              home,
            } as const
            for (const each of eachOf(question, input)) if (await matchesRule(rule, each)) return true
            return false
          },
        })
  return {
    rule: rememberingRulings(),
    files: rememberingView({ lasting: true }),
    plane,
    notAsked: new Map(),
    failed: new Map(),
  }
}

/** Whether a handler is asked before a call; the others have no part in a replay. */
export const hasSay = ({ event }: Handler): boolean => event === 'PreToolUse' || event === 'before_tool_apply'

const NOT_ASKED = 'not_asked_in_a_replay'

/** A handler that must not run anyway (its folder is not trusted) stays so for its own reason. */
export const mayBeAsked = ({ kind, withheld }: Handler, runCommands: boolean): boolean =>
  withheld !== undefined || kind === 'function' || kind === 'builtin' || (runCommands && kind !== 'prompt')

interface Heard {
  readonly decision: Answer['decision']
  readonly denied?: Because
  /** Who said so. */
  readonly hook?: string
  readonly input?: JsonObject
  /** One of them was not asked. */
  readonly isPartial?: boolean
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
  const withheld = rows.filter(({ skippedReason }) => skippedReason === NOT_ASKED)
  for (const { command } of withheld) notAsked.set(command, { calls: (notAsked.get(command)?.calls ?? 0) + 1 })
  for (const { effect, hook, reason } of answer.notes)
    if (effect === 'failed' || effect === 'warned') {
      const before = failed.get(hook)
      failed.set(hook, { calls: (before?.calls ?? 0) + 1, why: before?.why ?? reason })
    }
  const first = (effect: HookNote['effect']) => answer.notes.find((note) => note.effect === effect)?.hook
  const refused = refusal(answer, step)
  if (refused !== undefined) {
    const last = answer.notes.findLast(({ effect }) => effect !== 'changed' && effect !== 'warned')?.hook
    return {
      decision: 'deny',
      denied: { by: 'hook', name: first('denied') ?? last ?? lastAsked(rows), reason: refused },
    }
  }
  const hook =
    answer.decision === 'ask' ? first('asked') : lastAsked(rows.filter(({ stdout }) => allows.test(stdout ?? '')))
  return {
    decision: answer.decision,
    ...(hook && { hook }),
    input: step.args as JsonObject,
    isPartial: withheld.length > 0,
  }
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
