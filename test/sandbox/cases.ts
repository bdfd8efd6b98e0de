/** One way out that somebody might try. */
export interface Case {
  readonly name: string
  /** A bash command. It prints `BREACH` where no canary can tell. */
  readonly run: string
  /** Harmless here, and a breach without the sandbox: run both ways, so that the case is seen to work. */
  readonly control?: true
}
