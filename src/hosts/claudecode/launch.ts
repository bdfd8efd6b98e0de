import { apiKey, type Launch } from '../launch.ts'

export const claudeLaunch: Launch = {
  program: 'claude',
  package: '@anthropic-ai/claude-code',
  args: (_, prompt) => [
    '-p',
    prompt,
    '--model',
    'claude-sonnet-4-5',
    '--allowedTools',
    'Bash,Read,Write,Edit,Glob,Grep,WebFetch',
  ],
  env: ({ model }) => ({
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: apiKey,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
  }),
}
