/** One agent's part of a run: its session, its prompt, and its listeners. */

import { loadMessages } from '../agent/session/history.ts'
import type { Observed, Runtime } from '../agent/session/runtime.ts'
import { Session } from '../agent/session/session.ts'
import { sessionServices } from '../agent/session/session-services.ts'
import { enterSession } from '../agent/session/start.ts'
import { runTurn } from '../agent/turn.ts'
import type { Source, TurnEnd } from '../agent/turn-end.ts'
import { textBlock, textOf } from '../hooks/step/blocks.ts'
import type { Block } from '../hooks/steps.ts'
import { getSession } from '../store/conversations.ts'
import { builtInTool } from '../tools/all.ts'
import { orAborted } from './abort.ts'
import { AgentError, type AgentFailure } from './agent-error.ts'
import type { AnyAgent, TokenCounts, ToolRun } from './agent-types.ts'
import { handoffTools, type Wanted } from './handoff.ts'
import { type Firing, fire } from './hooks.ts'
import { jsonSchemaOf } from './output/schema.ts'
import type { RunEvent } from './run-event.ts'
import type { Shared } from './runtime.ts'
import { toolboxOf } from './toolbox.ts'
import { countsOf } from './usage.ts'

export interface Leg {
  readonly session: Session
  /** Takes an input to the end of its turn; throws where that is no answer. */
  turn(input: readonly Block[], source?: Source): Promise<TurnEnd>
  /** The handoff that the last turn ended with. */
  wanted(): Wanted | undefined
  close(): Promise<void>
}

export interface LegStart {
  readonly home: Shared
  readonly agent: AnyAgent
  readonly firing: Firing
  /** Its row is there. */
  readonly session: string
  readonly resumes: boolean
  readonly handoffsLeft: number
  readonly usage: { add(counts: TokenCounts): void }
  readonly options: { readonly signal?: AbortSignal; on?(event: RunEvent): void }
  readonly runAgent: ToolRun['runAgent']
}

export async function openLeg(start: LegStart): Promise<Leg> {
  const { home, agent, firing, options } = start
  const { definition } = agent
  const { signal } = options
  const { model: requestedModel, permissions: own = {}, maxTokens } = definition
  const model = await home.model(requestedModel, agent.name)
  const names = (definition.tools ?? []).filter((tool) => typeof tool === 'string')
  const usesMcp = names.some((name) => name.startsWith('mcp__'))
  if (usesMcp) await home.runtime.mcp?.ready?.(30_000)

  let session: Session | undefined
  let wanted: Wanted | undefined
  const watch = watcher(start)
  const runtime: Runtime = {
    ...home.runtime,
    ...(!usesMcp && { mcp: undefined }),
    plane: home.planeFor(
      () => session,
      (definition.handlers ?? []).map((each) =>
        'bind' in each ? each.bind({ agent, context: firing.context }) : each,
      ),
    ),
    ...watch,
  }
  const want = (asked: Wanted) => {
    if (start.handoffsLeft <= 0) return 'there were too many handoffs in this run; answer yourself'
    wanted = asked
    return undefined
  }
  const functions = (definition.tools ?? []).flatMap((tool) =>
    typeof tool === 'string' ? [] : [tool.bind({ agent, context: firing.context, runAgent: start.runAgent })],
  )
  const { permissions } = home
  session = new Session({
    runtime,
    services: sessionServices,
    id: start.session,
    conversationId: getSession(home.runtime.db, start.session)!.conversationId,
    cwd: home.cwd,
    projectDir: home.cwd,
    mode: own.mode ?? permissions.defaultMode ?? 'default',
    model: maxTokens ? { ...model, maxOutput: maxTokens } : model,
    permissions: {
      ...permissions,
      allow: [...(permissions.allow ?? []), ...(own.allow ?? [])],
      ask: [...(permissions.ask ?? []), ...(own.ask ?? [])],
      deny: [...(permissions.deny ?? []), ...(own.deny ?? [])],
    },
    messages: start.resumes ? loadMessages(home.runtime.db, start.session, model.window) : [],
    agentType: agent.name,
    tools: toolboxOf(runtime, names, [...functions, ...handoffTools(agent, want)]),
    systemPrompt: await orAborted(promptOf(agent, firing, home.cwd), signal),
    isolated: true,
  })
  session.maxRequests = definition.maxRequests ?? 50
  const open = session
  const interrupt = () => open.interrupt()
  signal?.addEventListener('abort', interrupt, { once: true })
  let first = await enterSession(open, start.resumes ? 'resume' : 'startup')

  return {
    session: open,
    wanted: () => wanted,
    async turn(input, source) {
      signal?.throwIfAborted()
      const prompt = first === '' ? input : [textBlock(`${first}\n\n`), ...input]
      first = ''
      const end = await runTurn(open, prompt, prompt.length === 0 ? 'continuation' : source)
      if (end.approval) {
        const { approval, why = '' } = end
        throw new AgentError('waiting', agent.name, why, { approval, sessionId: open.id })
      }
      signal?.throwIfAborted()
      if (wanted) return end
      const failure = failureOf(end)
      if (!failure) return end
      throw new AgentError(failure, agent.name, end.why || end.stop, { text: end.text, failure: end.failure })
    },
    async close() {
      signal?.removeEventListener('abort', interrupt)
      await open.raise('SessionEnd', () => ({ reason: 'other' as const }))
      await open.runtime.plane.close()
      open.commit(() => {})
      await open.tasks.stopAll()
    },
  }
}

