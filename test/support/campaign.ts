/** One kind of fault, many cases: counts those that the product survived, and keeps what went wrong with the others. */
export interface Tally {
  readonly name: string
  readonly cases: number
  readonly survived: number
  /** How each of the others ended. */
  readonly losses: readonly string[]
}

export type Case = readonly [name: string, run: () => Promise<void>]

/** One after another; a case survives when it does not throw. */
export async function campaign(name: string, cases: Iterable<Case>, onCase?: (done: number) => void): Promise<Tally> {
  const losses: string[] = []
  let count = 0
  for (const [about, run] of cases) {
    count++
    try {
      await run()
    } catch (cause) {
      losses.push(`${about}: ${(cause as Error).message}`)
    }
    onCase?.(count)
  }
  return { name, cases: count, survived: count - losses.length, losses }
}

export const tallied = ({ name, cases, survived, losses }: Tally): string =>
  [`${name}: ${cases} cases, ${survived} survived`, ...losses.map((loss) => `  ${loss}`)].join('\n')
