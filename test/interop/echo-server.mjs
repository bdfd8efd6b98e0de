// A small MCP server over stdio: `say` repeats a text, `ask` wants to know a name.
import { createInterface } from 'node:readline'

const tools = [
  {
    name: 'say',
    description: 'Repeats a text',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  },
  { name: 'ask', description: 'Asks who you are', inputSchema: { type: 'object' } },
]
const write = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
const text = (words) => ({ content: [{ type: 'text', text: words }] })
let asking

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line)
  if (method === 'initialize') {
    const { protocolVersion } = params
    write({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' } } })
  } else if (method === 'tools/list') write({ id, result: { tools } })
  else if (method === 'tools/call' && params.name === 'say')
    write({ id, result: text(`said ${params.arguments.text}`) })
  else if (method === 'tools/call') {
    asking = id
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
    write({ id: 'q', method: 'elicitation/create', params: { message: 'Who are you?', requestedSchema } })
  } else if (id === 'q') write({ id: asking, result: text(`hello ${result?.content?.name ?? 'nobody'}`) })
  else if (id !== undefined && method) write({ id, result: {} })
}
