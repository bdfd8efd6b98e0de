/** WebSearch: titles and addresses for a query. */
import { list, optional, record, string } from '../../hooks/shape.ts'
import { defineTool } from '../tool.ts'

export const webSearch = defineTool({
  name: 'WebSearch',
  prompt: `Searches the web and gives titles, addresses and excerpts. Read a result with WebFetch.
- allowed_domains keeps only these sites, blocked_domains leaves these out; not both.
- Name the sources you used in your answer.`,
  input: record({
    query: string('What to search for'),
    allowed_domains: optional(list(string(), 'Only results from these sites')),
    blocked_domains: optional(list(string(), 'No results from these sites')),
  }),
  safety: 'network',
  summary: ({ query }) => query,
  run: async (input, context) => (await import('./search-web.ts')).searchWeb(input, context),
})
