/** The line that says what the turn does now, for how long, and how to stop it. */
import { seconds, tokens } from './format.ts'
import { glyph } from './glyphs.ts'
import { paint } from './style.ts'
import { clip, width } from './width.ts'

/** A step longer than this shows its own time. */
const longStepMs = 20_000

export class WorkingLine {
  #doing: string | ((now: number) => string) = ''
  #since = 0
  #turnSince = 0
  #outTokens = 0

  get busy(): boolean {
    return this.#turnSince > 0
  }

  begin(): void {
    this.#turnSince = Date.now()
    this.#outTokens = 0
    this.step('Starting')
  }

  end(): void {
    this.#turnSince = 0
    this.#since = 0
    this.#doing = ''
  }

  step(doing: string | ((now: number) => string)): void {
    if (this.#doing === doing) return
    this.#doing = doing
    this.#since = Date.now()
  }

  spent(outputTokens: number): void {
    this.#outTokens += outputTokens
  }

  /** `calls`: how many calls run; `hint`: what else a key does now. Where there is no room the facts go first. */
  line(spin: string, now: number, columns: number, { calls, hint }: { calls: number; hint?: string }): string {
    const ms = now - this.#since
    const parts = [
      { text: seconds(now - this.#turnSince), rank: 3 },
      { text: this.#outTokens > 0 ? `${tokens(this.#outTokens)} tokens` : '', rank: 1 },
      { text: this.#since > 0 && ms > longStepMs && calls === 0 ? `${seconds(ms)} for this step` : '', rank: 2 },
      { text: hint ?? '', rank: 4 },
      { text: 'esc to interrupt', rank: 5 },
    ].filter(({ text }) => text !== '')
    const doing = typeof this.#doing === 'function' ? this.#doing(now) : this.#doing
    const what = `${spin} ${doing || 'Working'}${glyph.more}`
    const facts = parts
      .map(({ rank }) => rank)
      .toSorted((a, b) => a - b)
      .map((least) => parts.filter(({ rank }) => rank >= least).map(({ text }) => text))
      .map((texts) => ` (${texts.join(` ${glyph.dot} `)})`)
    const shown = facts.find((text) => width(what) + width(text) <= columns) ?? facts.at(-1)!
    return clip(paint('accent', clip(what, Math.max(12, columns - width(shown)))) + paint('dim', shown), columns)
  }
}
