/** The two dialects as their servers speak them, for tests that go through the program. */
import { type Answer, status } from './wire-server.ts'

export interface Call {
  readonly id: string
  readonly name: string
  readonly args: string
}

export interface Saying {
  readonly text?: readonly string[]
  readonly calls?: readonly Call[]
  /** What the model has read, by its own count. */
  readonly inputTokens?: number
}

export interface Dialect {
  readonly name: string
  env(url: string): Record<string, string>
  frames(saying: Saying): string[]
  error(code: number): Answer
  /** The ids of the calls in a request and of their results, in order. */
  pairs(body: { messages: Message[] }): { called: string[]; answered: string[] }
}

// biome-ignore lint/suspicious/noExplicitAny: a request as it came over the wire
type Message = any

const sse = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

export const anthropic: Dialect = {
  name: 'anthropic',
  env: (url) => ({ ANTHROPIC_API_KEY: 'sk-ant-test', ANTHROPIC_BASE_URL: url }),
  frames({ text = [], calls = [], inputTokens = 9 }) {
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'claude-opus-4-20250514', content: [] }
    const block = (index: number, content_block: object, deltas: readonly object[]) => [
      sse({ type: 'content_block_start', index, content_block } as never),
      ...deltas.map((delta) => sse({ type: 'content_block_delta', index, delta } as never)),
      sse({ type: 'content_block_stop', index } as never),
    ]
    const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn'
    return [
      sse({
        type: 'message_start',
        message: { ...message, usage: { input_tokens: inputTokens, output_tokens: 1 } },
      } as never),
      ...(text.length > 0
        ? block(
            0,
            { type: 'text', text: '' },
            text.map((piece) => ({ type: 'text_delta', text: piece })),
          )
        : []),
      ...calls.flatMap(({ id, name, args }, index) =>
        block(index + 1, { type: 'tool_use', id, name, input: {} }, [{ type: 'input_json_delta', partial_json: args }]),
      ),
      sse({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 5 } } as never),
      sse({ type: 'message_stop' }),
    ]
  },
  error: (code) => status(code, { type: 'error', error: { type: 'api_error', message: 'a bad day' } }),
  pairs({ messages }) {
    const blocks = messages.flatMap((message) => (Array.isArray(message.content) ? message.content : []))
    return {
      called: blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id),
      answered: blocks.filter(({ type }) => type === 'tool_result').map(({ tool_use_id }) => tool_use_id),
    }
  },
}

export const openai: Dialect = {
  name: 'openai',
  env: (url) => ({ OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: `${url}/v1` }),
  frames({ text = [], calls = [] }) {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    return [
      chunk({ role: 'assistant' }),
      ...text.map((content) => chunk({ content })),
      ...calls.map(({ id, name, args }, index) =>
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] }),
      ),
      chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
      'data: [DONE]\n\n',
    ]
  },
  error: (code) => status(code, { error: { message: 'a bad day', type: 'server_error' } }),
  pairs: ({ messages }) => ({
    called: messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }: Call) => id)),
    answered: messages.filter(({ role }) => role === 'tool').map(({ tool_call_id }) => tool_call_id),
  }),
}
