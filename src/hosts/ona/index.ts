/** ona itself: Claude Code's shape in its own settings file, and the tools by the same names. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { claudeEvents, claudeRoot } from '../claudecode/events.ts'
import { claudeOwnTools, claudeTools } from '../claudecode/tools.ts'
import { groupLayout } from '../config/group-layout.ts'
import { jsonConfig } from '../config/json-config.ts'
import type { Host } from '../host.ts'
import { fromRoot, withoutRoot, withoutShim } from '../shim/command-text.ts'
import type { ToolDialect } from '../tool-names.ts'
import { filterLimits } from '../tools.ts'
import { onaLaunch } from './launch.ts'
import { onaManaged } from './managed.ts'

const dialect: ToolDialect = {
  title: 'ona',
  tools: { ...claudeTools, ...claudeOwnTools },
  mcp: (server, tool) => `mcp__${server}__${tool}`,
}
const shim = '.ona/hooks/rhachet-hook.cjs'
const shimFromRoot = `"\${CLAUDE_PROJECT_DIR:-.}/${shim}"`

const layout = groupLayout({
  events: claudeEvents,
  unitMs: 1000,
  defaultMs: 600_000,
  markKey: 'statusMessage',
  refusesNatively: { onFailure: 'refuse' },
  written: (hook) => fromRoot(claudeRoot, hook.command),
  declared: (command) => withoutShim(shimFromRoot, withoutRoot(claudeRoot, command)),
})

export const ona: Host = {
  slug: 'ona',
  aliases: ['ona/cli'],
  title: dialect.title,
  signs: { repo: ['.ona', 'ONA.md'], home: ['.ona/settings.json', '.ona/agent.db'] },
  config: '.ona/settings.json',
  launch: onaLaunch,
  managed: onaManaged,
  shim: {},
  dialect,
  // earlier versions wrote it
  helpers: [{ path: shim, text: null }],
  ...jsonConfig(layout),
  limits: (hook) => filterLimits(hook, dialect),
  onStart: (root) =>
    existsSync(join(root, '.claude/settings.json'))
      ? ['ona reads .claude/settings.json only where there is no .ona/settings.json, which there is from now on']
      : [],
}
