/** How long one command may run. */
export const bashLimits = { timeoutMs: 120_000, maxTimeoutMs: 600_000 } as const
