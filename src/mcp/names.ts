/** What servers and their tools are called by us: `mcp__<server>__<tool>`, in letters every provider takes. */

const longest = 64

/** Lower-case, and never with the `__` that parts a server from its tool. */
export function slugOf(server: string): string {
  return server
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '_')
    .replace(/_{2,}/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 32)
}

/** Our names for a server's tools, in their order. Each is unlike the others; one too long keeps its beginning. */
export function toolNames(slug: string, tools: readonly string[]): readonly string[] {
  const taken = new Set<string>()
  return tools.map((tool) => {
    const plain = tool.replace(/[^A-Za-z0-9_-]+/g, '_') || '_'
    const room = longest - `mcp__${slug}__`.length
    for (let count = 1; ; count++) {
      const end = count === 1 ? '' : `_${count}`
      const name = `mcp__${slug}__${plain.slice(0, room - end.length)}${end}`
      if (taken.has(name)) continue
      taken.add(name)
      return name
    }
  })
}
