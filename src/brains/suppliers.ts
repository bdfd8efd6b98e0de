/** Who gives the adapter for a brain: a package of the repository that claims it, otherwise we. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readPlainFile } from '../files/plain-file.ts'
import { messageOf, Problem } from '../files/problem.ts'
import { adapterFor, type BrainHooksAdapter, type OwnAdapter } from '../hosts/adapter.ts'

/** What a package named `rhachet-brains-*` or `ona-brains-*` may export. */
export interface BrainSupplier {
  /** `brain` and `repoPath` are the names that published packages use for the slug and the repository's root. */
  getBrainHooks?(input: {
    slug: string
    brain: string
    repoPath: string
  }): BrainHooksAdapter | null | Promise<BrainHooksAdapter | null>
}

export const supplierPackage = /^(@[^/]+\/)?(rhachet|ona)-brains-/

/** A package that fails is reported with `warn` and passed over: it does not take the other agents with it. */
export async function getBrainHooksAdapterByConfigImplicit({
  slug,
  from,
  warn = (message) => process.emitWarning(message),
}: {
  slug: string
  from: string
  warn?: (message: string) => void
}): Promise<BrainHooksAdapter | null> {
  const claims: { name: string; adapter: BrainHooksAdapter }[] = []
  for (const name of packagesNamed(supplierPackage, from)) {
    const adapter = await claimOf(name, slug, from, warn)
    if (adapter) claims.push({ name, adapter })
  }
  if (claims.length > 1)
    throw new Problem(
      `${claims.map(({ name }) => name).join(' and ')} both claim the brain "${slug}"; remove one of them from package.json`,
    )
  return claims[0]?.adapter ?? getBrainHooks({ slug, from })
}

async function claimOf(
  name: string,
  slug: string,
  from: string,
  warn: (message: string) => void,
): Promise<BrainHooksAdapter | null> {
  try {
    const supplier = (await loadPackage(name, from)) as BrainSupplier
    const adapter = (await supplier.getBrainHooks?.({ slug, brain: slug, repoPath: from })) ?? null
    if (!adapter || typeof adapter.dao?.get?.all === 'function') return adapter
    warn(`${name}: getBrainHooks gives something for "${slug}" that is not an adapter; the package is ignored`)
  } catch (thrown) {
    const why = messageOf(thrown)
    warn(
      `${why.startsWith(name) || why.includes(` ${name},`) ? why : `${name} fails when asked for "${slug}": ${why}`}; the package is ignored`,
    )
  }
  return null
}

/** Our own supply, in the shape of a supplier. */
export async function getBrainHooks({
  slug,
  from = process.cwd(),
}: {
  slug: string
  from?: string
}): Promise<OwnAdapter | null> {
  const { hostOf } = await import('../hosts/index.ts')
  const brain = hostOf(slug)
  return brain && adapterFor(brain, from)
}

/** The dependencies in the repository's package.json whose names match, each once. */
export function packagesNamed(pattern: RegExp, from: string): string[] {
  const path = join(from, 'package.json')
  let text: string
  try {
    text = readPlainFile(path)
  } catch {
    return [] // a repository without npm has no packages
  }
  let manifest: Record<string, unknown>
  try {
    manifest = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (thrown) {
    throw new Problem(`${path}: ${(thrown as Error).message}; nothing was written`)
  }
  const kinds = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']
  const names = kinds.flatMap((kind) => Object.keys((manifest[kind] as object | undefined) ?? {}))
  return [...new Set(names)].filter((name) => pattern.test(name))
}

export async function loadPackage(name: string, from: string): Promise<object> {
  const file = entryOf(name, from)
  if (!file) throw new Problem(`package.json names ${name}, which is not installed; run npm install`)
  try {
    const loaded = await import(pathToFileURL(file).href)
    // a CommonJS package arrives as a default export when its names cannot be read from the outside
    return { ...(typeof loaded.default === 'object' ? loaded.default : {}), ...loaded }
  } catch (thrown) {
    throw new Problem(`${name} fails when it is loaded: ${messageOf(thrown)}`)
  }
}

/** The package's main file, also of a package that only ES modules may import. */
function entryOf(name: string, from: string): string | null {
  const folder = packageFolder(name, from)
  if (!folder) return null
  try {
    return createRequire(join(from, 'package.json')).resolve(name)
  } catch {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    let main = manifest.exports?.['.'] ?? manifest.exports
    while (main && typeof main === 'object') main = main.import ?? main.node ?? main.default
    return join(folder, main ?? manifest.module ?? manifest.main ?? 'index.js')
  }
}

/** Where the package is installed, looked for as Node does: here, then in each folder above. */
export function packageFolder(name: string, from: string): string | null {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name)
    if (existsSync(join(candidate, 'package.json'))) return candidate
    if (folder === dirname(folder)) return null
  }
}
