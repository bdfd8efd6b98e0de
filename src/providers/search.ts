/** A web search by the provider's own tool: a question of its own, beside the conversation. */
import type { Provider, SearchReply, SearchRequest } from './model.ts'

const maxTokens = 4096

/** Names of the API's error codes, in words. */
const problems: Record<string, string> = {
  too_many_requests: 'the provider limits how often it may search; try again later',
  invalid_tool_input: 'the provider does not take this query or these domains',
  max_uses_exceeded: 'the provider searched as often as it may without an answer',
  query_too_long: 'the query is too long for the provider',
  unavailable: 'the provider cannot search now; try again later',
}

export async function search(reply: Provider['reply'], request: SearchRequest): Promise<SearchReply> {
  const { query, allowed, blocked, model, signal } = request
  const answer = await reply(
    {
      model,
      system: [{ text: 'You search the web. Search once or twice, then say in a few lines what was found.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: `Search the web for: ${query}` }] }],
      tools: [],
      webSearch: { allowed, blocked },
      maxTokens,
      signal,
    },
    () => {},
  )
  const { found = [], problem } = answer.webSearch ?? {}
  const text = answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  const failure = answer.stop === 'error' ? (answer.failure?.message ?? 'the request failed') : undefined
  const refused = answer.stop === 'refusal' ? 'the model refused to search for this' : undefined
  const why = failure ?? refused ?? (found.length === 0 && problem ? (problems[problem] ?? problem) : undefined)
  return { found, text: text.trim(), ...(why && { problem: why }), reply: answer }
}
