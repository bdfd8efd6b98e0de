/** ToolSearch: finds tools that the model knows by name only, and makes them callable. */
import { integer, optional, record, string } from '../hooks/shape.ts'
import { capped } from './bounded.ts'
import type { Listing } from './host.ts'
import { firstNames, said, type ToolDefinitionLike } from './output.ts'
import { defineTool } from './tool.ts'

const resultLimit = 5

export const toolSearch = defineTool({
  name: 'ToolSearch',
  prompt: `Finds tools that are not loaded yet and loads them; from the next step on you can call them. Also finds skills and agents that are not described to you, for the Skill and Agent tools.
- "select:name_a,name_b" takes these by their whole names. Anything else is keywords, matched against names and descriptions; "+word" must be in the name.`,
  input: record({
    query: string('"select:…" or keywords'),
    max_results: optional(integer(`How many at most (default ${resultLimit})`, { min: 1, max: 50 })),
  }),
  safety: 'read_only',
  summary: ({ query }) => query,
  async run({ query, max_results = resultLimit }, { host }) {
    const tools = [...host.deferredTools(), ...host.unlisted()]
    const found = query.startsWith('select:')
      ? selected(tools, query.slice('select:'.length))
      : ranked(tools, query).slice(0, max_results)
    if (found.length === 0) {
      const names = tools.map(({ name }) => name)
      const listed = names.length === 0 ? 'All tools are loaded already.' : `Not loaded yet: ${firstNames(names)}`
      return said(`No tool matches ${JSON.stringify(query)}. ${listed}`, { kind: 'text', summary: 'No tool found' })
    }
    const wanted = found.filter((each) => 'inputSchema' in each)
    const names = wanted.length > 0 ? host.revealTools(wanted.map(({ name }) => name)) : []
    const loaded = wanted.filter(({ name }) => names.includes(name))
    const tooMany = wanted.flatMap(({ name }) => (names.includes(name) ? [] : [name]))
    const described = loaded.map(({ name, description, inputSchema }) =>
      JSON.stringify({ name, description, input_schema: inputSchema }),
    )
    const others = found.flatMap((each) =>
      'kind' in each ? [`${each.kind} ${each.name}: ${each.description.slice(0, longestDescription)}`] : [],
    )
    const text = [
      ...(names.length > 0 ? [`Loaded ${names.join(', ')}:`, ...described] : []),
      ...(tooMany.length > 0 ? [`Not loaded, for they would take too much of the context: ${tooMany.join(', ')}`] : []),
      ...others,
    ].join('\n')
    const summary =
      names.length > 0 ? `Loaded ${names.join(', ')}` : `Found ${found.map(({ name }) => name).join(', ')}`
    return said(capped(text), { kind: 'text', summary })
  },
})

type Findable = ToolDefinitionLike | Listing

/** Of a skill or agent; a tool's is bounded where it comes from. */
const longestDescription = 2048

function selected(tools: readonly Findable[], names: string): Findable[] {
  const wanted = names.split(',').map((name) => name.trim())
  return tools.filter(({ name }) => wanted.includes(name))
}

/**
 * A word in the name counts more than one in the description, and a whole one more than a part of another; a word required in
 * the name leaves out the others.
 */
function ranked(tools: readonly Findable[], query: string): Findable[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const required = words.filter((word) => word.startsWith('+')).map((word) => word.slice(1))
  const plain = words.map((word) => word.replace(/^\+/, ''))
  const scored = tools.flatMap((tool) => {
    const name = tool.name.toLowerCase()
    const description = tool.description.toLowerCase()
    if (!required.every((word) => name.includes(word))) return []
    const [named, described] = [wordsOf(name), wordsOf(description)]
    const worth = (word: string): number =>
      name.includes(word) ? (named.has(word) ? 10 : 5) : description.includes(word) ? (described.has(word) ? 3 : 1) : 0
    const score = plain.reduce((sum, word) => sum + worth(word), 0)
    return score > 0 ? [{ tool, score }] : []
  })
  return scored.sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1)).map(({ tool }) => tool)
}

const wordsOf = (text: string): Set<string> => new Set(text.split(/[^\p{L}\p{N}]+/u))
