/**
 * Codex CLI (developers.openai.com/codex/hooks). A hook runs there only once the user has trusted it, and trust is kept
 * by position: what stands in the file must never move, so a hook that is removed leaves an empty place behind it.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readText } from '../../files/file-edits.ts'
import { claudeEvents } from '../claudecode/events.ts'
import { groupLayout } from '../config/group-layout.ts'
import { jsonConfig } from '../config/json-config.ts'
import { type BrainHook, refusesOnFailure } from '../hook.ts'
import type { Host, Limit } from '../host.ts'
import { oneOfTwo } from '../shared.ts'
import { fromRoot, throughGuard, withoutGuard, withoutRoot, withoutShim } from '../shim/command-text.ts'
import { guardScript } from '../shim/guard-script.ts'
import { shimText } from '../shim/shim.ts'
import type { ToolDialect } from '../tool-names.ts'
import { filterLimits, translate } from '../tools.ts'
import { codexHistory } from './history.ts'
import { codexLaunch } from './launch.ts'
import { codexManaged } from './managed.ts'

const dialect: ToolDialect = {
  title: 'Codex',
  // edits are one tool there, apply_patch, which also answers to these two names; there is no tool that reads
  tools: {
    Bash: ['Bash'],
    Write: ['Write'],
    Edit: ['Edit'],
    Agent: ['Agent'],
    apply_patch: ['apply_patch'],
    spawn_agent: ['spawn_agent'],
  },
  mcp: (server, tool) => `mcp__${server}__${tool}`,
  // its regular expressions are Rust's
  regexFault: (source) =>
    rustCannot.test(source)
      ? `Codex's regular expressions have no look-around and no back-references: ${source}`
      : null,
}
const rustCannot = /\(\?<?[=!]|\\[1-9]|\\k</

/** Codex sets no variable for the project's root. */
const root = '"$(git rev-parse --show-toplevel 2>/dev/null || pwd)"'
const shimDialect = { strictOutput: true, cannotAsk: true }
const shim = '.codex/hooks/rhachet-hook.cjs'
const guard = '.codex/hooks/rhachet-guard.sh'
const fromTop = (path: string) => `"$(git rev-parse --show-toplevel 2>/dev/null || pwd)/${path}"`

function matcher(what: string): string | null {
  const translated = translate(what, dialect)
  if (translated.kind === 'all') return ''
  if (translated.kind === 'regex') return rustCannot.test(translated.source) ? null : translated.source
  const { names } = translated
  if (names.length === 0) return null
  return names.every((name) => /^\w+$/.test(name)) ? names.join('|') : `^(${names.join('|')})$`
}

const layout = groupLayout({
  events: claudeEvents,
  unitMs: 1000,
  defaultMs: 600_000,
  keepPositions: true,
  markKey: 'statusMessage',
  strict: dialect.title,
  matcher,
  written: (hook) => (refusesOnFailure(hook) ? throughGuard(fromTop(guard), hook) : fromRoot(root, hook.command)),
  declared(command) {
    const declared = withoutGuard(fromTop(guard), command)
    return declared.onFailure ? declared : withoutShim(fromTop(shim), withoutRoot(root, command))
  },
})

function limits(hook: BrainHook): Limit[] {
  const why = 'Codex sends no event for write_stdin, so what is typed into a running program is not seen'
  const stdin = refusesOnFailure(hook) && /\bBash\b|^\*$/.test(hook.filter?.what ?? '*')
  return [
    ...filterLimits(hook, dialect),
    ...oneOfTwo(hook, 'Codex makes and changes files with one tool'),
    ...(stdin ? [{ hook, dropped: false, why }] : []),
  ]
}

export const codex: Host = {
  slug: 'codex',
  aliases: ['openai/codex', 'codex-cli'],
  title: 'Codex CLI',
  signs: { repo: ['.codex'], home: ['.codex/config.toml'] },
  config: '.codex/hooks.json',
  launch: codexLaunch,
  history: codexHistory,
  managed: codexManaged,
  shim: shimDialect,
  dialect,
  helpers: [
    { path: shim, text: shimText(shimDialect), serves: refusesOnFailure },
    { path: guard, text: guardScript, serves: refusesOnFailure },
  ],
  ...jsonConfig(layout),
  limits,
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
