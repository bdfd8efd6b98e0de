/**
 * Cursor (cursor.com/docs/hooks). Project hooks run from the root of the project. Whether it bears unknown keys is not
 * written anywhere, so a comment at the end of the command says whose the hook is.
 */

import { jsonConfig, type Layout } from '../config/json-config.ts'
import { markOf, readMark } from '../config/mark.ts'
import { durationMs, durationText } from '../duration.ts'
import { type BrainHook, eventOf, whatOf } from '../hook.ts'
import type { Host, Limit } from '../host.ts'
import { noCompaction, oneOfTwo, strictRemarks } from '../shared.ts'
import { throughShim, withoutShim } from '../shim/command-text.ts'
import { shimText } from '../shim/shim.ts'
import { neutralNames, translate } from '../tools.ts'
import { cursorLaunch } from './launch.ts'

const tools = {
  Bash: ['Shell'],
  Write: ['Write'],
  Edit: ['Write'],
  Read: ['Read'],
  Grep: ['Grep'],
  Agent: ['Task'],
  Delete: ['Delete'],
}
const shim = '.cursor/hooks/rhachet-hook.cjs'
const mcp = (_server: string, tool: string) => `MCP:${tool}`

function matcher(what: string): string | null {
  const translated = translate(what, tools, mcp)
  if (translated.kind === 'all') return ''
  return translated.kind === 'names' && translated.names.length > 0 ? translated.names.join('|') : null
}

function neutral(given: string): string | null {
  const table = neutralNames(tools)
  const said = given.split('|').map((name) => table[name]?.join('|'))
  return said.every((name) => name !== undefined) ? said.join('|') : null
}

const layout: Layout = {
  groups: false,
  events: { boot: 'sessionStart', before: 'preToolUse', after: 'postToolUse', stop: 'stop' },
  unitMs: 1000,
  defaultMs: 60_000,
  skeleton: { version: 1 }, // without a number here Cursor refuses the file
  neutral,
  render(hook) {
    const what = whatOf(hook)
    const native = matcher(what)
    if (native === null) return null
    const mark = markOf(hook.author, native === '' || native === what ? undefined : what)
    // it hears what a hook says in JSON only; at boot anything printed is meant for the model
    const command = hook.event === 'onBoot' ? throughShim(shim, hook) : hook.command
    return {
      // a command of several lines may end in a here-document, which a comment behind it would break
      command: `${command}${command.includes('\n') ? '\n' : ' '}# ${mark}`,
      timeout: Math.ceil(durationMs(hook.timeout) / 1000),
      ...(native !== '' && { matcher: native }),
    }
  },
  recognise(entry, given, moment) {
    const [, written, text] =
      (typeof entry['command'] === 'string' && /^(.*)[ \n]# (ona: .*)$/s.exec(entry['command'])) || []
    const mark = readMark(text)
    if (!mark || written === undefined) return null
    const command = withoutShim(shim, written)
    const event = eventOf[moment]
    const seconds = Number(entry['timeout'])
    const filter = event === 'onTool' && { what: mark.what ?? (given || '*'), when: moment as 'before' | 'after' }
    const timeout = durationText(seconds > 0 ? seconds * 1000 : 60_000)
    return { author: mark.author, event, command, timeout, ...(filter && { filter }) }
  },
}

function limits(hook: BrainHook): Limit[] {
  if (hook.event === 'onBoot')
    return [{ hook, dropped: false, why: `${noCompaction('Cursor')}, nor when one is resumed` }]
  if (hook.event === 'onStop')
    return [
      { hook, dropped: false, why: 'Cursor runs it when the agent stops and does not let it hold the agent back' },
    ]
  const translated = translate(whatOf(hook), tools, mcp)
  if (translated.kind === 'regex')
    return [
      {
        hook,
        dropped: true,
        why: `Cursor has other names for its tools, so "${translated.source}" would match others`,
      },
    ]
  if (translated.kind === 'all') return []
  const { names, missing } = translated
  if (missing.length > 0)
    return [{ hook, dropped: names.length === 0, why: `Cursor has no tool for ${missing.join(', ')}` }]
  return oneOfTwo(hook, 'Cursor calls both Write and Edit "Write"')
}

export const cursor: Host = {
  slug: 'cursor',
  aliases: ['cursor/agent', 'cursor-agent'],
  title: 'Cursor',
  signs: {
    repo: ['.cursor', '.cursorrules'],
    home: ['.cursor/hooks.json', '.cursor/mcp.json', '.cursor/cli-config.json'],
  },
  config: '.cursor/hooks.json',
  launch: cursorLaunch,
  helper: { path: shim, text: shimText([tools]), serves: ({ event }) => event === 'onBoot' },
  ...jsonConfig(layout),
  limits,
  remarks: strictRemarks('Cursor'),
}
