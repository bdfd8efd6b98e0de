/**
 * GitHub Copilot CLI and cloud agent (docs.github.com, "Hooks reference"). Before a tool it takes any failure of a hook
 * for a refusal, unlike all others; our shim makes a hook that merely fails mean there what it means elsewhere.
 */

import { githubHost } from '../config/github-hooks.ts'
import type { Host } from '../host.ts'
import { bootLimits, talkLimits } from '../shared.ts'
import { copilotHistory } from './history.ts'
import { copilotLaunch } from './launch.ts'
import { copilotManaged } from './managed.ts'

export const copilot: Host = githubHost(
  {
    slug: 'copilot',
    aliases: ['github/copilot/cli', 'copilot-cli', 'github-copilot'],
    title: 'Copilot CLI',
    signs: {
      repo: ['.github/hooks/*.json', '.github/copilot'],
      home: ['.copilot/config.json', '.copilot/settings.json'],
    },
    mcp: (server, tool) => `${server}-${tool}`,
    launch: copilotLaunch,
    history: copilotHistory,
    managed: copilotManaged,
  },
  (hook) => [
    ...bootLimits(hook, 'Copilot CLI', { compact: false }),
    ...talkLimits(hook, 'Copilot CLI does not read what a hook answers to a prompt'),
  ],
)
