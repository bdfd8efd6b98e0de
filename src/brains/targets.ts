/** From the names on the command line, or from what is found, to the adapters that are written through. */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Problem } from '../files/problem.ts'
import { detectWithSigns } from './detect.ts'
import type { Target } from './plan.ts'
import { fileNamed } from './roles/load.ts'
import { getBrainHooksAdapterByConfigImplicit, packagesNamed, supplierPackage } from './suppliers.ts'

/** The repository that a folder lies in: the nearest folder with roles up to the one with a `.git`, else that one. */
export function repositoryOf(cwd: string): string {
  const start = resolve(cwd)
  const folders = [start]
  for (let folder = start; folder !== dirname(folder) && !existsSync(join(folder, '.git')); ) {
    folder = dirname(folder)
    folders.push(folder)
  }
  const top = folders.at(-1)!
  // outside a git repository nothing above is looked at
  const inside = existsSync(join(top, '.git')) ? folders : [start]
  const hasRoles = (folder: string) => existsSync(join(folder, '.agent')) || fileNamed(folder, 'ona.roles') !== null
  return inside.find(hasRoles) ?? inside.at(-1)!
}

/** What is worth a warning while adapters are looked for. */
type Warn = (message: string) => void

/** The named agents; one without an adapter is a Problem that lists the known ones. */
export async function namedTargets(slugs: readonly string[], root: string, warn?: Warn): Promise<Target[]> {
  const targets: Target[] = []
  for (const word of slugs) {
    const adapter = await getBrainHooksAdapterByConfigImplicit({ slug: word, from: root, ...(warn && { warn }) })
    if (!adapter) throw new Problem(await unknownBrain(word, root))
    const slug = 'brain' in adapter && adapter.slug ? adapter.slug : word
    if (!targets.some((target) => target.slug === slug)) targets.push({ slug, adapter })
  }
  return targets
}

async function unknownBrain(word: string, root: string): Promise<string> {
  const { hosts } = await import('../hosts/index.ts')
  const suppliers = packagesNamed(supplierPackage, root)
  const asked =
    suppliers.length > 0 ? ` (${suppliers.join(', ')} ${suppliers.length > 1 ? 'do' : 'does'} not have it either)` : ''
  return `there is no adapter for the brain "${word}"${asked}; available: ${hosts.map(({ slug }) => slug).join(', ')}. Nothing was written`
}

export interface Detected {
  readonly targets: readonly (Target & { readonly sign: string })[]
  /** Agents that are used here and for which there is no adapter. */
  readonly without: readonly string[]
  /** Agents that the user has and the repository shows no sign of. */
  readonly inHome: readonly { readonly slug: string; readonly sign: string }[]
}

/** The agents that are used in the repository, with the sign of each. */
export async function detectedTargets(root: string, warn?: Warn): Promise<Detected> {
  const targets: (Target & { sign: string })[] = []
  const without: string[] = []
  const found = await detectWithSigns({ from: root })
  for (const { slug, sign } of found.filter(({ inHome }) => !inHome)) {
    const adapter = await getBrainHooksAdapterByConfigImplicit({ slug, from: root, ...(warn && { warn }) })
    if (adapter) targets.push({ slug, adapter, sign })
    else without.push(slug)
  }
  return { targets, without, inHome: found.filter(({ inHome }) => inHome) }
}
