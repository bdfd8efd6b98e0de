/** What a tool answers: for the model, and for the screen. */
import type { JsonObject } from '../hooks/shape.ts'

export interface ToolOutput {
  /** What the model reads. */
  readonly content: string
  readonly isError: boolean
  /** Images go to the model beside the content; the transcript keeps the content. */
  readonly images?: readonly { readonly mediaType: string; readonly data: string }[]
  /** Why the turn ends with this call. */
  readonly endsTurn?: string
  /** An agent that the call started waits for this approval: the call stays without a result until it is decided. */
  readonly waits?: { readonly approval: string; readonly why: string }
  /** For the screen only: how it is shown, short and in full. */
  readonly display?: Display
  /** The result as data, in the form that hooks and hosts of Claude Code know; built when it is wanted. */
  response?(): unknown
}

export type Display =
  | { readonly kind: 'text'; readonly summary: string; readonly full?: string }
  /** What a command printed. The view folds it; `status` says how the command ended when that is not exit 0. */
  | { readonly kind: 'output'; readonly text: string; readonly status?: string }
  | {
      readonly kind: 'diff'
      readonly path: string
      readonly patch: string
      readonly added: number
      readonly removed: number
    }
  | { readonly kind: 'todos'; readonly todos: readonly Todo[] }

export interface Todo {
  readonly content: string
  readonly status: 'pending' | 'in_progress' | 'completed'
  readonly activeForm: string
}

export const said = (content: string, display?: Display): ToolOutput => ({ content, isError: false, display })
/** The tool could not do what was asked: the model reads why and what to try. */
export const failed = (content: string, display?: Display): ToolOutput => ({ content, isError: true, display })
/** We broke, not the request: a crash, a time-out, a lost child. */
export const broke = (why: string): ToolOutput => ({ content: `[SDLC_INTERNAL] ${why}`, isError: true })

/** A tool as the model sees it. */
export interface ToolDefinitionLike {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
}

/** For a message: names that may be many. */
export const firstNames = (names: readonly string[]): string =>
  names.length > 50
    ? `${names.slice(0, 50).join(', ')}, and ${names.length - 50} more (ToolSearch finds them)`
    : names.join(', ')
