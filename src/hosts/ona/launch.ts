import { apiKey, type Launch } from '../launch.ts'

export const onaLaunch: Launch = {
  program: 'ona',
  args: (_, prompt) => ['-p', prompt, '--trust', '--allowed-tools', 'Bash,Read,Write,Edit,Glob,Grep,WebFetch'],
  env: ({ model }) => ({ ANTHROPIC_BASE_URL: model, ANTHROPIC_API_KEY: apiKey }),
}
