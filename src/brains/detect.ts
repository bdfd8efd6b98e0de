/** Which agents are used here, by the files that they leave in a repository or in the home folder. */
import { existsSync, globSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readPlainFile } from '../files/plain-file.ts'
import type { Host } from '../hosts/host.ts'

/** The slugs of the agents that the repository's own files show. */
export async function detectBrainReplsInRepo({ from }: { from: string }): Promise<string[]> {
  return (await detectWithSigns({ from })).filter(({ inHome }) => !inHome).map(({ slug }) => slug)
}

/** The same with the sign of each, "CLAUDE.md" or "~/.codex/config.toml"; and agents that only the home folder shows. */
export async function detectWithSigns({ from, home = homedir() }: { from: string; home?: string }) {
  const { hosts } = await import('../hosts/index.ts')
  return hosts.flatMap((host) => {
    const sign = signOf(host, from, home)
    return sign ? [{ slug: host.slug, sign, inHome: sign.startsWith('~/') }] : []
  })
}

function signOf({ signs }: Host, from: string, home: string): string | null {
  const inRepo = signs.repo.find((path) =>
    path.includes('*') ? globSync(path, { cwd: from }).length > 0 : existsSync(join(from, path)),
  )
  if (inRepo) return inRepo
  if (signs.mention?.of.test(textOf(join(from, signs.mention.path)))) return signs.mention.path
  const inHome = signs.home.find((path) => existsSync(join(home, path)))
  return inHome ? `~/${inHome}` : null
}

function textOf(path: string): string {
  try {
    return readPlainFile(path)
  } catch {
    return '' // no such file is no sign
  }
}
