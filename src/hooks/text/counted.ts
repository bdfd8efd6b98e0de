/** `1 row`, `2 rows`, `12,345 rows`: how messages, reports and pages count things. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`

/** Digits in groups of three, from five digits on. */
export const grouped = (count: number): string =>
  Math.abs(count) < 10_000 ? String(count) : String(count).replace(/\B(?=(\d{3})+$)/g, ',')
