/** Hooks that another program put into an agent's config, translated into ours as far as possible. */

import { isFields, parseObject } from '../../files/json-edit.ts'
import { bootSources, type Moment } from '../hook.ts'
import type { Foreign } from '../host.ts'
import type { Layout } from './layout.ts'

/** Keys that a role carries over, and display texts that it can do without. Any other key would be lost silently. */
const carried = new Set([
  'type',
  'command',
  'bash',
  'timeout',
  'timeoutSec',
  'matcher',
  'name',
  'description',
  'statusMessage',
  'author',
])

export function foreignIn(layout: Layout, text: string, file: string): Foreign[] {
  const hooks = text.trim() === '' ? undefined : parseObject(text, file).value['hooks']
  if (!isFields(hooks)) return []
  const moments = new Map([
    ...Object.entries(layout.events).map(([moment, event]) => [event, moment as Moment] as const),
    ...Object.entries(layout.alsoIn ?? {}).map(([event, { moment }]) => [event, moment] as const),
  ])
  const found: Foreign[] = []
  for (const [event, items] of Object.entries(hooks)) {
    if (!Array.isArray(items)) continue
    for (const [index, item] of items.entries()) {
      const handlers = layout.groups ? isFields(item) && item['hooks'] : [item]
      if (!isFields(item) || !Array.isArray(handlers)) continue
      for (const [position, handler] of handlers.entries()) {
        const path = ['hooks', event, index, ...(layout.groups ? ['hooks', position] : [])]
        const moment = moments.get(event)
        const matcher = typeof item['matcher'] === 'string' ? item['matcher'] : ''
        if (!isFields(handler)) continue
        const adopted = layout.adopted?.(handler, matcher) ?? false
        if (!adopted && layout.recognise(handler, matcher, moment ?? 'before')) continue
        const { hooks: _, ...group } = layout.groups ? item : {}
        found.push(say(path, event, moment, matcher, handler, { ...group, ...handler }))
      }
    }
  }
  return found

  function say(
    path: (string | number)[],
    event: string,
    moment: Moment | undefined,
    matcher: string,
    handler: Record<string, unknown>,
    said: Record<string, unknown>,
  ): Foreign {
    if (!moment) return { path, why: `a role has no event for ${event}` }
    const command = handler['command'] ?? handler['bash']
    if ((handler['type'] ?? 'command') !== 'command' || typeof command !== 'string' || Array.isArray(handler['args']))
      return { path, why: `${event}: only a hook that is a shell command can be carried over` }
    const more = Object.keys(said).find((key) => !carried.has(key) && said[key] !== false)
    if (more) return { path, why: `${event}: a role has no word for its "${more}"` }
    const tools = moment === 'before' || moment === 'after'
    const what = matcher === '' || matcher === '*' ? '*' : layout.neutral ? layout.neutral(matcher) : matcher
    if (tools && what === null)
      return { path, why: `${event}: the matcher ${matcher} names no tool that a filter has a name for` }
    const also = layout.alsoIn?.[event]?.what
    const boot = moment === 'boot' && bootSources(matcher) ? matcher : undefined
    if (!tools && matcher !== '' && matcher !== '*' && boot === undefined)
      return { path, why: `${event}: a role's hook cannot be held to "${matcher}"` }
    const given = Number(handler['timeout'] ?? handler['timeoutSec'])
    const timeoutMs = given > 0 ? given * layout.unitMs : layout.defaultMs
    return { path, moment, what: tools ? what! : (also ?? boot ?? '*'), command, timeoutMs }
  }
}
