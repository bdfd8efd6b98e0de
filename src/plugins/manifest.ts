/** A plugin's manifest: `.claude-plugin/plugin.json`, or `plugin.json` of Agent Plugins 1.0. Checked field by field, never run. */
import { posix } from 'node:path'
import { isObject, type JsonObject } from '../hooks/shape.ts'
import { readJson } from '../hooks/text/json-text.ts'
import { nearest } from '../hooks/text/nearest.ts'

export type Kind = 'claude' | 'agent-plugins'

/** Paths are relative to the plugin's root and do not leave it. */
export interface Manifest {
  readonly kind: Kind
  /** Undefined where the manifest gives none: the folder's or the marketplace's name counts. */
  readonly name?: string
  readonly version?: string
  readonly description?: string
  readonly author?: string
  readonly commands?: readonly string[]
  readonly agents?: readonly string[]
  readonly skills?: readonly string[]
  readonly outputStyles?: readonly string[]
  /** Files, and declarations written into the manifest. */
  readonly hooks: Declarations
  readonly mcpServers: Declarations
  /** Keys that have no effect. */
  readonly unused: readonly string[]
}

export interface Declarations {
  readonly files: readonly string[]
  readonly inline: readonly JsonObject[]
}

export type ReadManifest =
  | { readonly ok: true; readonly manifest: Manifest; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] }

export const agentPluginsSchema = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json'

/** Also safe as the name of a folder on every system. */
export const nameProblem = (name: unknown): string | undefined =>
  typeof name === 'string' && /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/i.test(name) && !name.includes('..')
    ? undefined
    : `must be a name of letters, digits, hyphens and dots, at most 64 long, such as "code-review"`

/** `at` names the place in messages: a file, or an entry of a marketplace. */
export function readManifest(text: string, kind: Kind, at: string): ReadManifest {
  const read = readJson(text)
  if (!read.ok) return { ok: false, problems: [`${at}: is not JSON: ${read.why}`] }
  if (!isObject(read.value))
    return { ok: false, problems: [`${at}: must be an object such as {"name": "code-review"}`] }
  return checkManifest(read.value, kind, at)
}

/** Every problem at once, so that an author corrects the file in one go. */
export function checkManifest(value: JsonObject, kind: Kind, at: string): ReadManifest {
  const problems: string[] = []
  const warnings: string[] = []
  const fault = (field: string, why: string) => problems.push(`${at}: ${field} ${why}`)
  const { name, version, description, author } = value
  if (name === undefined) fault('name', 'is missing; add "name": "code-review"')
  else if (nameProblem(name)) fault('name', nameProblem(name)!)
  for (const [field, text] of Object.entries({ version, description }))
    if (text !== undefined && typeof text !== 'string') fault(field, 'must be a string')
  if (author !== undefined && typeof author !== 'string' && !(isObject(author) && typeof author['name'] === 'string'))
    fault('author', 'must be an object such as {"name": "Ada"}')
  const claude = kind === 'claude'
  const paths = (field: string) => (claude ? pathsOf(value[field], field, fault) : undefined)
  const manifest: Manifest = {
    kind,
    ...(typeof name === 'string' && { name }),
    ...(typeof version === 'string' && { version }),
    ...(typeof description === 'string' && { description }),
    ...(authorOf(author) && { author: authorOf(author) }),
    commands: paths('commands'),
    agents: paths('agents'),
    skills: paths('skills'),
    outputStyles: paths('outputStyles'),
    hooks: declarationsOf(claude ? value['hooks'] : undefined, 'hooks', fault),
    mcpServers: declarationsOf(claude ? value['mcpServers'] : undefined, 'mcpServers', fault),
    unused: Object.keys(value).filter((key) => withoutEffect.has(key)),
  }
  const known = claude ? [...describes, ...used, ...withoutEffect] : agentPluginsKeys
  for (const key of Object.keys(value).filter((each) => !known.includes(each))) {
    const meant = nearest(key, known)
    const text = `${at}: unknown key ${JSON.stringify(key)}${meant ? `; did you mean "${meant}"?` : ''}`
    if (claude) warnings.push(`${text}; ignored`)
    else problems.push(`${text}; Agent Plugins 1.0 allows ${known.join(', ')}`)
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, manifest, warnings }
}

const agentPluginsDescribes = '$schema name version description author homepage repository license keywords'.split(' ')
const describes = [
  ...agentPluginsDescribes,
  ...['displayName', 'icon', 'category', 'tags', 'strict', 'source', 'defaultEnabled'],
]
const used = ['commands', 'agents', 'skills', 'outputStyles', 'hooks', 'mcpServers']
/** Read by Claude Code, not by ona; `ona plugin info` and a warning at start list them. */
const withoutEffect = new Set(
  'lspServers userConfig channels monitors themes workflows settings dependencies experimental evals'.split(' '),
)
const agentPluginsKeys = [...agentPluginsDescribes, 'extensions']

const authorOf = (author: unknown): string | undefined =>
  typeof author === 'string'
    ? author
    : isObject(author) && typeof author['name'] === 'string'
      ? author['name']
      : undefined

type Fault = (field: string, why: string) => void

function pathsOf(value: unknown, field: string, fault: Fault): string[] | undefined {
  if (value === undefined) return undefined
  const given = isObject(value) && field === 'commands' ? Object.values(value).map(sourceOf) : [value].flat()
  return given.flatMap((each, index) => {
    const why = pathProblem(each)
    if (why === undefined) return [posix.normalize(each as string)]
    fault(given.length > 1 ? `${field}[${index}]` : field, why)
    return []
  })
}

/** `"commands": {"about": {"source": "./about.md"}}`. */
const sourceOf = (entry: unknown): unknown => (isObject(entry) ? entry['source'] : entry)

function declarationsOf(value: unknown, field: string, fault: Fault): Declarations {
  const files: string[] = []
  const inline: JsonObject[] = []
  for (const each of value === undefined ? [] : [value].flat()) {
    const why = typeof each === 'string' ? pathProblem(each) : undefined
    if (why !== undefined) fault(field, why)
    else if (typeof each === 'string') files.push(posix.normalize(each))
    else if (isObject(each)) inline.push(each)
    else fault(field, 'must be a path such as "./hooks/hooks.json", or an object')
  }
  return { files, inline }
}

/** Whether a path stays in the plugin, by its text; what links do with it is checked when it is read. */
export function pathProblem(path: unknown): string | undefined {
  if (typeof path !== 'string' || path === '') return 'must be a path such as "./commands"'
  if (/[\p{Cc}\\]/u.test(path)) return 'has a control character or a backslash; write paths with "/"'
  if (path.startsWith('/') || /^[a-z]:/i.test(path))
    return `is the absolute path "${path}"; write it from the plugin's root: "./…"`
  if (posix.normalize(path).split('/')[0] === '..')
    return `is "${path}", which leaves the plugin's folder; move the file into it`
  return undefined
}
