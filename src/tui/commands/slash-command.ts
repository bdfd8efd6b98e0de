import type { Ui } from '../session/command-context.ts'

export interface SlashCommand {
  readonly name: string
  readonly aliases: readonly string[]
  readonly summary: string
  /** `<a>` is needed, `[a]` may be left out. */
  readonly argumentHint: string
  /** Runs at once while the agent works; others wait for the turn's end. */
  readonly immediate?: boolean
  run(args: string, ui: Ui): Promise<void>
}
