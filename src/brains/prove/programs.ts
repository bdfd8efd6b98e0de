/** Where the agents' programs are: on the PATH, or in a folder into which they were installed from npm. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Host } from '../../hosts/host.ts'
import { packageRoot } from '../../package-root.ts'

/** The folder of agents installed for proofs: one folder a host, each with its own node_modules. */
export const agentsCache = (): string => process.env['ONA_AGENTS_CACHE'] || join(homedir(), '.cache/ona-agents')

export function programOf({ slug, launch }: Pick<Host, 'slug' | 'launch'>): string | null {
  if (!launch) return null
  if (slug === 'ona') return join(packageRoot, 'bin/ona.mjs')
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), join(agentsCache(), slug, 'node_modules/.bin')]
  return folders.map((folder) => join(folder, launch.program)).find((path) => existsSync(path)) ?? null
}
