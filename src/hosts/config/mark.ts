/** How a hook in another program's file says that it is ours: "ona: repo=acme/role=mechanic", in a field the agent knows. */

/** With `what`, the mark also keeps a filter that cannot be read back from the agent's own names. */
export const markOf = (author: string, what?: string): string => `ona: ${author}${what ? ` on ${what}` : ''}`

export function readMark(mark: unknown): { author: string; what?: string } | null {
  const [, author, what] =
    (typeof mark === 'string' && /^ona: (repo=[^\s/]+\/role=[^\s/]+)(?: on (.+))?$/.exec(mark)) || []
  return author ? { author, ...(what && { what }) } : null
}
