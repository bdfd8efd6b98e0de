import { apiKey, type Launch, modelName } from '../launch.ts'

export const copilotLaunch: Launch = {
  program: 'copilot',
  package: '@github/copilot',
  args: (_, prompt) => ['-p', prompt, '--allow-all-tools', '--trust-folder', '--model', modelName],
  env: ({ model }) => ({
    COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
    COPILOT_PROVIDER_API_KEY: apiKey,
    COPILOT_PROVIDER_TYPE: 'openai',
    COPILOT_MODEL: modelName,
    COPILOT_OFFLINE: 'true',
  }),
}
