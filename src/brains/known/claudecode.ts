/**
 * Claude Code. Hooks reference: code.claude.com/docs/en/hooks; the handler's fields are those of its published types
 * (`@anthropic-ai/claude-agent-sdk`), which know no key for an owner: `statusMessage` says whose a hook is, and the person
 * sees it while the hook runs.
 */
import type { Brain } from '../brain.ts'
import { groupLayout } from '../group-layout.ts'
import type { Moment } from '../hook.ts'
import { jsonConfig } from '../json-config.ts'
import { fromRoot, throughShim, withoutRoot, withoutShim } from '../shell.ts'
import { shimText } from '../shim.ts'
import { copilotTools, strictRemarks, vscodeTools } from './shared.ts'

/** As Claude Code calls them; the names that a filter is written in. */
export const claudeTools = {
  Bash: ['Bash', 'PowerShell'],
  Write: ['Write'],
  Edit: ['Edit', 'NotebookEdit'],
  Read: ['Read'],
  Glob: ['Glob'],
  Grep: ['Grep'],
  WebFetch: ['WebFetch'],
  WebSearch: ['WebSearch'],
  Agent: ['Agent', 'Task'],
}

export const claudeEvents: Record<Moment, string> = {
  boot: 'SessionStart', // startup, resume, clear and compact: every fresh context
  before: 'PreToolUse',
  after: 'PostToolUse',
  stop: 'Stop',
}

/** The variable is missing where other agents read this file; those stand at the root already. */
export const claudeRoot = '"${CLAUDE_PROJECT_DIR:-.}"'

const shim = '.claude/hooks/rhachet-hook.cjs'
const shimFromRoot = `"\${CLAUDE_PROJECT_DIR:-.}/${shim}"`

const brain = ({ guarded }: { guarded: boolean }): Brain => ({
  slug: 'claudecode',
  aliases: ['anthropic/claude/code', 'claude-code', 'claude'],
  title: 'Claude Code',
  signs: { repo: ['.claude', 'CLAUDE.md'], home: ['.claude/settings.json', '.claude.json'] },
  config: '.claude/settings.json',
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

export const claudecode: Brain = {
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
