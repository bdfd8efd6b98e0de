/** `ona mcp serve`: our tools for other agents, under the same hooks, gate and rules, with the same rows. */
import { openSharedRuntime } from '../../../agent/session/open-runtime.ts'
import { runToolCall } from '../../../agent/tool-call.ts'
import type { PermissionMode } from '../../../hooks/plane.ts'
import { type Served, serve } from '../../../mcp/serve.ts'
import { version } from '../../../package-root.ts'
import { createConversation, createSession } from '../../../store/conversations.ts'
import { builtInTools, definitionOf } from '../../../tools/all.ts'
import { sessionAt } from '../../conversation.ts'
import { nobody, tellNotice } from '../../headless/deny-all.ts'
import { failed, noted } from '../../print.ts'
import { untilEndingSignal } from '../../signals.ts'

/** Tools that need a model or a user of ours are left to the other agent's own. */
export const servedTools = [
  'Read',
  'Write',
  'Edit',
  'NotebookEdit',
  'Bash',
  'Glob',
  'Grep',
  'WebFetch',
  'TodoWrite',
  'TaskOutput',
  'TaskStop',
]

export interface ServeOptions {
  readonly cwd: string
  readonly mode?: PermissionMode
  readonly tools?: readonly string[]
  readonly allow?: readonly string[]
  /** Over HTTP on this port of loopback instead of stdio. */
  readonly port?: number
  /** Required of HTTP clients; undefined for none. */
  readonly token?: string | undefined
}

export async function mcpServe({ cwd, mode, tools: only, allow, port, token }: ServeOptions): Promise<number> {
  const opened = openSharedRuntime({
    cwd,
    env: process.env,
    user: nobody,
    withoutMcp: true,
    ...(allow && { allow }),
    on: tellNotice,
  })
  if ('problem' in opened) return failed(opened.problem)
  const { runtime, tell, cleanUp } = opened
  for (const event of tell) tellNotice(event)
  const { db } = runtime
  const place = db.transaction(() => {
    const { id } = createConversation(db, { projectDir: cwd })
    return { conversationId: id, id: createSession(db, id).sessionId }
  })
  const session = sessionAt(opened, { ...place, cwd, ...(mode && { mode }) })

  const stop = untilEndingSignal()
  const tools = builtInTools.filter(({ name }) => servedTools.includes(name) && (only?.includes(name) ?? true))
  let last: Promise<unknown> = Promise.resolve()
  const served: Served = {
    version: version(),
    tools: () => tools.map((tool) => ({ ...definitionOf(tool), readOnly: tool.safety === 'read_only' })),
    call(name, input, signal) {
      // one after another, as everywhere in a session
      const call = last.then(async () => {
        if (!tools.some((tool) => tool.name === name)) return { content: `there is no tool ${name}`, isError: true }
        const interrupt = () => session.interrupt()
        session.begin()
        signal.addEventListener('abort', interrupt, { once: true })
        const id = `toolu_${crypto.randomUUID().replaceAll('-', '')}`
        session.commit(() => session.append({ _t: 'tool_use', id, name, input }))
        const { output } = await runToolCall(session, { type: 'tool_use', id, name, input })
        signal.removeEventListener('abort', interrupt)
        return output
      })
      last = call.catch(() => {})
      return call
    },
  }
  let code = 0
  try {
    if (port === undefined) await serve(served, stop.signal)
    else {
      const { serveHttp } = await import('../../../mcp/serve-http.ts')
      const onListening = (url: string) => noted(`serving MCP at ${url}${token ? '; clients send the token' : ''}`)
      await serveHttp(served, { port, token, signal: stop.signal, onListening })
    }
  } catch (cause) {
    code = failed(`cannot listen on port ${port}: ${(cause as Error).message}`)
  }
  session.interrupt()
  await last
  await session.tasks.stopAll()
  cleanUp()
  stop.release()
  return code
}
