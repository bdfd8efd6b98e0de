/** MCP servers that live in the host's process: their messages travel over the pipe. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import type { ServerConfig } from '../../mcp/config.ts'
import type { Pipe } from './pipe.ts'

export interface HostServers {
  config(name: string): ServerConfig
  /** A message that a server of the host sends by itself; false when no such server is connected. */
  deliver(name: string, message: unknown): boolean
}

export function hostServers(pipe: Pick<Pipe, 'request'>): HostServers {
  const open = new Map<string, Transport>()
  const connect = (name: string): Transport => {
    const transport: Transport = {
      start: async () => void open.set(name, transport),
      close: async () => {
        if (open.get(name) === transport) open.delete(name)
        transport.onclose?.()
      },
      async send(message) {
        const sent = message as unknown as JsonObject
        const answer = await pipe.request({ subtype: 'mcp_message', server_name: name, message: sent })
        if (sent['method'] === undefined || sent['id'] === undefined) return
        if (!answer || 'problem' in answer) {
          const why = answer?.problem ?? 'the program that drives ona no longer answers'
          transport.onmessage?.({ jsonrpc: '2.0', id: sent['id'] as string, error: { code: -32000, message: why } })
        } else if (isObject(answer.value))
          transport.onmessage?.(answer.value['mcp_response'] as unknown as JSONRPCMessage)
      },
    }
    return transport
  }
  return {
    config: (name) => ({
      name,
      scope: 'flag',
      transport: { type: 'sdk', connect: () => connect(name) },
      alwaysLoad: true,
    }),
    deliver(name, message) {
      const transport = open.get(name)
      transport?.onmessage?.(message as JSONRPCMessage)
      return transport !== undefined
    },
  }
}
