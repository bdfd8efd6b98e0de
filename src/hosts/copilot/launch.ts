import { apiKey, type Launch, mcpServers, modelName } from '../launch.ts'

export const copilotLaunch: Launch = {
  program: 'copilot',
  package: '@github/copilot',
  version: '1.0.102',
  args: (place, prompt) => [
    '-p',
    prompt,
    '--allow-all-tools',
    '--allow-all-paths',
    '--trust-folder',
    '--model',
    modelName,
    ...(place.mcp.length > 0
      ? ['--additional-mcp-config', JSON.stringify(mcpServers(place, { type: 'local', tools: ['*'] }))]
      : []),
  ],
  env: ({ model }) => ({
    COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
    COPILOT_PROVIDER_API_KEY: apiKey,
    COPILOT_PROVIDER_TYPE: 'openai',
    COPILOT_MODEL: modelName,
    COPILOT_OFFLINE: 'true',
  }),
}
