/** How much one search shows, and how long it may take. */
export const globLimits = { files: 100, timeLimitMs: 20_000 } as const
export const grepLimits = { entries: 250, timeLimitMs: 30_000 } as const
