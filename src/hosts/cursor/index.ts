/**
 * Cursor (cursor.com/docs/hooks). Project hooks run from the root of the project. Whether it accepts unknown keys is not
 * documented, so a comment at the end of the command says whose the hook is.
 */
import { jsonConfig } from '../config/json-config.ts'
import type { Layout } from '../config/layout.ts'
import { markOf, readMark } from '../config/mark.ts'
import { durationMs, durationText } from '../duration.ts'
import { type BrainHook, eventOf, filterAt, momentOf, refusesOnFailure, whatOf } from '../hook.ts'
import type { Host, Limit } from '../host.ts'
import { bootLimits, oneOfTwo, strictRemarks, talkLimits } from '../shared.ts'
import { refusalMarginMs, throughShim, withoutShim } from '../shim/command-text.ts'
import { shimText } from '../shim/shim.ts'
import { neutralNames, type ToolDialect } from '../tool-names.ts'
import { filterLimits, translate } from '../tools.ts'
import { cursorEvents } from './events.ts'
import { cursorHistory } from './history.ts'
import { cursorLaunch } from './launch.ts'
import { cursorManaged } from './managed.ts'
import { cursorTools } from './tools.ts'

const dialect: ToolDialect = {
  title: 'Cursor',
  tools: cursorTools,
  mcp: (_server, tool) => `MCP:${tool}`,
  regexFault: (source) => `Cursor has other names for its tools, so "${source}" would match others`,
}
const shimDialect = { tools: [cursorTools], cannotAsk: true }
const shim = '.cursor/hooks/rhachet-hook.cjs'

/**
 * It reads what a hook says in JSON of its own only: before a tool it passes over a refusal in Claude Code's, and at boot over
 * plain text for the model.
 */
const needsShim = (hook: BrainHook) => hook.event === 'onBoot' || momentOf(hook) === 'before'

function matcher(hook: BrainHook): string | null {
  if (hook.event !== 'onTool') return ''
  const translated = translate(whatOf(hook), dialect)
  if (translated.kind === 'all') return ''
  return translated.kind === 'names' && translated.names.length > 0 ? translated.names.join('|') : null
}

function neutral(given: string): string | null {
  const table = neutralNames(cursorTools)
  const said = given.split('|').map((name) => table[name]?.join('|'))
  return said.every((name) => name !== undefined) ? said.join('|') : null
}

const layout: Layout = {
  groups: false,
  events: cursorEvents,
  unitMs: 1000,
  defaultMs: 60_000,
  skeleton: { version: 1 }, // without a number here Cursor rejects the file
  neutral,
  render(hook) {
    const what = whatOf(hook)
    const native = matcher(hook)
    if (native === null) return null
    const { filter } = filterAt(hook.event === 'onBoot' ? 'boot' : 'stop', what)
    const mark = markOf(hook.author, (native === '' && !filter) || native === what ? undefined : what)
    const command = needsShim(hook) ? throughShim(shim, hook) : hook.command
    const refuses = refusesOnFailure(hook)
    return {
      // a command of several lines may end in a here-document, which a comment behind it would break
      command: `${command}${command.includes('\n') ? '\n' : ' '}# ${mark}`,
      timeout: Math.ceil((durationMs(hook.timeout) + (refuses ? refusalMarginMs : 0)) / 1000),
      ...(native !== '' && { matcher: native }),
      ...(refuses && { failClosed: true }),
    }
  },
  recognise(entry, given, moment) {
    const [, written, text] =
      (typeof entry['command'] === 'string' && /^(.*)[ \n]# (ona: .*)$/s.exec(entry['command'])) || []
    const mark = readMark(text)
    if (!mark || written === undefined) return null
    const declared = withoutShim(shim, written)
    const seconds = Number(entry['timeout'])
    const ms = seconds > 0 ? seconds * 1000 : 60_000
    return {
      author: mark.author,
      event: eventOf[moment],
      ...declared,
      timeout: durationText(declared.onFailure ? ms - refusalMarginMs : ms),
      ...filterAt(moment, mark.what ?? given),
    }
  },
}

function limits(hook: BrainHook): Limit[] {
  const stop = 'Cursor runs it when the agent stops and does not let it hold the agent back'
  return [
    ...bootLimits(hook, 'Cursor', { compact: false, resume: false }),
    ...talkLimits(hook, 'Cursor adds nothing that the hook prints to the prompt'),
    ...(hook.event === 'onStop' ? [{ hook, dropped: false, why: stop }] : []),
    ...filterLimits(hook, dialect),
    ...oneOfTwo(hook, 'Cursor calls both Write and Edit "Write"'),
  ]
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
  history: cursorHistory,
  managed: cursorManaged,
  shim: shimDialect,
  dialect,
  helpers: [{ path: shim, text: shimText(shimDialect), serves: needsShim }],
  ...jsonConfig(layout),
  limits,
  remarks: strictRemarks('Cursor'),
}
