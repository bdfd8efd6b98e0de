/** How each real agent is run headless against the model of model.ts, with its other traffic switched off. */
import { join } from 'node:path'

export interface Place {
  readonly home: string
  readonly repo: string
  /** The model's address. */
  readonly model: string
  put(path: string, text: string | object): void
}

export interface LiveAgent {
  readonly slug: string
  /** Its name on the PATH, or where it lies; null where there is no program to run without a screen. */
  readonly program: string | null
  /** Other brains that get the hooks too; a hook must still fire once in this one. */
  readonly beside?: readonly string[]
  /** The host under which the dispatcher is registered for it, if it speaks that protocol. */
  readonly dispatcher?: 'vscode' | 'claude'
  /** Checks that it is known not to pass; docs/brains.md says why. */
  readonly cannot?: readonly string[]
  setup?(place: Place): void
  args(place: Place): string[]
  env?(place: Place): Record<string, string>
}

const prompt = 'Run the command.'

const alone: readonly LiveAgent[] = [
  {
    slug: 'claudecode',
    program: 'claude',
    dispatcher: 'claude',
    args: () => ['-p', prompt, '--model', 'claude-sonnet-4-5', '--allowedTools', 'Bash'],
    env: ({ model }) => ({
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: 'live',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
  },
  {
    slug: 'opencode',
    program: 'opencode',
    cannot: ['exit 2 at the end goes on'],
    setup({ home, model, put }) {
      const options = { baseURL: `${model}/v1`, apiKey: 'live' }
      const models = { live: { name: 'live', tool_call: true, limit: { context: 100_000, output: 8000 } } }
      put(join(home, '.config/opencode/opencode.json'), {
        autoupdate: false,
        share: 'disabled',
        model: 'live/live',
        small_model: 'live/live',
        provider: { live: { npm: '@ai-sdk/openai-compatible', name: 'live', options, models } },
      })
    },
    args: () => ['run', prompt],
    env: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    }),
  },
  {
    slug: 'gemini',
    program: 'gemini',
    setup({ home, put }) {
      put(join(home, '.gemini/settings.json'), {
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        security: { auth: { selectedType: 'gemini-api-key' } },
      })
    },
    args: () => ['--yolo', '--skip-trust', '-m', 'gemini-2.5-pro', '-p', prompt],
    env: ({ model }) => ({
      GEMINI_API_KEY: 'live',
      GOOGLE_GEMINI_BASE_URL: model,
      GEMINI_TELEMETRY_ENABLED: 'false',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }),
  },
  {
    slug: 'codex',
    program: 'codex',
    setup({ home, repo, model, put }) {
      put(
        join(home, '.codex/config.toml'),
        `model = "live"
model_provider = "live"
check_for_update_on_startup = false
[analytics]
enabled = false
[otel]
exporter = "none"
[model_providers.live]
name = "live"
base_url = "${model}/v1"
env_key = "LIVE_KEY"
wire_api = "responses"
[projects."${repo}"]
trust_level = "trusted"
`,
      )
    },
    args: () => ['exec', '--dangerously-bypass-approvals-and-sandbox', '--dangerously-bypass-hook-trust', prompt],
    env: () => ({ LIVE_KEY: 'live' }),
  },
  {
    slug: 'copilot',
    program: 'copilot',
    dispatcher: 'vscode',
    args: () => ['-p', prompt, '--allow-all-tools', '--trust-folder', '--model', 'live'],
    env: ({ model }) => ({
      COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
      COPILOT_PROVIDER_API_KEY: 'live',
      COPILOT_PROVIDER_TYPE: 'openai',
      COPILOT_MODEL: 'live',
      COPILOT_OFFLINE: 'true',
    }),
  },
  {
    slug: 'ona',
    program: join(import.meta.dirname, '../../bin/ona.mjs'),
    args: () => ['-p', prompt, '--trust', '--allowed-tools', 'Bash'],
    env: ({ model }) => ({ ANTHROPIC_BASE_URL: model, ANTHROPIC_API_KEY: 'live' }),
  },
  { slug: 'cursor', program: 'cursor-agent', args: () => ['-p', prompt, '--force'] },
  { slug: 'vscode', program: null, args: () => [] },
]

const find = (slug: string) => alone.find((agent) => agent.slug === slug)!

export const agents: readonly LiveAgent[] = [
  ...alone,
  { ...find('claudecode'), beside: ['vscode', 'cursor'] },
  { ...find('copilot'), beside: ['claudecode'], dispatcher: 'claude' },
  { ...find('copilot'), beside: ['claudecode', 'vscode'] },
]
