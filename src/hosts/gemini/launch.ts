import { join } from 'node:path'
import { apiKey, type Launch, mcpServers } from '../launch.ts'

export const geminiLaunch: Launch = {
  program: 'gemini',
  package: '@google/gemini-cli',
  version: '0.61.0',
  setup(place) {
    place.put(join(place.home, '.gemini/settings.json'), {
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      // it would put its question to the scripted model and wait for an answer that it can read
      model: { disableLoopDetection: true },
      ...mcpServers(place, { trust: true }),
      security: { auth: { selectedType: 'gemini-api-key' } },
    })
  },
  // without --yolo the shell tool is not offered headless; a folder that is not trusted runs no hooks
  args: (_, prompt) => ['--yolo', '--skip-trust', '-m', 'gemini-2.5-pro', '-p', prompt],
  env: ({ model }) => ({
    GEMINI_API_KEY: apiKey,
    GOOGLE_GEMINI_BASE_URL: model,
    GEMINI_TELEMETRY_ENABLED: 'false',
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  }),
}
