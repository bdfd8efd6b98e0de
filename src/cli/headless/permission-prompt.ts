/** `--permission-prompt-tool`: in -p an MCP tool, or the program that drives us, answers in the person's place. */
import type { Answerer, Person } from '../../agent/events.ts'
import type { Session } from '../../agent/session/session.ts'
import type { PermissionUpdate } from '../../hooks/plane.ts'
import { isObject, type JsonObject, parse } from '../../hooks/shape.ts'
import { readJson } from '../../hooks/text/json-text.ts'
import { permissionDecision } from '../../hooks/wire/permission-update.ts'
import { nobody } from './deny-all.ts'
import type { AnswerLine } from './stream-input.ts'

/** The call that is asked about, spelt as on the wire. */
interface Asked {
  readonly tool_name: string
  readonly input: JsonObject
  readonly tool_use_id?: string
  readonly agent_id?: string
  readonly description?: string
  readonly decision_reason?: string
  readonly permission_suggestions?: readonly PermissionUpdate[]
}

/** What was answered, or why that cannot be told; undefined: nobody is there. */
type Ask = (asked: Asked, signal: AbortSignal) => Promise<{ value: unknown } | { problem: string } | undefined>

export function personBy(ask: Ask, by: Answerer): Person {
  async function decide(asked: Asked, signal: AbortSignal) {
    const answer = await ask(asked, signal)
    if (!answer) return undefined
    const read = 'value' in answer ? parse(permissionDecision, answer.value) : undefined
    if (read?.ok) return read.value
    const why = read ? `${read.problem.path} ${read.problem.why}`.trim() : 'problem' in answer ? answer.problem : ''
    return { behavior: 'deny' as const, message: `no answer that can be used: ${why}` }
  }
  return {
    ...nobody,
    async permission({ tool, input, toolUseId, agentId, summary, reason, suggestions }, signal) {
      const asked = { tool_name: tool, input, tool_use_id: toolUseId, ...(agentId && { agent_id: agentId }) }
      const why = { description: summary, decision_reason: reason, permission_suggestions: suggestions }
      const said = await decide({ ...asked, ...why }, signal)
      if (!said) return undefined
      if (said.behavior === 'allow')
        return {
          allow: true,
          by,
          ...(said.updatedInput && { input: said.updatedInput }),
          ...(said.updatedPermissions && { updates: said.updatedPermissions }),
        }
      const { message, interrupt } = said
      return { allow: false, by, ...(message && { feedback: message }), ...(interrupt && { interrupt }) }
    },
    async questions(questions, signal) {
      const said = await decide({ tool_name: 'AskUserQuestion', input: { questions } }, signal)
      const answers = said?.behavior === 'allow' ? said.updatedInput?.['answers'] : undefined
      if (!isObject(answers)) return undefined
      return Object.fromEntries(Object.entries(answers).map(([question, text]) => [question, String(text)]))
    },
    async approvePlan(plan, signal) {
      const said = await decide({ tool_name: 'ExitPlanMode', input: { plan } }, signal)
      if (said?.behavior === 'deny') return { approve: false, feedback: said.message ?? '' }
      const changed = said?.updatedInput?.['plan']
      return said && { approve: true, plan: typeof changed === 'string' ? changed : plan, acceptEdits: false, by }
    },
  }
}

/** The tool is told what it is asked about and answers with text that is JSON. */
export function byTool(name: string, session: () => Session | undefined): Person {
  const ask: Ask = async ({ tool_name, input, tool_use_id }, signal) => {
    const { mcp } = session()?.runtime ?? {}
    if (!mcp) return undefined
    const asked = { tool_name, input, ...(tool_use_id && { tool_use_id }) }
    const { content, isError } = await mcp.callTool(name, asked, signal, () => {})
    if (isError) return { problem: `${name} failed: ${content}` }
    const read = readJson(content.trim())
    return read.ok ? { value: read.value } : { problem: `${name} gave something else than JSON` }
  }
  return personBy(ask, 'prompt_tool')
}

export const missingTool = (name: string, { runtime }: Session): string | undefined =>
  runtime.mcp?.tools().some((tool) => tool.name === name)
    ? undefined
    : `MCP tool ${name} (passed via --permission-prompt-tool) not found`

export interface Driver {
  readonly person: Person
  /** It listens from now on; before, nobody is there. */
  begin(): void
  hear(answer: AnswerLine): void
  /** No more answers come: what is asked still is given up. */
  end(): void
}

export function driver(write: (message: object) => void): Driver {
  const waiting = new Map<string, (answer: Awaited<ReturnType<Ask>>) => void>()
  let listens = false
  const ask: Ask = async (asked, signal) => {
    if (!listens || signal.aborted) return undefined
    const request_id = crypto.randomUUID()
    const answer = Promise.withResolvers<Awaited<ReturnType<Ask>>>()
    const cancel = () => {
      write({ type: 'control_cancel_request', request_id })
      answer.resolve(undefined)
    }
    signal.addEventListener('abort', cancel, { once: true })
    waiting.set(request_id, answer.resolve)
    write({ type: 'control_request', request_id, request: { subtype: 'can_use_tool', ...asked } })
    const said = await answer.promise
    signal.removeEventListener('abort', cancel)
    waiting.delete(request_id)
    return said
  }
  return {
    person: personBy(ask, 'driver'),
    begin() {
      listens = true
    },
    hear: ({ id, answer }) => waiting.get(id)?.(answer),
    end() {
      listens = false
      for (const settle of waiting.values()) settle(undefined)
    },
  }
}
