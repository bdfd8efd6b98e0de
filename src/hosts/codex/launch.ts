import { join } from 'node:path'
import { apiKey, type Launch, modelName } from '../launch.ts'

export const codexLaunch: Launch = {
  program: 'codex',
  package: '@openai/codex',
  setup({ home, repo, model, put }) {
    put(
      join(home, '.codex/config.toml'),
      `model = "${modelName}"
model_provider = "loopback"
check_for_update_on_startup = false
[analytics]
enabled = false
[otel]
exporter = "none"
[model_providers.loopback]
name = "loopback"
base_url = "${model}/v1"
env_key = "LOOPBACK_API_KEY"
wire_api = "responses"
[projects."${repo}"]
trust_level = "trusted"
`,
    )
  },
  // hooks of the repository run only once a user has trusted them, which nobody can do headless
  args: (_, prompt) => [
    'exec',
    '--dangerously-bypass-approvals-and-sandbox',
    '--dangerously-bypass-hook-trust',
    prompt,
  ],
  env: () => ({ LOOPBACK_API_KEY: apiKey }),
}
