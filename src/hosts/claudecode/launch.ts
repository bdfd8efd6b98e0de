import { apiKey, type Launch, mcpServers } from '../launch.ts'

export const claudeLaunch: Launch = {
  program: 'claude',
  package: '@anthropic-ai/claude-code',
  version: '2.1.325',
  args: (place, prompt) => [
    '-p',
    prompt,
    '--model',
    'claude-sonnet-4-5',
    '--allowedTools',
    ['Bash', 'Read', 'Write', 'Edit', 'Glob', 'Grep', 'WebFetch', ...place.mcp.map(({ name }) => `mcp__${name}`)].join(
      ',',
    ),
    ...(place.mcp.length > 0 ? ['--mcp-config', JSON.stringify(mcpServers(place))] : []),
  ],
  env: ({ model }) => ({
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: apiKey,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    // every tool is offered at once, MCP servers' too
    ENABLE_TOOL_SEARCH: 'false',
    DISABLE_AUTOUPDATER: '1',
  }),
}
