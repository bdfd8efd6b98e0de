/**
 * opencode (opencode.ai/docs/plugins; types of `@opencode-ai/plugin`). It has no hook commands: we write one plugin that
 * runs them. Its loader drops a file with any export that is not a function, so the plugin exports nothing else.
 */

import { Problem } from '../../files/problem.ts'
import { durationMs, durationText } from '../duration.ts'
import {
  type BrainHook,
  eventOf,
  filterAt,
  type Moment,
  momentOf,
  refusesOnFailure,
  uniqueOf,
  whatOf,
} from '../hook.ts'
import type { Host, Limit } from '../host.ts'
import { shimFilter } from '../shim/command-text.ts'
import type { ToolDialect } from '../tool-names.ts'
import { filterLimits } from '../tools.ts'
import { opencodeHistory } from './history.ts'
import { opencodeLaunch } from './launch.ts'
import { opencodeManaged } from './managed.ts'
import { pluginText } from './plugin-text.ts'
import { opencodeTools } from './tools.ts'

const dialect: ToolDialect = {
  title: 'opencode',
  tools: opencodeTools,
  mcp: (server, tool) => `${server}_${tool}`.replace(/[^\w-]/g, '_'),
}

/** One hook as the plugin holds it. */
interface Line {
  readonly author: string
  readonly moment: Moment
  readonly what: string
  readonly command: string
  readonly timeoutMs: number
  /** The declared filter, where `what` is not it. */
  readonly declared?: string
  readonly refuse?: true
}

const begin = '// hooks begin'
const end = '// hooks end'

function read(text: string, file: string): BrainHook[] {
  if (text.trim() === '') return []
  const lines = text.split(/\r?\n/)
  const [from, to] = [lines.findIndex((line) => line.trim() === begin), lines.findIndex((line) => line.trim() === end)]
  if (from < 0 || to < from)
    throw new Problem(
      `${file}:1:1: this file is not one that ona wrote; move it away, then run this again. Nothing was written`,
    )
  const hooks = new Map<string, BrainHook>()
  for (let index = from + 1; index < to; index++) {
    const hook = hookIn(lines[index]!)
    if (!hook)
      throw new Problem(
        `${file}:${index + 1}:1: this line is no longer a hook; put it back or remove the file. Nothing was written`,
      )
    hooks.set(uniqueOf(hook), hook)
  }
  return [...hooks.values()]
}

function hookIn(line: string): BrainHook | null {
  try {
    const { author, moment, what, command, timeoutMs, declared, refuse } = JSON.parse(
      line.trim().replace(/,$/, ''),
    ) as Line
    if (![author, what, command].every((one) => typeof one === 'string') || !Object.hasOwn(eventOf, moment)) return null
    return {
      author,
      event: eventOf[moment],
      command,
      timeout: durationText(durationMs({ milliseconds: timeoutMs })),
      ...filterAt(moment, declared ?? what),
      ...(refuse && { onFailure: 'refuse' as const }),
    }
  } catch {
    return null
  }
}

function lineOf(hook: BrainHook): string {
  const { author, command } = hook
  const line: Line = {
    author,
    moment: momentOf(hook),
    what: shimFilter(hook),
    command,
    timeoutMs: durationMs(hook.timeout),
    ...(momentOf(hook) === 'boot' && shimFilter(hook) !== whatOf(hook) && { declared: whatOf(hook) }),
    ...(refusesOnFailure(hook) && { refuse: true }),
  }
  return JSON.stringify(line)
}

function limits(hook: BrainHook): Limit[] {
  const stop = 'opencode reports it once the agent has stopped, so it cannot hold the agent back'
  const user = "opencode runs no hook for a command that its user starts with '!'"
  return [
    ...(hook.event === 'onStop' ? [{ hook, dropped: false, why: stop }] : []),
    ...(refusesOnFailure(hook) ? [{ hook, dropped: false, why: user }] : []),
    ...filterLimits(hook, dialect),
  ]
}

function write(text: string | null, hooks: readonly BrainHook[], file: string): string | null {
  if (text !== null) read(text, file)
  const written = hooks.filter((hook) => !limits(hook).some(({ dropped }) => dropped))
  if (written.length === 0) return text?.trim() ? null : text
  const whole = pluginText({ tools: opencodeTools, begin, end, lines: written.map(lineOf) })
  return text?.includes('\r\n') ? whole.replaceAll('\n', '\r\n') : whole
}

export const opencode: Host = {
  slug: 'opencode',
  aliases: ['sst/opencode', 'anomalyco/opencode'],
  title: 'opencode',
  signs: {
    repo: ['.opencode', 'opencode.json', 'opencode.jsonc'],
    home: ['.config/opencode/opencode.json', '.config/opencode/opencode.jsonc'],
  },
  config: '.opencode/plugin/rhachet-hooks.ts',
  launch: opencodeLaunch,
  history: opencodeHistory,
  managed: opencodeManaged,
  shim: {},
  dialect,
  unitMs: 1,
  limits,
  read,
  write,
  standing(text) {
    const lines = new Set(text.split(/\r?\n/).map((line) => line.trim().replace(/,$/, '')))
    return (hook) => lines.has(lineOf(hook))
  },
  afterChange: 'opencode reads plugins when it starts: restart it',
}
