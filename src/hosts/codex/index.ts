/**
 * Codex CLI (developers.openai.com/codex/hooks). A hook runs there only once the person has trusted it, and trust is kept
 * by position: what stands in the file must never move, so a hook that goes leaves an empty place behind it.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readText } from '../../files/file-edits.ts'
import { claudeEvents } from '../claudecode/events.ts'
import { groupLayout } from '../config/group-layout.ts'
import { jsonConfig } from '../config/json-config.ts'
import { type BrainHook, whatOf } from '../hook.ts'
import type { Host, Limit } from '../host.ts'
import { oneOfTwo, strictRemarks } from '../shared.ts'
import { fromRoot, withoutRoot } from '../shim/command-text.ts'
import { translate } from '../tools.ts'
import { codexLaunch } from './launch.ts'

/** Edits are one tool there, apply_patch, which also answers to these two names; there is no tool that reads. */
const tools = {
  Bash: ['Bash'],
  Write: ['Write'],
  Edit: ['Edit'],
  Agent: ['Agent'],
  apply_patch: ['apply_patch'],
  spawn_agent: ['spawn_agent'],
}
const mcp = (server: string, tool: string) => `mcp__${server}__${tool}`

/** Codex sets no variable for the project's root. */
const root = '"$(git rev-parse --show-toplevel 2>/dev/null || pwd)"'

function matcher(what: string): string | null {
  const translated = translate(what, tools, mcp)
  if (translated.kind === 'all') return ''
  // its regular expressions are Rust's, which look neither ahead nor back
  if (translated.kind === 'regex') return rustCannot.test(translated.source) ? null : translated.source
  const { names } = translated
  if (names.length === 0) return null
  return names.every((name) => /^\w+$/.test(name)) ? names.join('|') : `^(${names.join('|')})$`
}
const rustCannot = /\(\?<?[=!]|\\[1-9]|\\k</

const layout = groupLayout({
  events: claudeEvents,
  unitMs: 1000,
  defaultMs: 600_000,
  keepPositions: true,
  markKey: 'statusMessage',
  matcher,
  written: (hook) => fromRoot(root, hook.command),
  declared: (command) => withoutRoot(root, command),
})

function limits(hook: BrainHook): Limit[] {
  const what = whatOf(hook)
  const translated = translate(what, tools, mcp)
  if (translated.kind === 'regex' && rustCannot.test(what))
    return [
      { hook, dropped: true, why: `Codex's regular expressions have no look-around and no back-references: ${what}` },
    ]
  if (translated.kind !== 'names') return []
  const { names, missing } = translated
  const dropped = names.length === 0
  const absent: Limit[] =
    missing.length === 0 ? [] : [{ hook, dropped, why: `Codex has no tool for ${missing.join(', ')}` }]
  return [...absent, ...oneOfTwo(hook, 'Codex makes and changes files with one tool')]
}

export const codex: Host = {
  slug: 'codex',
  aliases: ['openai/codex', 'codex-cli'],
  title: 'Codex CLI',
  signs: { repo: ['.codex'], home: ['.codex/config.toml'] },
  config: '.codex/hooks.json',
  launch: codexLaunch,
  ...jsonConfig(layout),
  limits,
  remarks: strictRemarks('Codex'),
  onStart: (root) => [
    ...(/^\s*\[+hooks\b/m.test(readText(join(root, '.codex/config.toml')) ?? '')
      ? ['.codex/config.toml has hooks as well; Codex runs both and warns that there are two places']
      : []),
    ...(existsSync(join(root, '.git'))
      ? []
      : ['this is not the top of a git repository: Codex runs the hooks from there, or from where it stands']),
  ],
  afterChange: 'Codex runs new and changed hooks only once you have trusted them: open /hooks in Codex',
}
