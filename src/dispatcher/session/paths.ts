/** Where everything lies: workspace.json on top of the contract's names. Nothing here touches the disk. */
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { Json, Paths } from '../types.ts'

export interface Workspace {
  readonly workRoot: string
  readonly names: Readonly<Record<keyof typeof fileNames, string>>
}

const fileNames = {
  stateFile: 'state.json',
  eventsFile: 'events.jsonl',
  registryFile: 'registry.jsonl',
  promptsFile: 'p.jsonl',
  logsDir: 'logs',
  outputDir: 'output',
  configFile: 'config.json',
  policyFile: 'rlm-policy.json',
  followupRulesFile: 'followup-rules.json',
  manifestFile: 'dispatch.manifest.json',
  schemaDir: 'schema',
}
const groupOf: Record<keyof typeof fileNames, string> = {
  stateFile: 'session',
  eventsFile: 'session',
  registryFile: 'session',
  promptsFile: 'session',
  logsDir: 'feature',
  outputDir: 'feature',
  configFile: 'hooks',
  policyFile: 'hooks',
  followupRulesFile: 'hooks',
  manifestFile: 'hooks',
  schemaDir: 'hooks',
}

/** One path segment that cannot climb, hide a drive or be taken for a device. */
export const isSegment = (name: unknown): name is string =>
  typeof name === 'string' && /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/.test(name)

/** Reads workspace.json; a name that is not one safe segment keeps the contract's. */
export function readWorkspace(raw: unknown): { workspace: Workspace; problems: string[] } {
  const problems: string[] = []
  const file = isObject(raw) ? raw : {}
  const names = { ...fileNames }
  for (const key of Object.keys(fileNames) as (keyof typeof fileNames)[]) {
    const group = file[groupOf[key]]
    const given = isObject(group) ? group[key] : undefined
    if (given === undefined) continue
    if (isSegment(given)) names[key] = given
    else problems.push(`workspace.json: ${groupOf[key]}.${key} must be a plain file name`)
  }
  let workRoot = '.ai/tmp'
  if (file['workRoot'] !== undefined) {
    const given = file['workRoot']
    const parts = typeof given === 'string' ? given.replaceAll('\\', '/').split('/') : []
    if (parts.length > 0 && parts.every((part) => isSegment(part.replace(/^\./, '')))) workRoot = parts.join('/')
    else problems.push('workspace.json: workRoot must be a folder below the repository')
  }
  return { workspace: { workRoot, names }, problems }
}

export function buildPaths(hooksRoot: string, workspace: Workspace, sessionId: string): Paths {
  const repoRoot = resolve(hooksRoot, '..', '..')
  const workRoot = join(repoRoot, workspace.workRoot)
  const sessionRoot = join(workRoot, sessionId)
  const { names } = workspace
  const featureRoot = (slug: string) => join(sessionRoot, isSegment(slug) ? slug : 'unnamed')
  return {
    repoRoot,
    hooksRoot,
    workRoot,
    sessionRoot,
    stateFile: join(sessionRoot, names.stateFile),
    eventsFile: join(sessionRoot, names.eventsFile),
    registryFile: join(sessionRoot, names.registryFile),
    promptsFile: join(sessionRoot, names.promptsFile),
    configFile: join(hooksRoot, names.configFile),
    policyFile: join(hooksRoot, names.policyFile),
    followupRulesFile: join(hooksRoot, names.followupRulesFile),
    manifestFile: join(hooksRoot, names.manifestFile),
    schemaDir: join(hooksRoot, names.schemaDir),
    traceFile: join(workRoot, 'dispatch.log'),
    featureRoot,
    featureLogs: (slug) => join(featureRoot(slug), names.logsDir),
    featureOutput: (slug) => join(featureRoot(slug), names.outputDir),
    relRef: (path) => relative(sessionRoot, path).replaceAll(sep, '/'),
    repoRelative: (path) => normalisePath(path, repoRoot).path,
  }
}

/** The form every rule compares: forward slashes, no dots, from the repository's root; outside it, absolute. */
export function normalisePath(path: string, repoRoot: string): { path: string; outside: boolean } {
  // Hosts send Windows paths with backslashes even from WSL; on POSIX a backslash in a name is not worth a hole.
  const absolute = resolve(repoRoot, path.replaceAll('\\', '/'))
  const inside = relative(repoRoot, absolute)
  if (inside === '') return { path: '.', outside: false }
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside))
    return { path: absolute.replaceAll(sep, '/'), outside: true }
  return { path: inside.replaceAll(sep, '/'), outside: false }
}

/** Whether `path` is `root` or lies below it. */
export function isBelow(root: string, path: string): boolean {
  const inside = relative(root, path)
  return !(inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside))
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
