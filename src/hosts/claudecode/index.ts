/**
 * Claude Code. Hooks reference: code.claude.com/docs/en/hooks; the handler's fields are those of its published types
 * (`@anthropic-ai/claude-agent-sdk`), which know no key for an owner: `statusMessage` says whose a hook is, and the user
 * sees it while the hook runs.
 */

import { groupLayout } from '../config/group-layout.ts'
import { jsonConfig } from '../config/json-config.ts'
import { copilotTools } from '../copilot/tools.ts'
import { refusesOnFailure } from '../hook.ts'
import type { Host } from '../host.ts'
import { fromRoot, throughGuard, throughShim, withoutGuard, withoutRoot, withoutShim } from '../shim/command-text.ts'
import { guardScript } from '../shim/guard-script.ts'
import { shimText } from '../shim/shim.ts'
import type { ToolDialect } from '../tool-names.ts'
import { filterLimits } from '../tools.ts'
import { vscodeTools } from '../vscode/tools.ts'
import { claudeEvents, claudeRoot } from './events.ts'
import { claudecodeHistory } from './history.ts'
import { claudeLaunch } from './launch.ts'
import { claudeManaged } from './managed.ts'
import { claudeOwnTools, claudeTools } from './tools.ts'

const shim = '.claude/hooks/rhachet-hook.cjs'
const guard = '.claude/hooks/rhachet-guard.sh'
const fromProject = (path: string) => `"\${CLAUDE_PROJECT_DIR:-.}/${path}"`

const dialect: ToolDialect = {
  title: 'Claude Code',
  tools: { ...claudeTools, ...claudeOwnTools },
  mcp: (server, tool) => `mcp__${server}__${tool}`,
}

const host = ({ guarded }: { guarded: boolean }): Host => ({
  slug: 'claudecode',
  aliases: ['anthropic/claude/code', 'claude-code', 'claude'],
  title: dialect.title,
  signs: { repo: ['.claude', 'CLAUDE.md'], home: ['.claude/settings.json', '.claude.json'] },
  config: '.claude/settings.json',
  launch: claudeLaunch,
  history: claudecodeHistory,
  managed: claudeManaged,
  shim: {},
  dialect,
  helpers: [
    {
      path: shim,
      text: shimText(guarded ? { tools: [copilotTools, vscodeTools], notIn: 'cursor_version' } : {}),
      serves: (hook) => guarded || refusesOnFailure(hook),
    },
    { path: guard, text: guarded ? null : guardScript, serves: refusesOnFailure },
  ],
  ...jsonConfig(
    groupLayout({
      events: claudeEvents,
      unitMs: 1000,
      defaultMs: 600_000,
      markKey: 'statusMessage',
      strict: dialect.title,
      adopts: true,
      // since 2.1.295; covers what the shim cannot, such as a Node that is not there
      refusing: { onFailure: 'block' },
      written(hook) {
        if (guarded) return throughShim(fromProject(shim), hook)
        return refusesOnFailure(hook) ? throughGuard(fromProject(guard), hook) : fromRoot(claudeRoot, hook.command)
      },
      declared(command) {
        const declared = withoutGuard(fromProject(guard), command)
        return declared.onFailure ? declared : withoutShim(fromProject(shim), withoutRoot(claudeRoot, command))
      },
    }),
  ),
  limits: (hook) => filterLimits(hook, dialect),
})

/** For when other agents read the file as well: every hook goes through the shim. */
const forAll = host({ guarded: true })

export const claudecode: Host = {
  ...host({ guarded: false }),
  shared: {
    serves: {
      vscode: `VS Code reads .claude/settings.json as well; it ignores matchers, so ${shim} holds the hooks to their filters`,
      copilot: `Copilot CLI reads .claude/settings.json as well, and ${shim} answers it in its own words (its cloud agent reads .github/hooks only and has none)`,
    },
    quietIn: ['cursor'],
    marksHelper: 'another agent that reads this file too',
    forAll,
  },
}
