/**
 * Claude Code. Hooks reference: code.claude.com/docs/en/hooks; the handler's fields are those of its published types
 * (`@anthropic-ai/claude-agent-sdk`), which know no key for an owner: `statusMessage` says whose a hook is, and the person
 * sees it while the hook runs.
 */

import { groupLayout } from '../config/group-layout.ts'
import { jsonConfig } from '../config/json-config.ts'
import { copilotTools } from '../copilot/tools.ts'
import type { Host } from '../host.ts'
import { strictRemarks } from '../shared.ts'
import { fromRoot, throughShim, withoutRoot, withoutShim } from '../shim/command-text.ts'
import { shimText } from '../shim/shim.ts'
import { vscodeTools } from '../vscode/tools.ts'
import { claudeEvents, claudeRoot } from './events.ts'
import { claudeLaunch } from './launch.ts'

const shim = '.claude/hooks/rhachet-hook.cjs'
const shimFromRoot = `"\${CLAUDE_PROJECT_DIR:-.}/${shim}"`

const brain = ({ guarded }: { guarded: boolean }): Host => ({
  slug: 'claudecode',
  aliases: ['anthropic/claude/code', 'claude-code', 'claude'],
  title: 'Claude Code',
  signs: { repo: ['.claude', 'CLAUDE.md'], home: ['.claude/settings.json', '.claude.json'] },
  config: '.claude/settings.json',
  launch: claudeLaunch,
  helper: { path: shim, text: guarded ? shimText([copilotTools, vscodeTools], { notIn: 'cursor_version' }) : null },
  ...jsonConfig(
    groupLayout({
      events: claudeEvents,
      unitMs: 1000,
      defaultMs: 600_000,
      markKey: 'statusMessage',
      written: (hook) => (guarded ? throughShim(shimFromRoot, hook) : fromRoot(claudeRoot, hook.command)),
      declared: (command) => withoutRoot(claudeRoot, withoutShim(shimFromRoot, command)),
    }),
  ),
  limits: () => [],
  remarks: strictRemarks('Claude Code'),
})

/** For when other agents read the file as well: every hook goes through the shim. */
const forAll = brain({ guarded: true })

export const claudecode: Host = {
  ...brain({ guarded: false }),
  shared: {
    serves: {
      vscode: `VS Code reads .claude/settings.json as well; it ignores matchers, so ${shim} holds the hooks to their filters`,
      copilot: `Copilot CLI reads .claude/settings.json as well, and ${shim} answers it in its own words (its cloud agent reads .github/hooks only and has none)`,
    },
    quietIn: ['cursor'],
    forAll,
  },
}
