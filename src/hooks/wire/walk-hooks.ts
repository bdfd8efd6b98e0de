/** Walks over the two shapes of `hooks` in settings: the flat list, and Claude Code's object of events with groups. */
import { isObject } from '../shape.ts'

export interface HookPlace {
  readonly event: unknown
  /** What the hook has in common with its group; in the flat list, its own matcher. */
  readonly matcher: unknown
  readonly match: unknown
  /** The handler without the keys above. */
  readonly hook: Record<string, unknown>
  /** Such as `hooks.PreToolUse[0].hooks[1]`. */
  readonly path: string
  /** Where the event is named. */
  readonly eventPath: string
  /** The same hook as an entry of the flat list. */
  readonly flat: Record<string, unknown>
}

export interface HookVisitor {
  hook(place: HookPlace): void
  /** A value of the wrong type, which is skipped. */
  fault?(path: string, why: string): void
  /** False skips the event. */
  event?(name: string): boolean
  /** False skips the group. Without a list of hooks, a group counts as one hook. */
  group?(group: Record<string, unknown>, path: string): boolean
}

export function walkHooks(hooks: unknown, visit: HookVisitor): void {
  if (Array.isArray(hooks)) walkList(hooks, visit)
  else if (isObject(hooks)) for (const [name, groups] of Object.entries(hooks)) walkEvent(name, groups, visit)
  else if (hooks !== undefined && hooks !== null)
    visit.fault?.('hooks', 'must be a list of hooks, or an object of events')
}

function walkList(hooks: readonly unknown[], visit: HookVisitor): void {
  for (const [index, flat] of hooks.entries()) {
    const path = `hooks[${index}]`
    if (!isObject(flat)) {
      visit.fault?.(path, 'must be an object with hook_event_name and command')
      continue
    }
    const { hook_event_name: event, matcher, match, ...hook } = flat
    visit.hook({ event, matcher, match, hook, path, eventPath: `${path}.hook_event_name`, flat })
  }
}

function walkEvent(event: string, groups: unknown, visit: HookVisitor): void {
  if (visit.event?.(event) === false) return
  if (!Array.isArray(groups)) {
    visit.fault?.(`hooks.${event}`, 'must be a list of {"matcher": …, "hooks": […]}')
    return
  }
  for (const [index, group] of groups.entries()) {
    const path = `hooks.${event}[${index}]`
    if (!isObject(group)) visit.fault?.(path, groupShape)
    else if (visit.group?.(group, path) !== false) walkGroup(event, group, path, visit)
  }
}

function walkGroup(event: string, group: Record<string, unknown>, eventPath: string, visit: HookVisitor): void {
  const { hooks, ...common } = group
  for (const [index, hook] of (Array.isArray(hooks) ? hooks : [{}]).entries()) {
    const path = `${eventPath}.hooks[${index}]`
    if (!isObject(hook)) {
      visit.fault?.(path, 'must be an object with type and command')
      continue
    }
    const flat = { hook_event_name: event, ...common, ...hook }
    visit.hook({ event, matcher: group.matcher, match: group.match, hook, path, eventPath, flat })
  }
}

export const groupShape = 'must be {"matcher": …, "hooks": […]}'
