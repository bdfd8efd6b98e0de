/** Gemini CLI (google-gemini/gemini-cli, docs/hooks). Its settings may hold comments; its timeouts are milliseconds. */

import { groupLayout } from '../config/group-layout.ts'
import { jsonConfig } from '../config/json-config.ts'
import { type BrainHook, whatOf } from '../hook.ts'
import type { Host, Limit } from '../host.ts'
import { noCompaction } from '../shared.ts'
import { fromRoot, throughShim, withoutRoot, withoutShim } from '../shim/command-text.ts'
import { shimText } from '../shim/shim.ts'
import { neutralNames, translate } from '../tools.ts'
import { geminiLaunch } from './launch.ts'

const tools = {
  Bash: ['run_shell_command'],
  Write: ['write_file'],
  Edit: ['replace'],
  Read: ['read_file', 'read_many_files'],
  Glob: ['glob'],
  Grep: ['grep_search'],
  WebFetch: ['web_fetch'],
  WebSearch: ['google_web_search'],
  Agent: ['invoke_agent'],
}
const mcp = (server: string, tool: string) => `mcp_${server}_${tool}`

/** Gemini puts the value in already quoted (its hooks reference, "Environment variables"). */
const root = '$GEMINI_PROJECT_DIR'
const shim = '.gemini/hooks/rhachet-hook.cjs'

/** Its matchers are searched for anywhere in a tool's name, so ours hold on to both ends. */
function matcher(what: string): string | null {
  const translated = translate(what, tools, mcp)
  if (translated.kind === 'all') return ''
  return translated.kind === 'names' && translated.names.length > 0 ? `^(${translated.names.join('|')})$` : null
}

function neutral(given: string): string | null {
  const names = /^\^?\(?([\w|]+?)\)?\$?$/.exec(given)?.[1]?.split('|') ?? []
  const table = neutralNames(tools)
  const said = names.map((name) => table[name]?.[0])
  return said.length > 0 && said.every((name) => name !== undefined) ? [...new Set(said)].join('|') : null
}

const layout = groupLayout({
  events: { boot: 'SessionStart', before: 'BeforeTool', after: 'AfterTool', stop: 'AfterAgent' },
  unitMs: 1,
  defaultMs: 60_000,
  markKey: 'description',
  matcher,
  neutral,
  // it shows the person what a hook prints, unless that is JSON; at boot it is meant for the model
  written: (hook) => (hook.event === 'onBoot' ? throughShim(`${root}/${shim}`, hook) : fromRoot(root, hook.command)),
  declared: (command) => withoutRoot(root, withoutShim(`${root}/${shim}`, command)),
})

function limits(hook: BrainHook): Limit[] {
  if (hook.event === 'onBoot') return [{ hook, dropped: false, why: noCompaction('Gemini CLI') }]
  const translated = translate(whatOf(hook), tools, mcp)
  if (translated.kind === 'regex')
    return [
      {
        hook,
        dropped: true,
        why: `Gemini CLI has other names for its tools, so "${translated.source}" would match others`,
      },
    ]
  if (translated.kind === 'all' || translated.missing.length === 0) return []
  const dropped = translated.names.length === 0
  return [{ hook, dropped, why: `Gemini CLI has no tool for ${translated.missing.join(', ')}` }]
}

export const gemini: Host = {
  slug: 'gemini',
  aliases: ['google/gemini/cli', 'gemini-cli'],
  title: 'Gemini CLI',
  signs: { repo: ['.gemini', 'GEMINI.md'], home: ['.gemini/settings.json'] },
  config: '.gemini/settings.json',
  launch: geminiLaunch,
  helper: { path: shim, text: shimText([tools]), serves: ({ event }) => event === 'onBoot' },
  ...jsonConfig(layout),
  limits,
}
