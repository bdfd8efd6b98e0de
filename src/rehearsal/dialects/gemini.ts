/** Gemini generateContent and streamGenerateContent. */
import type { JsonObject } from '../../hooks/shape.ts'
import type { ChatMessage } from '../chat.ts'
import { type Dialect, list, object, pieces, type Reply, resultOf, textOf } from './dialect.ts'

export const gemini: Dialect = {
  path: /:(?:streamG|g)enerateContent$/,
  read(body, path) {
    if (!Array.isArray(body.contents)) return undefined
    const config = object(body.generationConfig)
    const anyJson = config.responseMimeType === 'application/json' ? { type: 'object' } : undefined
    const schema = config.responseJsonSchema ?? config.responseSchema ?? anyJson
    const system = textOf(object(body.systemInstruction ?? body.system_instruction).parts)
    return {
      model: /models\/([^/:]+):/.exec(path)?.[1] ?? '',
      stream: path.includes(':stream'),
      messages: [...(system === '' ? [] : [{ role: 'system' as const, text: system }]), ...readContents(body.contents)],
      tools: list(body.tools).flatMap((tool) =>
        list(tool.functionDeclarations ?? tool.function_declarations).map((declared) => ({
          name: String(declared.name),
          parameters: object(declared.parametersJsonSchema ?? declared.parameters),
        })),
      ),
      ...(schema !== undefined && { answerSchema: schema }),
    }
  },
  whole: (reply) => candidate(reply, parts(reply), true),
  events(reply) {
    const chunks = [...pieces(reply.text).map((text) => [{ text }]), callParts(reply)].filter(
      ({ length }) => length > 0,
    )
    return chunks.map((chunk, at) => ({ data: candidate(reply, chunk, at === chunks.length - 1) }))
  },
  failure: ({ status, message }) => ({ error: { code: status, message, status: statusNames[status] ?? 'INTERNAL' } }),
}

/** Calls have no ids in most requests: the nth result belongs to the nth call. */
function readContents(contents: unknown): ChatMessage[] {
  let calls = 0
  let results = 0
  return list(contents).flatMap(({ role, parts }): ChatMessage[] => {
    const text = textOf(list(parts).filter(({ thought }) => thought !== true))
    if (role === 'model') {
      const made = list(parts)
        .filter(({ functionCall }) => functionCall)
        .map(({ functionCall }) => ({
          id: `call_${++calls}`,
          name: String(object(functionCall).name),
          input: object(object(functionCall).args),
        }))
      return [{ role: 'assistant', text, calls: made }]
    }
    const answered = list(parts)
      .filter(({ functionResponse }) => functionResponse)
      .map(({ functionResponse }) => resultOf(`call_${++results}`, responseText(object(functionResponse))))
    return text === '' ? answered : [...answered, { role: 'user', text }]
  })
}

function responseText({ response }: JsonObject): string {
  const { output, error } = object(response)
  if (error !== undefined) return `Error: ${typeof error === 'string' ? error : JSON.stringify(error)}`
  return typeof output === 'string' ? output : JSON.stringify(response ?? '')
}

const callParts = ({ calls }: Reply) =>
  calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } }))

const parts = (reply: Reply): object[] => [...(reply.text === '' ? [] : [{ text: reply.text }]), ...callParts(reply)]

const candidate = ({ id, model, usage }: Reply, parts: readonly object[], last: boolean) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...(last && { finishReason: 'STOP' }) }],
  usageMetadata: {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output,
    totalTokenCount: usage.input + usage.output,
  },
  modelVersion: model,
  responseId: id,
})

const statusNames: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}
