/** A part of the live area that has the keyboard. */
import type { Input } from '../input/keys.ts'
import type { Frame } from './screen.ts'

export interface View {
  draw(columns: number, rows: number): Frame
  press(input: Input): void
  /** What is written in it and not sent yet. */
  readonly text?: string
}
