/** Our own tools as an MCP server, over stdio or Streamable HTTP. Loaded by `ona mcp serve` alone. */
import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { JsonObject } from '../hooks/shape.ts'
import type { ToolDefinitionLike, ToolOutput } from '../tools/output.ts'

export interface Served {
  readonly version: string
  tools(): readonly (ToolDefinitionLike & { readonly readOnly: boolean })[]
  /** Runs one call; whatever goes wrong is an error result. */
  call(name: string, input: JsonObject, signal: AbortSignal): Promise<ToolOutput>
}

export function mcpServer(served: Served): Server {
  const server = new Server({ name: 'ona', version: served.version }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({
    tools: served.tools().map(({ name, description, inputSchema, readOnly }) => ({
      name,
      description,
      inputSchema: { ...inputSchema, type: 'object' as const },
      annotations: { readOnlyHint: readOnly },
    })),
  }))
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const output = await served.call(params.name, (params.arguments ?? {}) as JsonObject, context.mcpReq.signal)
    const images = (output.images ?? []).map(({ mediaType, data }) => ({
      type: 'image' as const,
      data,
      mimeType: mediaType,
    }))
    return { content: [{ type: 'text' as const, text: output.content }, ...images], isError: output.isError }
  })
  return server
}

/** Serves on stdin and stdout until the client closes our input or the signal arrives. */
export async function serve(served: Served, signal: AbortSignal): Promise<void> {
  const handle = serveStdio(() => mcpServer(served))
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
    process.stdin.once('end', resolve)
    process.stdin.once('close', resolve)
  })
  await handle.close()
}
