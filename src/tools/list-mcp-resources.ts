/** ListMcpResources: what the MCP servers have to read. */
import { optional, record, string } from '../hooks/shape.ts'
import { failed, said } from './output.ts'
import { defineTool } from './tool.ts'

export const listMcpResources = defineTool({
  name: 'ListMcpResources',
  prompt: 'Lists the resources of the connected MCP servers, or of one. Read one with ReadMcpResource.',
  input: record({ server: optional(string('Only this server')) }),
  safety: 'read_only',
  summary: ({ server }) => server ?? 'all servers',
  async run({ server }, { host }) {
    if (host.mcp) return host.mcp.listResources(server)
    if (server !== undefined) return failed(`there is no MCP server ${JSON.stringify(server)}: none is configured`)
    return said('No MCP server is configured, so there are no resources.', { kind: 'text', summary: 'No resources' })
  },
})
