/** An agent as a tool of another one: it answers inside the call, and the caller goes on with its answer. */
import { record, string } from '../hooks/shape.ts'
import { isAgent } from './agent.ts'
import type { Agent, FunctionTool, ToolRun } from './agent-types.ts'
import { checkKeys } from './check-definition.ts'
import type { Variables } from './context.ts'
import { checkToolName } from './tool.ts'

export interface AgentToolOptions {
  /** As the model calls it; the agent's own name by default. */
  readonly name?: string
  /** When to use it, for the model; the agent's own description by default. */
  readonly description?: string
}

/** Without a schema, and of `AnyAgent`, any context will do. */
type Needs<ContextInput extends object> = [ContextInput] extends [never]
  ? object
  : Variables extends ContextInput
    ? object
    : ContextInput

/** The agent works in a session of its own, with the context of the run that calls it. */
export function asTool<ContextInput extends object>(
  agent: Agent<ContextInput>,
  options: AgentToolOptions = {},
): FunctionTool<{ readonly input: string }, Needs<ContextInput>> {
  if (!isAgent(agent)) throw new TypeError('asTool: give it what defineAgent returned')
  const by = `asTool(${JSON.stringify(agent.name)})`
  checkKeys(by, options, ['name', 'description'])
  const { name = agent.name, description = agent.description } = options
  checkToolName(by, name)
  return Object.freeze({
    name,
    description,
    bind: ({ runAgent }: ToolRun) => ({
      name,
      prompt: description || `Asks the agent ${agent.name}, which answers with one message.`,
      input: record({ input: string('The task, whole: the agent sees nothing else of this conversation.') }),
      safety: 'mutating' as const,
      granted: true as const,
      summary: ({ input }: Readonly<Record<string, unknown>>) => String(input).slice(0, 200),
      run: (
        { input }: Readonly<Record<string, unknown>>,
        { toolUseId: toolCallId, signal }: { toolUseId: string; signal: AbortSignal },
      ) => runAgent(agent, String(input), { toolCallId, signal }),
    }),
  })
}
