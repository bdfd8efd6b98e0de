/**
 * Gemini CLI (google-gemini/gemini-cli, docs/hooks). Its settings may hold comments; its timeouts are milliseconds. It passes
 * over a refusal in Claude Code's JSON and takes an exit of 3 or more for one, so every hook goes through the shim.
 */
import { groupLayout } from '../config/group-layout.ts'
import { jsonConfig } from '../config/json-config.ts'
import type { BrainHook } from '../hook.ts'
import type { Host, Limit } from '../host.ts'
import { bootLimits } from '../shared.ts'
import { throughShim, withoutRoot, withoutShim } from '../shim/command-text.ts'
import { shimText } from '../shim/shim.ts'
import { neutralNames, type ToolDialect } from '../tool-names.ts'
import { filterLimits, translate } from '../tools.ts'
import { geminiEventNames, geminiEvents } from './events.ts'
import { geminiHistory } from './history.ts'
import { geminiLaunch } from './launch.ts'
import { geminiManaged } from './managed.ts'
import { geminiTools } from './tools.ts'

const dialect: ToolDialect = {
  title: 'Gemini CLI',
  tools: geminiTools,
  mcp: (server, tool) => `mcp_${server}_${tool}`,
  regexFault: (source) => `Gemini CLI has other names for its tools, so "${source}" would match others`,
}

/** Gemini puts the value in already quoted (its hooks reference, "Environment variables"). */
const root = '$GEMINI_PROJECT_DIR'
const shim = '.gemini/hooks/rhachet-hook.cjs'

/** Its matchers are searched for anywhere in a tool's name, so ours are anchored. */
function matcher(what: string): string | null {
  const translated = translate(what, dialect)
  if (translated.kind === 'all') return ''
  return translated.kind === 'names' && translated.names.length > 0 ? `^(${translated.names.join('|')})$` : null
}

function neutral(given: string): string | null {
  const names = /^\^?\(?([\w|]+?)\)?\$?$/.exec(given)?.[1]?.split('|') ?? []
  const table = neutralNames(geminiTools)
  const said = names.map((name) => table[name]?.[0])
  return said.length > 0 && said.every((name) => name !== undefined) ? [...new Set(said)].join('|') : null
}

const layout = groupLayout({
  events: geminiEvents,
  unitMs: 1,
  defaultMs: 60_000,
  markKey: 'description',
  matcher,
  neutral,
  // it compares a source as a whole, without alternatives; several are left to the shim
  bootMatcher: (sources) => (sources.length === 1 ? sources[0]! : ''),
  written: (hook) => throughShim(`${root}/${shim}`, hook),
  declared: (command) => withoutShim(`${root}/${shim}`, withoutRoot(root, command)),
})

const shimDialect = { tools: [geminiTools], events: geminiEventNames }

const limits = (hook: BrainHook): Limit[] => [
  ...bootLimits(hook, dialect.title, { compact: false }),
  ...filterLimits(hook, dialect),
]

export const gemini: Host = {
  slug: 'gemini',
  aliases: ['google/gemini/cli', 'gemini-cli'],
  title: dialect.title,
  signs: { repo: ['.gemini', 'GEMINI.md'], home: ['.gemini/settings.json'] },
  config: '.gemini/settings.json',
  launch: geminiLaunch,
  history: geminiHistory,
  managed: geminiManaged,
  shim: shimDialect,
  dialect,
  helpers: [{ path: shim, text: shimText(shimDialect) }],
  ...jsonConfig(layout),
  limits,
  afterChange:
    'Gemini CLI runs the hooks of a repository only in a folder that you have trusted: start it there once, or use --skip-trust',
}
