/** The tool calls that this process itself has started, by the rows that record them: it cannot have been born of one. */
const most = 1000
const rows = new Set<string>()

export function startedHere({ path }: { readonly path: string }, event: number): void {
  rows.add(`${path}:${event}`)
  for (const oldest of rows) {
    if (rows.size <= most) return
    rows.delete(oldest)
  }
}

export const isStartedHere = (path: string, event: number): boolean => rows.has(`${path}:${event}`)
