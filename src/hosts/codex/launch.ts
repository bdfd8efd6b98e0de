import { join } from 'node:path'
import { apiKey, type Launch } from '../launch.ts'

export const codexLaunch: Launch = {
  program: 'codex',
  package: '@openai/codex',
  version: '0.166.0',
  setup({ home, repo, model, mcp, put }) {
    put(
      join(home, '.codex/config.toml'),
      `model = "gpt-5.5"
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
${mcp.map(({ name, command, args }) => `[mcp_servers.${JSON.stringify(name)}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`).join('')}`,
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
