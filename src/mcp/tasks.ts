/**
 * Tasks (`io.modelcontextprotocol/tasks` of the 2026-07-28 revision): a server may answer a tool call with a handle. The
 * result is polled for here, below the SDK, which sees one ordinary answer.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { isObject, type JsonObject } from '../hooks/shape.ts'

export const tasksExtension = 'io.modelcontextprotocol/tasks'
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'

/** Answers a request of the server's that came with a task, as if it had come by itself. */
export type AnswerInput = (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>

interface Call {
  /** What every request to such a server carries. */
  readonly meta: JsonObject
  readonly stop: AbortController
  taskId?: string
}

const pollMs = { default: 1000, least: 20, most: 30_000 }

export function withTasks(transport: Transport, answer: AnswerInput): Transport {
  const calls = new Map<unknown, Call>()
  const waiting = new Map<string, (message: JsonObject) => void>()
  let count = 0
  const guard: Transport = {
    start: () => transport.start(),
    send(message, options) {
      const request = message as unknown as JsonObject
      if (request['method'] === 'notifications/cancelled' && cancelled(request)) return Promise.resolve()
      if (request['method'] !== 'tools/call') return transport.send(message, options)
      const offered = offering(request)
      // over HTTP a call is cancelled by ending its request; a task outlives the request
      options?.requestSignal?.addEventListener('abort', () => cancel(request['id']), { once: true })
      return transport.send(offered, options)
    },
    async close() {
      for (const { stop } of calls.values()) stop.abort()
      await transport.close()
    },
    setProtocolVersion: (version) => transport.setProtocolVersion?.(version),
    get sessionId() {
      return transport.sessionId
    },
    ...('hasPerRequestStream' in transport && { hasPerRequestStream: transport.hasPerRequestStream }),
  }

  /** Only servers of the revision that has the extension get requests with capabilities in them. */
  const offering = (request: JsonObject): JSONRPCMessage => {
    const params = request['params'] as JsonObject | undefined
    const meta = params?.['_meta']
    const can = isObject(meta) ? meta[capabilitiesKey] : undefined
    if (!isObject(meta) || !isObject(can)) return request as unknown as JSONRPCMessage
    const extensions = { ...(isObject(can['extensions']) && can['extensions']), [tasksExtension]: {} }
    const offered = { ...meta, [capabilitiesKey]: { ...can, extensions } }
    calls.set(request['id'], { meta: offered, stop: new AbortController() })
    return { ...request, params: { ...params, _meta: offered } } as unknown as JSONRPCMessage
  }

  /** A call that has become a task is not cancelled by notification. */
  const cancelled = ({ params }: JsonObject): boolean => cancel(isObject(params) ? params['requestId'] : undefined)

  const cancel = (id: unknown): boolean => {
    const call = calls.get(id)
    if (!call?.taskId || call.stop.signal.aborted) return false
    call.stop.abort()
    void ask(call, 'tasks/cancel', {}).catch(() => {}) // the server may have forgotten it
    return true
  }

  const ask = (call: Call, method: string, params: JsonObject): Promise<JsonObject> =>
    new Promise((resolve, reject) => {
      const id = `ona-task-${++count}`
      waiting.set(id, resolve)
      const { progressToken: _, ...meta } = call.meta
      const message = { jsonrpc: '2.0', id, method, params: { taskId: call.taskId, ...params, _meta: meta } }
      transport.send(message as unknown as JSONRPCMessage).catch((error) => {
        waiting.delete(id)
        reject(error)
      })
    })

  const deliver = (message: JsonObject) =>
    guard.onmessage?.({ jsonrpc: '2.0', ...message } as unknown as JSONRPCMessage)

  const follow = async (id: unknown, call: Call, first: JsonObject): Promise<void> => {
    const { signal } = call.stop
    const answered = new Set<string>()
    let reported = ''
    let steps = 0
    let task = first
    call.taskId = String(first['taskId'])
    while (task['status'] === 'working' || task['status'] === 'input_required') {
      const message = String(task['statusMessage'] ?? '')
      const token = call.meta['progressToken']
      if (message !== '' && message !== reported && token !== undefined)
        deliver({ method: 'notifications/progress', params: { progressToken: token, progress: ++steps, message } })
      reported = message
      const responses = await inputs(task, answered, signal)
      if (Object.keys(responses).length > 0) await ask(call, 'tasks/update', { inputResponses: responses })
      const wish = Number(task['pollIntervalMs'] ?? pollMs.default)
      await sleep(Math.min(Math.max(wish || pollMs.default, pollMs.least), pollMs.most), undefined, { signal })
      const reply = await ask(call, 'tasks/get', {})
      if (!isObject(reply['result'])) return void deliver({ id, error: reply['error'] })
      task = reply['result']
    }
    if (task['status'] === 'completed' && isObject(task['result']))
      deliver({ id, result: { ...task['result'], resultType: 'complete' } })
    else if (isObject(task['error'])) deliver({ id, error: task['error'] })
    else
      deliver({
        id,
        error: { code: -32_603, message: `the task ended as ${task['status']}: ${task['statusMessage'] ?? ''}` },
      })
  }

  /** A request is answered once, however often the server shows it. */
  const inputs = async (task: JsonObject, answered: Set<string>, signal: AbortSignal): Promise<JsonObject> => {
    const requests = isObject(task['inputRequests']) ? Object.entries(task['inputRequests']) : []
    const fresh = requests.filter(([key]) => !answered.has(key))
    const responses: JsonObject = {}
    for (const [key, request] of fresh) {
      answered.add(key)
      const { method, params } = isObject(request) ? request : {}
      responses[key] = await answer(String(method), isObject(params) ? params : {}, signal)
    }
    return responses
  }

  transport.onclose = () => guard.onclose?.()
  transport.onerror = (error) => guard.onerror?.(error)
  transport.onmessage = (message, extra) => {
    const reply = message as unknown as JsonObject
    const id = reply['id']
    const own = typeof id === 'string' ? waiting.get(id) : undefined
    if (own && !('method' in reply)) {
      waiting.delete(id as string)
      return own(reply)
    }
    const call = 'method' in reply ? undefined : calls.get(id)
    const { result } = reply
    if (!call || !isObject(result) || result['resultType'] !== 'task') {
      if (call) calls.delete(id)
      return guard.onmessage?.(message, extra)
    }
    follow(id, call, result)
      .catch((error: Error) => {
        if (!call.stop.signal.aborted)
          deliver({ id, error: { code: -32_603, message: `its task was lost: ${error.message}` } })
      })
      .finally(() => calls.delete(id))
  }
  return guard
}
