/** Web search: by the model's provider where it has one, otherwise by a SearXNG server that the operator names. */

import { isObject } from '../../hooks/shape.ts'
import { counted } from '../../hooks/text/counted.ts'
import { capped, streamCap } from '../bounded.ts'
import type { WebSearch } from '../host.ts'
import { broke, failed, said, type ToolOutput } from '../output.ts'
import type { ToolContext } from '../tool.ts'
import { type Got, get } from './http-get.ts'

interface SearchInput {
  readonly query: string
  readonly allowed_domains?: readonly string[]
  readonly blocked_domains?: readonly string[]
}

const timeLimitMs = 30_000
/** A model reads what it finds before it answers. */
const providerLimitMs = 120_000
const resultLimit = 20

export async function searchWeb(input: SearchInput, context: ToolContext): Promise<ToolOutput> {
  const query = input.query.trim()
  const { allowed_domains: allowed = [], blocked_domains: blocked = [] } = input
  if (query.length < 2) return failed('query is too short; write at least two characters')
  if (allowed.length > 0 && blocked.length > 0)
    return failed('allowed_domains and blocked_domains exclude each other; give one')

  const endpoint = context.env['ONA_SEARCH_URL'] ?? process.env['ONA_SEARCH_URL']
  if (endpoint) return searxng(endpoint, query, { allowed, blocked }, context)
  const limit = AbortSignal.timeout(providerLimitMs)
  const signal = AbortSignal.any([context.signal, limit])
  const searched = await context.host.searchWeb(query, { allowed, blocked }, signal)
  if (context.signal.aborted) return failed('the search was interrupted')
  if (limit.aborted) return broke(`the search took over ${providerLimitMs / 1000} s`)
  if (searched?.problem) return failed(`the model provider's web search failed: ${searched.problem}`)
  if (searched) return listed(query, searched.found, { allowed, blocked }, searched.text)
  return failed(
    'there is no web search here: the model provider has none. Set ONA_SEARCH_URL to a SearXNG server whose JSON format is on (https://searx.example/search), in the environment or under "env" in the settings.',
  )
}

interface Domains {
  readonly allowed: readonly string[]
  readonly blocked: readonly string[]
}

async function searxng(endpoint: string, query: string, domains: Domains, context: ToolContext): Promise<ToolOutput> {
  const url = URL.parse(endpoint)
  if (!url || !/^https?:$/.test(url.protocol))
    return failed(`ONA_SEARCH_URL is ${JSON.stringify(endpoint)}, which is no web address`)
  if (url.pathname === '/') url.pathname = '/search'
  const only = domains.allowed.map((domain) => `site:${domain}`).join(' OR ')
  url.searchParams.set('q', only === '' ? query : `${query} ${only}`)
  url.searchParams.set('format', 'json')

  let got: Got
  try {
    // The operator chose this server, wherever it stands.
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(timeLimitMs)])
    got = await get(url, { signal, maxBytes: streamCap, accept: 'application/json', mayReachPrivate: () => true })
  } catch {
    if (context.signal.aborted) return failed('the search was interrupted')
    return broke(`the search took over ${timeLimitMs / 1000} s`)
  }
  if (got.kind === 'redirect')
    return failed(`ONA_SEARCH_URL redirects to another host, ${got.to}; set it to the right one`)
  if (got.kind !== 'page') return failed(got.why)
  if (got.page.status !== 200) {
    const hint = got.page.status === 403 ? '; its JSON format may be off (search.formats in its settings)' : ''
    return failed(`${url.origin} answered ${got.page.status}${hint}`)
  }
  const results = parseResults(got.page.body.toString('utf8'))
  if (!results)
    return failed(`${url.origin} did not answer in SearXNG's JSON; turn the format on (search.formats in its settings)`)
  return listed(query, results, domains)
}

type Result = WebSearch['found'][number]

/** A line a page, however it was found; what a model says about them comes last. */
function listed(query: string, results: readonly Result[], domains: Domains, words = ''): ToolOutput {
  const fitting = results.filter(({ url }) => fits(url, domains)).slice(0, resultLimit)
  const summary = `Found ${counted(fitting.length, 'result')}`
  const lines = fitting.map(
    ({ title, url, excerpt }) => `- ${title} — ${url}${excerpt === '' ? '' : `\n  ${excerpt.slice(0, 500)}`}`,
  )
  const head = fitting.length === 0 ? `No results for "${query}"` : `Web search results for "${query}":`
  const text = [head, ...lines, ...(words === '' ? [] : ['', words])].join('\n')
  return said(capped(text), { kind: 'text', summary })
}

function parseResults(text: string): Result[] | undefined {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(json) || !Array.isArray(json['results'])) return undefined
  return json['results'].filter(isObject).flatMap(({ title, url, content }) => {
    if (typeof title !== 'string' || typeof url !== 'string') return []
    return [{ title: oneLine(title), url, excerpt: typeof content === 'string' ? oneLine(content) : '' }]
  })
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

function fits(url: string, { allowed, blocked }: Domains): boolean {
  const host = URL.parse(url)?.hostname ?? ''
  const under = (domain: string) => host === domain.toLowerCase() || host.endsWith(`.${domain.toLowerCase()}`)
  return (allowed.length === 0 || allowed.some(under)) && !blocked.some(under)
}
