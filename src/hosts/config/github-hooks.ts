/** The hooks file that VS Code, Copilot CLI and the Copilot cloud agent all read: `.github/hooks/*.json`, one of them ours. */
import { claudeEvents } from '../claudecode/events.ts'
import { claudeTools } from '../claudecode/tools.ts'
import { copilotTools } from '../copilot/tools.ts'
import { durationMs, durationText } from '../duration.ts'
import { type BrainHook, eventOf, filterAt, refusesOnFailure, whatOf } from '../hook.ts'
import type { Host, Limit } from '../host.ts'
import { strictRemarks } from '../shared.ts'
import { orRefuse, refusalMarginMs, shimFilter } from '../shim/command-text.ts'
import { shimText } from '../shim/shim.ts'
import type { ToolDialect, ToolNames } from '../tool-names.ts'
import { filterLimits, namesIn, translate } from '../tools.ts'
import { vscodeTools } from '../vscode/tools.ts'
import { jsonConfig } from './json-config.ts'
import type { Layout } from './layout.ts'

const shim = '.github/hooks/rhachet-hook.cjs'

const shimDialect = { tools: [copilotTools, vscodeTools] }

const names = [...new Set([claudeTools, copilotTools, vscodeTools].flatMap((table) => Object.keys(table)))]
const tools: ToolNames = Object.fromEntries(
  names.map((name) => [
    name,
    [claudeTools, copilotTools, vscodeTools].flatMap((table: ToolNames) => table[name] ?? []),
  ]),
)

/** Whether any tool of these agents could pass the filter; neither has a fixed name for the tools of an MCP server. */
const canMatch = (hook: BrainHook) => {
  const translated = hook.event === 'onTool' ? translate(whatOf(hook), { tools }) : { kind: 'all' as const }
  return translated.kind !== 'names' || translated.names.length > 0
}

const layout: Layout = {
  groups: false,
  // under Pascal names Copilot too speaks as Claude Code does
  events: claudeEvents,
  unitMs: 1000,
  defaultMs: 30_000,
  skeleton: { version: 1 },
  ownFile: true,
  render(hook) {
    const what = whatOf(hook)
    if (!canMatch(hook)) return null
    // Copilot heeds a matcher on this event and need not start us; VS Code ignores it, and the shim looks again
    const matcher = hook.event === 'onTool' &&
      hook.filter?.when !== 'after' &&
      what !== '*' &&
      namesIn(what) && { matcher: what }
    const ms = durationMs(hook.timeout)
    const refuses = refusesOnFailure(hook)
    const declared = hook.event === 'onTool' || shimFilter(hook) === what ? {} : { ONA_HOOK_DECLARED: what }
    return {
      type: 'command',
      ...matcher,
      command: `node ${shim}${refuses ? orRefuse : ''}`,
      cwd: '.',
      env: {
        ONA_HOOK_AUTHOR: hook.author,
        ONA_HOOK_FILTER: shimFilter(hook),
        ...(what !== '*' && declared),
        ONA_HOOK_COMMAND: hook.command,
        ONA_HOOK_TIMEOUT_MS: String(ms),
        ...(refuses && { ONA_HOOK_ON_FAILURE: 'refuse' }),
      },
      timeout: Math.ceil((ms + (refuses ? refusalMarginMs : 0)) / 1000),
    }
  },
  recognise(entry, _matcher, moment) {
    const env = (entry['env'] ?? {}) as Record<string, unknown>
    const { ONA_HOOK_AUTHOR: author, ONA_HOOK_COMMAND: command, ONA_HOOK_FILTER: filter, ONA_HOOK_DECLARED: what } = env
    if (typeof author !== 'string' || typeof command !== 'string') return null
    const refuses = env['ONA_HOOK_ON_FAILURE'] === 'refuse'
    const seconds = Number(entry['timeout'])
    const ms = seconds > 0 ? seconds * 1000 : 30_000
    return {
      author,
      event: eventOf[moment],
      command,
      timeout: durationText(refuses ? ms - refusalMarginMs : ms),
      ...filterAt(moment, String(what ?? filter ?? '*')),
      ...(refuses && { onFailure: 'refuse' as const }),
    }
  },
}

/** An agent that reads this file; `more`: what it cannot express beside tools that it does not have. */
export function githubHost(
  one: Pick<Host, 'slug' | 'aliases' | 'title' | 'signs' | 'launch' | 'managed' | 'history'> & Pick<ToolDialect, 'mcp'>,
  more: (hook: BrainHook) => Limit[],
): Host {
  const { mcp, ...host } = one
  const dialect = { title: one.title, tools }
  return {
    ...host,
    config: '.github/hooks/rhachet-hooks.json',
    helpers: [{ path: shim, text: shimText(shimDialect) }],
    shim: shimDialect,
    // a filter in the file that both agents read cannot name an MCP tool; a policy for one of them can
    dialect: { ...dialect, ...(mcp && { mcp }) },
    ...jsonConfig(layout),
    remarks: strictRemarks(one.title),
    limits: (hook) => [...more(hook), ...filterLimits(hook, dialect)],
  }
}
