/** Where an agent's hooks stand in its JSON config, and what one looks like. */
import type { BrainHook, Moment } from '../hook.ts'

type Fields = Record<string, unknown>

/** How an agent lays hooks out under its "hooks" key. */
export interface Layout {
  /** Claude Code's three levels (event, group with a matcher, handlers), or two (event, entries). */
  readonly groups: boolean
  /** The agent's event for each moment. */
  readonly events: Readonly<Record<Moment, string>>
  /** What the agent counts a timeout in, and how long a hook has that says nothing. */
  readonly unitMs: number
  readonly defaultMs: number
  /** What a file that we start holds beside the hooks. */
  readonly skeleton?: Fields
  /** The file's name is ours alone: with the last hook the file goes. */
  readonly ownFile?: boolean
  /** The agent knows hooks by their position: nobody's may change. */
  readonly keepPositions?: boolean
  /** The group, or in the two-level layout the entry, that stands for the hook; null: the agent cannot express it. */
  render(hook: BrainHook): Fields | null
  /** The hook that a handler (or entry) of ours stands for; null when it is not ours. */
  recognise(handler: Fields, matcher: string, moment: Moment): BrainHook | null
  /** The agent's matcher in the names of a filter; null when it cannot be said. */
  neutral?(matcher: string): string | null
  /** The title of an agent that reads strict JSON: with a comment or a trailing comma it drops the whole file. */
  readonly strict?: string
  /** Events in which hooks may stand that another program wrote and we take over. */
  readonly alsoIn?: Readonly<Record<string, { readonly moment: Moment; readonly what: string }>>
  /** Whether a handler was written by that other program. */
  adopted?(handler: Fields, matcher: string): boolean
}
