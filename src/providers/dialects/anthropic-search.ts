/** Anthropic's own web search: the tool in a request, and its results in a message. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import type { Domains, Reply, WebSource } from '../model.ts'

/** How often the model may search for one question. */
const mostUses = 8

/** The part of a request's body that offers the server's tool. */
export function searchTool({ allowed, blocked }: Domains): string {
  const tool = {
    type: 'web_search_20250305',
    name: 'web_search',
    max_uses: mostUses,
    ...(allowed.length > 0 && { allowed_domains: allowed }),
    ...(blocked.length > 0 && { blocked_domains: blocked }),
  }
  return `,"tools":${JSON.stringify([tool])}`
}

/** Gathers the pages that a reply's blocks and citations name; each address once, in the order they came. */
export function sourcesReader(): {
  block(block: JsonObject): void
  citation(citation: unknown): void
  all(): NonNullable<Reply['webSearch']>
} {
  const found = new Map<string, WebSource>()
  let problem: string | undefined
  const citation = (wire: unknown) => {
    if (!isObject(wire) || typeof wire.url !== 'string') return
    const known = found.get(wire.url)
    found.set(wire.url, {
      title: known?.title || asText(wire.title) || wire.url,
      url: wire.url,
      excerpt: known?.excerpt || asText(wire.cited_text),
    })
  }
  return {
    block({ type, content, citations }) {
      if (Array.isArray(citations)) citations.forEach(citation)
      if (type !== 'web_search_tool_result') return
      if (Array.isArray(content)) content.forEach(citation)
      else if (isObject(content)) problem = asText(content.error_code) || 'unavailable'
    },
    citation,
    all: () => ({ found: [...found.values()], ...(problem && { problem }) }),
  }
}

const asText = (value: unknown): string => (typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : '')
