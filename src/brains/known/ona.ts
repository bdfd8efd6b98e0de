/** ona itself: Claude Code's shape in its own settings file, and the tools by the same names. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Brain } from '../brain.ts'
import { groupLayout } from '../group-layout.ts'
import { jsonConfig } from '../json-config.ts'
import { fromRoot, withoutRoot } from '../shell.ts'
import { claudeEvents, claudeRoot } from './claudecode.ts'

const layout = groupLayout({
  events: claudeEvents,
  unitMs: 1000,
  defaultMs: 600_000,
  markKey: 'statusMessage',
  written: (hook) => fromRoot(claudeRoot, hook.command),
  declared: (command) => withoutRoot(claudeRoot, command),
})

export const ona: Brain = {
  slug: 'ona',
  aliases: ['ona/cli'],
  title: 'ona',
  signs: { repo: ['.ona', 'ONA.md'], home: ['.ona/settings.json', '.ona/agent.db'] },
  config: '.ona/settings.json',
  ...jsonConfig(layout),
  limits: () => [],
  onStart: (root) =>
    existsSync(join(root, '.claude/settings.json'))
      ? ['ona reads .claude/settings.json only where there is no .ona/settings.json, which there is from now on']
      : [],
}
