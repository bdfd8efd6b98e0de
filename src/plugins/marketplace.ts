/** A marketplace: `.claude-plugin/marketplace.json` lists plugins and says where each comes from. */
import { isObject, type JsonObject } from '../hooks/shape.ts'
import { readJson } from '../hooks/text/json-text.ts'
import { checkManifest, nameProblem, pathProblem } from './manifest.ts'
import { checkSource, type Source } from './source.ts'

export interface Marketplace {
  readonly name: string
  readonly owner: string
  readonly description?: string
  readonly plugins: readonly Entry[]
}

export interface Entry {
  readonly name: string
  /** A path from the marketplace's root, or a source of its own. */
  readonly source: string | Source
  readonly version?: string
  readonly description?: string
  /** What it declares besides, as for plugin.json. */
  readonly parts: JsonObject
}

export type ReadMarketplace =
  | { readonly ok: true; readonly marketplace: Marketplace; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] }

/** A bad entry is left out with a warning; the others can be installed. */
export function readMarketplace(text: string, at: string): ReadMarketplace {
  const read = readJson(text)
  if (!read.ok) return { ok: false, problems: [`${at}: is not JSON: ${read.why}`] }
  const { value } = read
  const example = '{"name": "acme", "owner": {"name": "Ada"}, "plugins": []}'
  if (!isObject(value)) return { ok: false, problems: [`${at}: must be an object such as ${example}`] }
  const problems: string[] = []
  const { name, owner, plugins, metadata } = value
  if (nameProblem(name)) problems.push(`${at}: name ${name === undefined ? 'is missing' : nameProblem(name)}`)
  if (!isObject(owner) || typeof owner['name'] !== 'string')
    problems.push(`${at}: owner must be an object such as {"name": "Ada"}`)
  if (!Array.isArray(plugins)) problems.push(`${at}: plugins must be a list; ${example}`)
  const about: JsonObject = isObject(metadata) ? metadata : {}
  const base = about['pluginRoot']
  if (base !== undefined && pathProblem(base)) problems.push(`${at}: metadata.pluginRoot ${pathProblem(base)}`)
  if (problems.length > 0) return { ok: false, problems }
  const warnings: string[] = []
  const entries: Entry[] = []
  for (const [index, each] of (plugins as unknown[]).entries()) {
    const entry = entryOf(each, typeof base === 'string' ? base : undefined)
    const where = `${at}: plugins[${index}]`
    if ('problem' in entry) warnings.push(`${where}${entry.problem}; it is left out`)
    else if (entries.some((other) => other.name === entry.name))
      warnings.push(`${where}.name "${entry.name}" is there twice; the first counts`)
    else entries.push(entry)
  }
  const description = value['description'] ?? about['description']
  return {
    ok: true,
    marketplace: {
      name: name as string,
      owner: (owner as JsonObject)['name'] as string,
      ...(typeof description === 'string' && { description }),
      plugins: entries,
    },
    warnings,
  }
}

function entryOf(value: unknown, base: string | undefined): Entry | { readonly problem: string } {
  if (!isObject(value)) return { problem: ' must be an object such as {"name": "x", "source": "./x"}' }
  const { name, source, ...rest } = value
  if (nameProblem(name)) return { problem: `.name ${name === undefined ? 'is missing' : nameProblem(name)}` }
  const checked = checkManifest({ name, ...rest }, 'claude', '')
  if (!checked.ok) return { problem: checked.problems[0]!.replace(/^: /, '.') }
  const { version, description } = checked.manifest
  const about = {
    name: name as string,
    parts: partsOf(rest),
    ...(version && { version }),
    ...(description && { description }),
  }
  if (typeof source === 'string') {
    const why = pathProblem(source)
    return why ? { problem: `.source ${why}` } : { ...about, source: base ? `${base}/${source}` : source }
  }
  const read = checkSource(source)
  if ('problem' in read) return { problem: `.source${read.problem.startsWith('.') ? '' : ' '}${read.problem}` }
  if (read.source.source === 'directory' || read.source.source === 'file')
    return { problem: '.source must be a path from the marketplace ("./x"), github, git or url' }
  return { ...about, source: read.source }
}

const partsOf = (entry: JsonObject): JsonObject =>
  Object.fromEntries(
    ['commands', 'agents', 'skills', 'outputStyles', 'hooks', 'mcpServers']
      .filter((key) => entry[key] !== undefined)
      .map((key) => [key, entry[key]]),
  )
