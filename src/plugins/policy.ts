/** Which marketplaces an administrator allows: `strictKnownMarketplaces` and `blockedMarketplaces` of managed settings. */
import { isObject } from '../hooks/shape.ts'
import { gitUrl, type Source, saySource } from './source.ts'

export interface MarketplacePolicy {
  readonly strictKnownMarketplaces?: readonly unknown[]
  readonly blockedMarketplaces?: readonly unknown[]
}

/** Why the source may not be used, or undefined. A list that holds an entry ona cannot read allows nothing by that entry. */
export function sourceRefused(source: Source | undefined, policy: MarketplacePolicy): string | undefined {
  const { strictKnownMarketplaces: known, blockedMarketplaces: blocked = [] } = policy
  const what = source ? saySource(source) : 'a plugin of no marketplace'
  if (source && blocked.some((entry) => matches(entry, source)))
    return `${what} is blocked by managed settings (blockedMarketplaces)`
  if (known === undefined) return undefined
  if (source && known.some((entry) => matches(entry, source))) return undefined
  return `${what} is not among the marketplaces that managed settings allow (strictKnownMarketplaces)`
}

/** An entry matches by every field that it has; a host or path pattern by its regular expression, from start to end. */
function matches(entry: unknown, source: Source): boolean {
  if (!isObject(entry)) return false
  if (entry['source'] === 'hostPattern')
    return hostOf(source) !== undefined && fits(entry['hostPattern'], hostOf(source)!)
  if (entry['source'] === 'pathPattern')
    return 'path' in source && isLocal(source) && fits(entry['pathPattern'], source.path)
  const wanted = Object.entries(entry).filter(([key]) => key !== 'source')
  const same = (key: string, value: unknown) => (source as Record<string, unknown>)[key] === value
  if (entry['source'] === source.source) return wanted.length > 0 && wanted.every(([key, value]) => same(key, value))
  const asGit = { ...source, url: 'repo' in source ? gitUrl(source) : undefined } as Record<string, unknown>
  return (
    entry['source'] === 'git' &&
    source.source === 'github' &&
    wanted.length > 0 &&
    wanted.every(([key, value]) => asGit[key] === value)
  )
}

const isLocal = (source: Source): source is Extract<Source, { source: 'directory' | 'file' }> =>
  source.source === 'directory' || source.source === 'file'

function fits(pattern: unknown, text: string): boolean {
  try {
    return typeof pattern === 'string' && new RegExp(`^(?:${pattern})$`).test(text)
  } catch {
    return false // no regular expression: it allows and blocks nothing; `ona doctor` reports it
  }
}

function hostOf(source: Source): string | undefined {
  if (source.source === 'github') return 'github.com'
  if (!('url' in source)) return undefined
  return (
    /^[\w.-]+@([\w.-]+):/.exec(source.url)?.[1] ?? (URL.canParse(source.url) ? new URL(source.url).hostname : undefined)
  )
}

/** Names under which Anthropic publishes: only its own repositories may use them. */
const official = new Set(
  'claude-code-marketplace claude-code-plugins claude-plugins-official anthropic-marketplace anthropic-plugins agent-skills anthropic-agent-skills life-sciences knowledge-work-plugins claude-for-legal claude-for-financial-services financial-services-plugins first-party-plugins claude-tag-plugins claude-community claude-plugins-community healthcare anthropic-plugin-directory claude-plugin-directory'.split(
    ' ',
  ),
)
/** Names that ona and Claude Code use for plugins of no marketplace. */
const ownNames = ['inline', 'local', 'builtin', 'skills-dir']

export function marketplaceNameProblem(name: string, source: Source): string | undefined {
  if (ownNames.includes(name)) return `"${name}" is reserved; rename the marketplace`
  const fromAnthropic =
    (source.source === 'github' || source.source === 'git') &&
    /^https:\/\/github\.com\/anthropics\//.test(gitUrl(source))
  const poses = official.has(name) || /^official-(claude|anthropic)|^(claude|anthropic)-.*official/.test(name)
  return poses && !fromAnthropic
    ? `"${name}" is reserved for marketplaces of github.com/anthropics; rename the marketplace`
    : undefined
}
