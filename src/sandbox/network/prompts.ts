/** Hosts that the user was prompted for: once each, and what was answered holds until the commands that run now have ended. */

/** Resolves to whether the host may be reached. */
export type AskHost = (host: string) => Promise<boolean>

/** A command that tries one name after another is not worth more of anybody's time. */
const mostPrompts = 10

export class HostPrompts {
  readonly #ask: AskHost
  readonly #answers = new Map<string, Promise<boolean>>()
  #running = 0

  constructor(ask: AskHost) {
    this.#ask = ask
  }

  /** Connections to one host share one prompt. */
  allows(host: string): Promise<boolean> {
    const known = this.#answers.get(host)
    if (known) return known
    if (this.#answers.size >= mostPrompts) return Promise.resolve(false)
    const answer = this.#ask(host).catch(() => false) // whoever could have answered is gone
    this.#answers.set(host, answer)
    return answer
  }

  /** A command begins; the function that is returned ends it. */
  begin(): () => void {
    this.#running++
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      if (--this.#running === 0) this.#answers.clear()
    }
  }
}
