import { apiKey, type Launch, mcpServers } from '../launch.ts'

export const onaLaunch: Launch = {
  program: 'ona',
  args: (place, prompt) => [
    '-p',
    prompt,
    '--trust',
    '--allowed-tools',
    ['Bash', 'Read', 'Write', 'Edit', 'Glob', 'Grep', 'WebFetch', ...place.mcp.map(({ name }) => `mcp__${name}`)].join(
      ',',
    ),
    ...(place.mcp.length > 0 ? ['--mcp-config', JSON.stringify(mcpServers(place))] : []),
  ],
  env: ({ model }) => ({ ANTHROPIC_BASE_URL: model, ANTHROPIC_API_KEY: apiKey }),
}
