/** Hooks that are not waited for: bounded in number, and ended with the session. */
export interface Detached<T> {
  readonly rest: Promise<T>
  /** Ends its processes. */
  stop(): void
}

export class Background {
  /** More at once than any setting needs; a hook that never ends must not fill the machine. */
  static readonly most = 32
  readonly #running = new Map<Detached<unknown>, Promise<void>>()

  get isFull(): boolean {
    return this.#running.size >= Background.most
  }

  adopt<T>(detached: Detached<T>, done: (value: T) => void): void {
    const end = detached.rest.then(done).finally(() => this.#running.delete(detached))
    this.#running.set(detached, end)
  }

  /** Ends all that still run, and waits until their rows are recorded. */
  async close(): Promise<void> {
    for (const detached of this.#running.keys()) detached.stop()
    await Promise.all(this.#running.values())
  }
}
