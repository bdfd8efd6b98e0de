/** Runs a whole turn of the real loop for the step vectors: the model is scripted, its tools answer at once. */

import type { Toolbox } from '../../src/agent/toolbox.ts'
import { runTurn } from '../../src/agent/turn.ts'
import { record } from '../../src/hooks/shape.ts'
import { said } from '../../src/tools/output.ts'
import { defineTool, type Tool } from '../../src/tools/tool.ts'
import type { RunTrace } from '../hooks/vectors.ts'
import { testSession } from './agent-session.ts'

export const runTrace: RunTrace = async ({ handlers, input, model, maxHookContinues, requestLimit }) => {
  const toolsRun: string[] = []
  const tools = new Map<string, Tool>()
  for (const { name } of model.flatMap((reply) => reply.tools ?? [])) {
    tools.set(
      name,
      defineTool({
        name,
        prompt: '',
        input: record({}),
        safety: 'read_only',
        summary: () => name,
        run: async () => {
          toolsRun.push(name)
          return said('done')
        },
      }),
    )
  }
  const toolbox: Toolbox = {
    get: (name) => tools.get(name),
    names: () => [...tools.keys()],
    definitions: () => [],
    deferred: () => [],
    reveal: () => {},
  }
  const test = testSession({
    handlers,
    tools: toolbox,
    mode: 'bypassPermissions',
    script: model.map(({ text, tools: calls }) =>
      calls ? { text, calls: calls.map(({ id, name, args }) => ({ id, name, input: args })) } : text,
    ),
  })
  const { session } = test
  session.maxContinues = maxHookContinues
  session.maxRequests = requestLimit
  try {
    const end = await runTurn(session, [{ type: 'text', text: input }])
    const names = new Map(model.flatMap((reply) => reply.tools ?? []).map(({ id, name }) => [id, name]))
    const history: { role: string; text?: string; toolResults?: number }[] = []
    const toolResults: Record<string, { text: string; isError: boolean }> = {}
    for (const entry of test.transcript() as {
      _t: string
      content: unknown
      tool_use_id: string
      is_error: boolean
    }[]) {
      if (entry._t === 'tool_result') {
        toolResults[names.get(entry.tool_use_id)!] = { text: String(entry.content), isError: entry.is_error }
        const last = history.at(-1)
        if (last?.toolResults) last.toolResults++
        else history.push({ role: 'user', toolResults: 1 })
      } else {
        const blocks = entry.content as { type: string; text?: string }[]
        history.push({ role: entry._t, text: blocks.map((block) => block.text ?? '').join('') })
      }
    }
    return { stopReason: end.stop, modelCalls: test.model.requests.length, history, toolsRun, toolResults }
  } finally {
    test.end()
  }
}
