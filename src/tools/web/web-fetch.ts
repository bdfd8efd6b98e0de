/** WebFetch: a page of the web as Markdown, or what a question to it is answered. */
import { record, string } from '../../hooks/shape.ts'
import { defineTool } from '../tool.ts'

export const webFetch = defineTool({
  name: 'WebFetch',
  prompt: `Fetches a page of the web, turns it into Markdown and answers your prompt from it.
- http is raised to https. Private and local addresses are refused.
- A redirect to another host is not followed: the result names the target, so that you can call again.
- Pages are kept for 15 minutes. For GitHub, prefer gh in Bash.`,
  input: record({
    url: string('The whole address, https://…'),
    prompt: string('What you want to know from the page'),
  }),
  safety: 'network',
  summary: ({ url }) => url,
  run: async (input, context) => (await import('./fetch-page.ts')).fetchPage(input, context),
})
