/** A model that plays a list of replies: the one stand-in that unit tests use. */
import { noUsage } from '../../../src/providers/dialects/dialect.ts'
import type { ModelFailure, ModelRequest, Provider, Reply } from '../../../src/providers/model.ts'

/** Words, calls, a failure, or a function of the request that gives one of them. */
export type Line =
  | string
  | {
      readonly text?: string
      readonly calls: readonly {
        readonly name: string
        readonly input?: Record<string, unknown>
        readonly id?: string
      }[]
    }
  | { readonly failure: ModelFailure }
  | Reply
  | ((request: ModelRequest) => Line | Promise<Line>)

export interface Scripted extends Provider {
  /** What was asked, in order. */
  readonly requests: ModelRequest[]
}

/** After the last line it says that the script is over, as an error: a test that asks once too often should fail. */
export function scripted(lines: readonly Line[]): Scripted {
  const requests: ModelRequest[] = []
  let calls = 0

  const toReply = async (line: Line | undefined, request: ModelRequest): Promise<Reply> => {
    if (typeof line === 'function') return toReply(await line(request), request)
    const base = { usage: noUsage, model: request.model }
    if (line === undefined)
      return { ...base, content: [], stop: 'error', failure: { kind: 'unknown', message: 'the script is over' } }
    if (typeof line === 'string') return { ...base, content: [{ type: 'text', text: line }], stop: 'end_turn' }
    if ('failure' in line && !('content' in line)) return { ...base, content: [], stop: 'error', failure: line.failure }
    if (!('calls' in line)) return line
    const uses = line.calls.map(({ name, input = {}, id = `call_${++calls}` }) => ({
      type: 'tool_use' as const,
      id,
      name,
      input,
    }))
    return {
      ...base,
      content: [...(line.text ? [{ type: 'text' as const, text: line.text }] : []), ...uses],
      stop: 'tool_use',
    }
  }

  return {
    requests,
    async reply(request, on) {
      if (request.signal.aborted) return { content: [], stop: 'cancelled', usage: noUsage, model: request.model }
      const line = lines[requests.length]
      requests.push(request)
      const reply = await toReply(line, request)
      for (const block of reply.content) {
        if (block.type === 'text') on({ type: 'text', text: block.text })
        else if (block.type === 'tool_use') on({ type: 'tool-call', id: block.id, name: block.name })
      }
      return reply
    },
    models: async () => ['scripted'],
  }
}
