/** Sampling under the rules: hooks, permission rules and the user decide, the session's model answers, its budget pays. */

import { record } from '../../hooks/shape.ts'
import type { Steps } from '../../hooks/steps.ts'
import { type Sampled, type Sampling, samplingRule } from '../../mcp/sampling.ts'
import { decide } from '../../permissions/decide.ts'
import { addEvent } from '../../store/audit.ts'
import { newId } from '../../store/open.ts'
import type { Tool } from '../../tools/tool.ts'
import type { Call } from '../call.ts'
import { spendAside } from '../model/spend.ts'
import { questionOf } from '../permission-question.ts'
import { overBudget } from '../stages.ts'
import { askHooks } from '../tool-hooks.ts'
import type { ServerOwner } from './runtime.ts'
import { Session } from './session.ts'

export async function sample(session: ServerOwner, asked: Sampling, signal: AbortSignal): Promise<Sampled> {
  if (!(session instanceof Session)) return { ok: false, why: 'only a session has a model' }
  const call = callOf(session, asked)
  const refused = await judged(call, signal)
  const answer: Sampled = refused === undefined ? await replied(session, asked, signal) : { ok: false, why: refused }
  session.commit(() =>
    addEvent(session.db, {
      conversationId: session.conversationId,
      sessionId: session.id,
      type: 'mcp_sampling',
      detail: {
        server: asked.server,
        decision: refused === undefined ? 'allow' : 'deny',
        ...(answer.ok ? { model: answer.model, chars: answer.text.length } : { why: answer.why }),
      },
    }),
  )
  return answer
}

function callOf(session: Session, asked: Sampling): Call {
  const name = samplingRule(asked.server)
  const { server, ...input } = asked
  const tool: Tool = {
    name,
    prompt: '',
    input: record({}),
    safety: 'network',
    summary: () => `${server} asks the model: ${asked.messages.at(-1)?.text.slice(0, 200) ?? ''}`,
    run: () => Promise.reject(new Error('sampling is not run as a tool')),
  }
  return {
    session,
    use: { type: 'tool_use', id: `sampling_${newId(session.db)}`, name, input },
    tool,
    input,
    hook: 'none',
    context: [],
  }
}

/** Why it is refused, or undefined. Nobody there to ask: refused. */
async function judged(call: Call, signal: AbortSignal): Promise<string | undefined> {
  const { session, tool, use, input } = call
  const byHook = await askHooks(call)
  if (byHook) return byHook.output.content
  const ruling = await decide({ ...questionOf(session), tool: tool.name, input, hook: call.hook })
  if (ruling.decision === 'allow') return undefined
  if (ruling.decision === 'deny') return ruling.reason
  const step: Steps['before_permission'] = { tool: tool.name, decision: 'ask', resolved: null }
  const suggestions = [...ruling.suggestions]
  const fields = { tool_name: tool.name, tool_input: input, permission_suggestions: suggestions }
  const answer = await session.ask('before_permission', step, () => ({ name: 'PermissionRequest', fields }), use.id)
  if (answer.decision === 'deny' || step.resolved === false || answer.stop !== null)
    return answer.reason || 'a hook denied it'
  if (answer.decision === 'allow' || step.resolved === true) return undefined
  const request = {
    toolUseId: use.id,
    tool: tool.name,
    input,
    summary: tool.summary(input),
    reason: ruling.reason,
    suggestions,
  }
  const said = await session.runtime.user.permission(request, signal)
  if (said?.allow) return undefined
  return said ? 'the user rejected it' : `nobody is there to allow it; the rule ${tool.name} does`
}

async function replied(
  session: Session,
  { messages, system, maxTokens }: Sampling,
  signal: AbortSignal,
): Promise<Sampled> {
  const over = overBudget(session)
  if (over) return { ok: false, why: over.why ?? 'the budget is spent' }
  const { provider, wireModel, maxOutput } = session.model
  const reply = await provider.reply(
    {
      model: wireModel,
      system: system === undefined ? [] : [{ text: system }],
      messages: messages.map(({ role, text }) => ({ role, content: [{ type: 'text', text }] })),
      tools: [],
      maxTokens: Math.min(maxTokens, maxOutput),
      signal,
    },
    () => {},
  )
  spendAside(session, reply)
  if (reply.stop === 'error' || reply.stop === 'cancelled')
    return { ok: false, why: reply.failure?.message ?? 'interrupted' }
  const text = reply.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  return { ok: true, text, model: reply.model, stop: reply.stop === 'max_tokens' ? 'maxTokens' : 'endTurn' }
}
