/**
 * opencode (opencode.ai/docs/plugins; types of `@opencode-ai/plugin`). It has no hook commands: we write one plugin that
 * runs them. Its loader drops a file with any export that is not a function, so the plugin exports nothing else.
 */

import { Problem } from '../../files/problem.ts'
import { durationMs, durationText } from '../duration.ts'
import { type BrainHook, eventOf, type Moment, momentOf, uniqueOf, whatOf } from '../hook.ts'
import type { Host, Limit } from '../host.ts'
import { translate } from '../tools.ts'
import { opencodeLaunch } from './launch.ts'
import { pluginText } from './plugin-text.ts'

/** With some models apply_patch is offered instead of write and edit. */
const tools = {
  Bash: ['bash'],
  Write: ['write', 'apply_patch'],
  Edit: ['edit', 'apply_patch'],
  Read: ['read'],
  Glob: ['glob'],
  Grep: ['grep'],
  WebFetch: ['webfetch'],
  WebSearch: ['websearch'],
  Agent: ['task'],
  TodoWrite: ['todowrite'],
  Skill: ['skill'],
  AskUserQuestion: ['question'],
}
const mcp = (server: string, tool: string) => `${server}_${tool}`.replace(/[^\w-]/g, '_')

/** One hook as the plugin holds it. */
interface Line {
  readonly author: string
  readonly moment: Moment
  readonly what: string
  readonly command: string
  readonly timeoutMs: number
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
    const { author, moment, what, command, timeoutMs } = JSON.parse(line.trim().replace(/,$/, '')) as Line
    if (![author, what, command].every((one) => typeof one === 'string') || !Object.hasOwn(eventOf, moment)) return null
    const event = eventOf[moment]
    const filter = event === 'onTool' && { what, when: moment as 'before' | 'after' }
    return {
      author,
      event,
      command,
      timeout: durationText(durationMs({ milliseconds: timeoutMs })),
      ...(filter && { filter }),
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
    what: whatOf(hook),
    command,
    timeoutMs: durationMs(hook.timeout),
  }
  return JSON.stringify(line)
}

const names = (hook: BrainHook) => (hook.event === 'onTool' ? translate(whatOf(hook), tools, mcp) : null)

function limits(hook: BrainHook): Limit[] {
  if (hook.event === 'onStop')
    return [
      {
        hook,
        dropped: false,
        why: 'opencode tells of it once the agent has stopped, so it cannot hold the agent back',
      },
    ]
  const translated = names(hook)
  if (translated?.kind !== 'names' || translated.missing.length === 0) return []
  return [
    { hook, dropped: translated.names.length === 0, why: `opencode has no tool for ${translated.missing.join(', ')}` },
  ]
}

function write(text: string | null, hooks: readonly BrainHook[], file: string): string | null {
  if (text !== null) read(text, file)
  const written = hooks.filter((hook) => !limits(hook).some(({ dropped }) => dropped))
  if (written.length === 0) return text?.trim() ? null : text
  const whole = pluginText({ tools, begin, end, lines: written.map(lineOf) })
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
  unitMs: 1,
  limits,
  read,
  write,
  standing: (text, hook) => text.split(/\r?\n/).some((line) => line.trim().replace(/,$/, '') === lineOf(hook)),
  afterChange: 'opencode reads plugins when it starts: restart it',
}
