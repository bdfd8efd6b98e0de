import { join } from 'node:path'
import { apiKey, type Launch, modelName } from '../launch.ts'

export const opencodeLaunch: Launch = {
  program: 'opencode',
  package: 'opencode-ai',
  version: '1.18.33',
  setup({ home, model, mcp, put }) {
    const options = { baseURL: `${model}/v1`, apiKey }
    const models = { [modelName]: { name: modelName, tool_call: true, limit: { context: 100_000, output: 8000 } } }
    put(join(home, '.config/opencode/opencode.json'), {
      autoupdate: false,
      share: 'disabled',
      snapshot: false,
      model: `loopback/${modelName}`,
      small_model: `loopback/${modelName}`,
      mcp: Object.fromEntries(
        mcp.map(({ name, command, args }) => [name, { type: 'local', command: [command, ...args], enabled: true }]),
      ),
      provider: { loopback: { npm: '@ai-sdk/openai-compatible', name: 'loopback', options, models } },
    })
  },
  args: (_, prompt) => ['run', prompt],
  env: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  }),
}
