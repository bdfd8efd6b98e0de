/**
 * VS Code Copilot, agent mode (code.visualstudio.com, "Agent hooks", Preview). It reads a matcher and then ignores it; the
 * names of its tools differ from page to page. Both are why its hooks run through our shim.
 */

import { githubHost } from '../config/github-hooks.ts'
import type { Host } from '../host.ts'
import { bootLimits, talkLimits } from '../shared.ts'
import { vscodeHistory } from './history.ts'
import { vscodeManaged } from './managed.ts'

export const vscode: Host = githubHost(
  {
    slug: 'vscode',
    aliases: ['github/copilot/vscode', 'vscode-copilot', 'copilot-vscode'],
    title: 'VS Code Copilot',
    history: vscodeHistory,
    managed: vscodeManaged,
    signs: {
      repo: [
        '.github/hooks/*.json',
        '.github/copilot-instructions.md',
        '.github/agents',
        '.github/instructions',
        '.github/prompts',
      ],
      home: ['.copilot/hooks'],
      mention: { path: '.vscode/settings.json', of: /"(chat\.|github\.copilot)/ },
    },
  },
  (hook) => [
    ...bootLimits(hook, 'VS Code', { compact: false, resume: false }),
    ...talkLimits(hook, 'VS Code does not read what a hook answers to a prompt'),
  ],
)
