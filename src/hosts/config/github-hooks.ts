/** The hooks file that VS Code, Copilot CLI and the Copilot cloud agent all read: `.github/hooks/*.json`, one of them ours. */

import { claudeEvents } from '../claudecode/events.ts'
import { claudeTools } from '../claudecode/tools.ts'
import { copilotTools } from '../copilot/tools.ts'
import { durationMs, durationText } from '../duration.ts'
import { type BrainHook, eventOf, whatOf } from '../hook.ts'
import type { Host, Limit } from '../host.ts'
import { strictRemarks } from '../shared.ts'
import { shimText } from '../shim/shim.ts'
import { namesIn, translate } from '../tools.ts'
import { vscodeTools } from '../vscode/tools.ts'
import { jsonConfig, type Layout } from './json-config.ts'

const shim = '.github/hooks/rhachet-hook.cjs'

const tools = Object.fromEntries(
  Object.keys(claudeTools).map((name) => [
    name,
    [claudeTools, copilotTools, vscodeTools].flatMap((table: Record<string, string[]>) => table[name] ?? []),
  ]),
)

/** Whether any tool of these agents could pass the filter; neither has a fixed name for the tools of an MCP server. */
const canMatch = (what: string) => {
  const translated = translate(what, tools)
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
    if (!canMatch(what)) return null
    // Copilot heeds a matcher on this event and need not start us; VS Code ignores it, and the shim looks again
    const matcher = hook.event === 'onTool' &&
      hook.filter?.when !== 'after' &&
      what !== '*' &&
      namesIn(what) && { matcher: what }
    const ms = durationMs(hook.timeout)
    return {
      type: 'command',
      ...matcher,
      command: `node ${shim}`,
      cwd: '.',
      env: {
        ONA_HOOK_AUTHOR: hook.author,
        ONA_HOOK_FILTER: what,
        ONA_HOOK_COMMAND: hook.command,
        ONA_HOOK_TIMEOUT_MS: String(ms),
      },
      timeout: Math.ceil(ms / 1000),
    }
  },
  recognise(entry, _matcher, moment) {
    const {
      ONA_HOOK_AUTHOR: author,
      ONA_HOOK_COMMAND: command,
      ONA_HOOK_FILTER: what,
    } = (entry['env'] ?? {}) as Record<string, unknown>
    if (typeof author !== 'string' || typeof command !== 'string') return null
    const event = eventOf[moment]
    const seconds = Number(entry['timeout'])
    const filter = event === 'onTool' && {
      what: typeof what === 'string' ? what : '*',
      when: moment as 'before' | 'after',
    }
    return {
      author,
      event,
      command,
      timeout: durationText(seconds > 0 ? seconds * 1000 : 30_000),
      ...(filter && { filter }),
    }
  },
}

/** A brain that reads this file. `boot`: what it loses of onBoot. */
export function githubHost(one: Pick<Host, 'slug' | 'aliases' | 'title' | 'signs' | 'launch'>, boot: string): Host {
  return {
    ...one,
    config: '.github/hooks/rhachet-hooks.json',
    helper: { path: shim, text: shimText([copilotTools, vscodeTools]) },
    ...jsonConfig(layout),
    remarks: strictRemarks(one.title),
    limits(hook: BrainHook): Limit[] {
      if (hook.event === 'onBoot') return [{ hook, dropped: false, why: boot }]
      const translated = translate(whatOf(hook), tools)
      if (translated.kind !== 'names' || translated.missing.length === 0) return []
      const dropped = translated.names.length === 0
      return [{ hook, dropped, why: `${one.title} has no tool that we know of for ${translated.missing.join(', ')}` }]
    },
  }
}
