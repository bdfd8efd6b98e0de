/** An MCP server on stdio for proofs, as the text of a program: it needs Node and nothing else. */

/** Called with the names of its tools, one folder for marks first: a call of `t` leaves the file `mcp-NAME-t` there. */
export const mcpServerText = `'use strict'
const { writeFileSync } = require('node:fs')
const [folder, server, ...names] = process.argv.slice(2)
const tools = names.map((name) => ({ name, description: 'Leaves a mark.', inputSchema: { type: 'object', properties: {} } }))
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: server, version: '1.0.0' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name }) => {
    writeFileSync(folder + '/mcp-' + server + '-' + name, '')
    return { content: [{ type: 'text', text: 'the mark is left' }] }
  },
}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const answer = answers[method]
  const said = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: 'unknown method ' + method } }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...said }) + '\\n')
})
`

/** Where a call of the tool leaves its mark. */
export const mcpMark = ({ server, tool }: { server: string; tool: string }): string => `mcp-${server}-${tool}`
