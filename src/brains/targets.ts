/** From the names on the command line, or from what is found, to the adapters that are written through. */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Problem } from '../files/problem.ts'
import { detectWithSigns } from './detect.ts'
import type { Target } from './plan.ts'
import { fileNamed } from './roles/load.ts'
import { getBrainHooksAdapterByConfigImplicit, packagesNamed } from './suppliers.ts'

/** The repository that a folder lies in: itself when it looks like one, otherwise the nearest above with a `.git`. */
export function repositoryOf(cwd: string): string {
  const start = resolve(cwd)
  if (['.agent', 'package.json'].some((name) => existsSync(join(start, name))) || fileNamed(start, 'ona.roles'))
    return start
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder
    if (folder === dirname(folder)) return start
  }
}

/** The brains that were named; one that nobody has an adapter for is a Problem that lists those there are. */
export async function namedTargets(slugs: readonly string[], root: string): Promise<Target[]> {
  const targets: Target[] = []
  for (const word of slugs) {
    const adapter = await getBrainHooksAdapterByConfigImplicit({ slug: word, from: root })
    if (!adapter) throw new Problem(await unknownBrain(word, root))
    const slug = 'brain' in adapter && adapter.slug ? adapter.slug : word
    if (!targets.some((target) => target.slug === slug)) targets.push({ slug, adapter })
  }
  return targets
}

async function unknownBrain(word: string, root: string): Promise<string> {
  const { hosts } = await import('../hosts/index.ts')
  const suppliers = packagesNamed(/^(@[^/]+\/)?(rhachet|ona)-brains-/, root)
  const asked =
    suppliers.length > 0 ? ` (${suppliers.join(', ')} ${suppliers.length > 1 ? 'do' : 'does'} not have it either)` : ''
  return `there is no adapter for the brain "${word}"${asked}; available: ${hosts.map(({ slug }) => slug).join(', ')}. Nothing was written`
}

/** The brains that are used here, with the sign of each. */
export async function detectedTargets(
  root: string,
): Promise<{ targets: (Target & { sign: string })[]; without: string[] }> {
  const targets: (Target & { sign: string })[] = []
  const without: string[] = []
  for (const { slug, sign } of await detectWithSigns({ from: root })) {
    const adapter = await getBrainHooksAdapterByConfigImplicit({ slug, from: root })
    if (adapter) targets.push({ slug, adapter, sign })
    else without.push(slug)
  }
  return { targets, without }
}
