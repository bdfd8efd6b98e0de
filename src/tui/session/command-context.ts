/** What a slash command has at hand. */
import type { Session } from '../../agent/session/session.ts'
import type { EndReason } from '../../agent/session/start.ts'
import type { ThemeName } from '../render/style.ts'
import type { Front } from './front.ts'
import type { Facts } from './usage-facts.ts'

export interface Ui {
  readonly front: Front
  readonly session: Session
  readonly facts: Facts
  readonly version: string
  /** The full texts of answers, newest last. */
  answers(): readonly string[]
  /** Sends a prompt to the model, as if it had been typed. */
  submit(prompt: string): Promise<void>
  leave(reason: EndReason): void
  /** Ends this session and goes on in another; says what stood in the way. */
  switchSession(to: SessionSwitch): Promise<string | undefined>
  setVim(on: boolean): void
  vim(): boolean
  setTheme(theme: ThemeName): void
  /** Refreshes the status line. */
  refresh(statusCommand?: unknown): void
  /** Commands that skills and MCP servers add. */
  moreCommands(): readonly { readonly name: string; readonly summary: string; readonly from: string }[]
}

export type SessionSwitch =
  | { readonly kind: 'clear' }
  | { readonly kind: 'resume'; readonly id: string }
  | { readonly kind: 'branch'; readonly name?: string }
