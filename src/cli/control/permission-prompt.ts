/** `--permission-prompt-tool`: with -p an MCP tool, or the program that drives ona, answers permission prompts. */
import type { Answerer, User } from '../../agent/events.ts'
import type { Session } from '../../agent/session/session.ts'
import type { PermissionUpdate } from '../../hooks/plane.ts'
import { isObject, type JsonObject, parse } from '../../hooks/shape.ts'
import { readJson } from '../../hooks/text/json-text.ts'
import { permissionDecision } from '../../hooks/wire/permission-update.ts'
import { nobody } from '../headless/deny-all.ts'
import type { Pipe } from './pipe.ts'

/** The call in question, as on the wire. */
interface Asked {
  readonly tool_name: string
  readonly input: JsonObject
  readonly tool_use_id?: string
  readonly agent_id?: string
  readonly description?: string
  readonly decision_reason?: string
  readonly permission_suggestions?: readonly PermissionUpdate[]
}

/** The answer, or why there is none that can be used; undefined: nobody is there. */
type Ask = (asked: Asked, signal: AbortSignal) => Promise<{ value: unknown } | { problem: string } | undefined>

export function userBy(ask: Ask, by: Answerer): User {
  async function decide(asked: Asked, signal: AbortSignal) {
    const answer = await ask(asked, signal)
    if (!answer) return undefined
    const read = 'value' in answer ? parse(permissionDecision, answer.value) : undefined
    if (read?.ok) return read.value
    const why = read ? `${read.problem.path} ${read.problem.why}`.trim() : 'problem' in answer ? answer.problem : ''
    return { behavior: 'deny' as const, message: `the answer to the permission prompt cannot be used: ${why}` }
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

/** The tool gets the call as its input and answers with text that is JSON. */
export function byTool(name: string, session: () => Session | undefined): User {
  const ask: Ask = async ({ tool_name, input, tool_use_id }, signal) => {
    const { mcp } = session()?.runtime ?? {}
    if (!mcp) return undefined
    const asked = { tool_name, input, ...(tool_use_id && { tool_use_id }) }
    const { content, isError } = await mcp.callTool(name, asked, signal, () => {})
    if (isError) return { problem: `${name} failed: ${content}` }
    const read = readJson(content.trim())
    return read.ok ? { value: read.value } : { problem: `${name} did not answer with JSON` }
  }
  return userBy(ask, 'prompt_tool')
}

export const missingTool = (name: string, { runtime }: Session): string | undefined =>
  runtime.mcp?.tools().some((tool) => tool.name === name)
    ? undefined
    : `MCP tool ${name} (passed via --permission-prompt-tool) not found`

/** Permission prompts, questions and plans go to the host as `can_use_tool`. */
export function hostUser(pipe: Pick<Pipe, 'request'>): User {
  return userBy((asked, signal) => pipe.request({ subtype: 'can_use_tool', ...asked }, signal), 'driver')
}

/** MCP servers' questions go to the host, which declines them where it has no handler. */
export const hostElicit =
  (pipe: Pick<Pipe, 'request'>): User['elicit'] =>
  async ({ server, message, mode, url, schema }, signal) => {
    const request = { subtype: 'elicitation', mcp_server_name: server, message, mode }
    const asked = { ...request, ...(url && { url }), ...(schema && { requested_schema: schema }) }
    const answer = await pipe.request(asked, signal)
    const value = answer && 'value' in answer && isObject(answer.value) ? answer.value : undefined
    const { action, content } = value ?? {}
    if (action !== 'accept' && action !== 'decline' && action !== 'cancel') return undefined
    return { action, ...(isObject(content) && { content }) }
  }