/** The events of an agent's session, as its hooks and the caller receive them. */
function watcher({ home, firing, options, usage }: LegStart): Pick<Runtime, 'emit' | 'spent' | 'observe'> {
  const counted: TokenCounts[] = []
  let prompted = false
  return {
    emit(event) {
      if (!options.on) {
        if (event.type === 'notice' && event.level !== 'info') home.log({ level: event.level, text: event.text })
        if (event.type === 'hook' && event.note.failedOpen)
          home.log({ level: 'warning', text: `hook ${event.note.hook} failed: ${event.note.reason}` })
        return
      }
      report({ home, options }, { ...event, agentName: firing.agent.name })
    },
    spent(model, spent, cost) {
      const counts = countsOf(model, spent, cost)
      if (!counts) return
      usage.add(counts)
      counted.push(counts)
    },
    async observe(what: Observed) {
      if (what.type === 'request' && !prompted) {
        prompted = true
        const systemPrompt = what.request.system.map(({ text }) => text).join('\n\n')
        const userPrompt = textOf(what.request.messages.findLast(({ role }) => role === 'user')?.content ?? [])
        await fire(firing, 'onPromptGenerated', { systemPrompt, userPrompt })
      }
      for (const counts of counted.splice(0)) await fire(firing, 'onTokensCounted', counts)
      if (what.type !== 'tool-start' && what.type !== 'tool-end') return
      const call = { tool: what.tool, args: what.input, toolCallId: what.id }
      if (what.type === 'tool-start') return fire(firing, 'onToolStart', call)
      const { content, isError } = what.output
      const failed = isError && { error: content }
      await fire(firing, 'onToolEnd', { ...call, result: content, durationMs: what.ms, ...failed })
    },
  }
}

/** Tells the caller. One that throws is logged, and the run goes on. */
export function report({ home, options }: Pick<LegStart, 'home' | 'options'>, event: RunEvent): void {
  try {
    options.on?.(event)
  } catch (cause) {
    home.log({ level: 'error', text: `agent "${event.agentName}": the function given as on failed`, cause })
  }
}

/** Its instructions; where it works, if it has tools to work there with; and what its answer must be. */
async function promptOf(agent: AnyAgent, { context }: Firing, cwd: string): Promise<string> {
  const { instructions, output, outputJsonSchema, tools = [] } = agent.definition
  const own = typeof instructions === 'string' ? instructions : await instructions({ context: context as never, agent })
  const worksHere = tools.some((tool) => typeof tool === 'string' && builtInTool(tool))
  const schema = output && (outputJsonSchema ?? jsonSchemaOf(output))
  return [
    own,
    ...(worksHere ? [`Working directory: ${cwd}`] : []),
    ...(output ? ['When you are done, answer with nothing but one JSON value.'] : []),
    ...(schema ? [`It must fit this JSON Schema:\n${JSON.stringify(schema)}`] : []),
  ].join('\n\n')
}

/** Why a turn's end is no answer. A hook that ends it where the model had spoken leaves the model's words. */
function failureOf({ stop, why, text }: TurnEnd): AgentFailure | undefined {
  if (stop === 'end_turn') return why !== undefined && text === '' ? 'stopped' : undefined
  return failures[stop]
}

const failures: Record<Exclude<TurnEnd['stop'], 'end_turn'>, AgentFailure> = {
  cancelled: 'cancelled',
  refusal: 'refused',
  error: 'model',
  max_tokens: 'limit',
  max_turn_requests: 'limit',
}
