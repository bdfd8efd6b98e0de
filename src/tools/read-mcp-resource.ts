/** ReadMcpResource: one resource of an MCP server. */
import { record, string } from '../hooks/shape.ts'
import { failed } from './output.ts'
import { defineTool } from './tool.ts'

export const readMcpResource = defineTool({
  name: 'ReadMcpResource',
  prompt: 'Reads one resource of an MCP server, by the server and URI that ListMcpResources shows.',
  input: record({ server: string('The server'), uri: string('The resource') }),
  safety: 'read_only',
  summary: ({ server, uri }) => `${server} ${uri}`,
  async run({ server, uri }, { host, signal }) {
    if (!host.mcp) return failed(`there is no MCP server ${JSON.stringify(server)}: none is configured`)
    return host.mcp.readResource(server, uri, signal)
  },
})
