/** A policy's hooks in the shape of an agent's hooks file: the guard that applies the rules, and the hooks of roles. */
import { durationMs } from '../duration.ts'
import { type BrainHook, type Moment, momentOf, refusesOnFailure } from '../hook.ts'
import type { PolicyPlace } from '../managed.ts'
import { refusalMarginMs } from '../shim/command-text.ts'

interface Shape {
  readonly events: Readonly<Record<Moment, string>>
  readonly unitMs: number
  /** Event, group, handlers; or event, entries. */
  readonly groups: boolean
  /** Fields of a handler whose failure refuses the call. */
  readonly refusing?: Readonly<Record<string, unknown>>
  /** The handler's field for the command; "command" by default. */
  readonly commandKey?: string
  /** Fields of every handler. */
  readonly also?: Readonly<Record<string, unknown>>
}

/** How long the guard may take, in ms; it reads a file and decides. */
export const guardMs = 10_000

/** Filters are left to the shim, so that one form serves every agent and no matcher can be misread. */
export function managedHooks(
  { events, unitMs, groups, refusing = {}, also = {}, commandKey = 'command' }: Shape,
  hooks: readonly BrainHook[],
  place: PolicyPlace,
  host: string,
): Record<string, object[]> {
  const lists: Record<string, object[]> = {}
  const add = (event: string, command: string, ms: number, refuses: boolean) => {
    const handler = {
      ...also,
      ...(groups && { type: 'command' }),
      [commandKey]: command,
      timeout: Math.ceil((ms + refusalMarginMs) / unitMs),
      ...(refuses && refusing),
    }
    lists[event] = [...(lists[event] ?? []), groups ? { hooks: [handler] } : handler]
  }
  add(events.before, place.command(host), guardMs, true)
  for (const hook of hooks)
    add(events[momentOf(hook)], place.command(host, hook), durationMs(hook.timeout), refusesOnFailure(hook))
  return lists
}
