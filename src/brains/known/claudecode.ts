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

/** `guarded`: an agent that ignores matchers, or that has the hooks in its own file as well, reads this file too. */
export function claudeCode({ guarded }: { guarded: boolean }): Brain {
  const layout = groupLayout({
    events: claudeEvents,
    unitMs: 1000,
    defaultMs: 600_000,
    markKey: 'statusMessage',
    written: (hook) => (guarded ? throughShim(shimFromRoot, hook) : fromRoot(claudeRoot, hook.command)),
    declared: (command) => withoutRoot(claudeRoot, withoutShim(shimFromRoot, command)),
  })
  return {
    slug: 'claudecode',
    aliases: ['anthropic/claude/code', 'claude-code', 'claude'],
    title: 'Claude Code',
    signs: {
      repo: ['.claude', 'CLAUDE.md'],
      home: ['.claude/settings.json', '.claude.json'],
    },
    config: '.claude/settings.json',
    helper: { path: shim, text: guarded ? shimText([copilotTools, vscodeTools], { notInCursor: true }) : null },
    limits: () => [],
    ...jsonConfig(layout),
    remarks: strictRemarks('Claude Code'),
    alsoReadBy: {
      vscode: `VS Code reads .claude/settings.json as well; it ignores matchers, so ${shim} holds the hooks to their filters`,
      copilot: `Copilot CLI reads .claude/settings.json as well; ${shim} answers it in its own words`,
    },
  }
}

export const claudecode: Brain = claudeCode({ guarded: false })
