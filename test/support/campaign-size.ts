/**
 * How much of a long campaign runs. By default a fixed sample of it, the same in every run; `ONA_TEST_FULL=1`, which `.ci/run`
 * sets, runs it whole.
 */
export const isFull = process.env['ONA_TEST_FULL'] === '1'

export const sized = (sample: number, whole: number): number => (isFull ? whole : sample)

/** Every `step`th of these, from the first on, or from another on where several tests take turns. */
export const sampled = <Item>(items: readonly Item[], step: number, from = 0): Item[] =>
  items.filter((_, index) => isFull || (index + from) % step === 0)
