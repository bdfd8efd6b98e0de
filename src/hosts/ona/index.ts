/** ona itself: Claude Code's shape in its own settings file, and the tools by the same names. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { claudeEvents, claudeRoot } from '../claudecode/events.ts'
import { groupLayout } from '../config/group-layout.ts'
import { jsonConfig } from '../config/json-config.ts'
import type { Host } from '../host.ts'
import { fromRoot, withoutRoot } from '../shim/command-text.ts'
import { onaLaunch } from './launch.ts'

const layout = groupLayout({
  events: claudeEvents,
  unitMs: 1000,
  defaultMs: 600_000,
  markKey: 'statusMessage',
  written: (hook) => fromRoot(claudeRoot, hook.command),
  declared: (command) => withoutRoot(claudeRoot, command),
})

export const ona: Host = {
  slug: 'ona',
  aliases: ['ona/cli'],
  title: 'ona',
  signs: { repo: ['.ona', 'ONA.md'], home: ['.ona/settings.json', '.ona/agent.db'] },
  config: '.ona/settings.json',
  launch: onaLaunch,
  ...jsonConfig(layout),
  limits: () => [],
  onStart: (root) =>
    existsSync(join(root, '.claude/settings.json'))
      ? ['ona reads .claude/settings.json only where there is no .ona/settings.json, which there is from now on']
      : [],
}
