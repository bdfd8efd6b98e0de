/** Before a session starts in a folder that asks for more than reading: is it trusted? */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Places, readLayers } from '../../store/settings/settings-files.ts'
import { heldBackKeys } from '../../store/settings/settings-merge.ts'
import { isTrusted, trust } from '../../store/settings/trust.ts'
import type { Front } from '../session/front.ts'

/** 'leave': the user would not go on. A folder that asks for nothing is not asked about. */
export async function settleTrust(front: Front, places: Places): Promise<'trusted' | 'untrusted' | 'leave'> {
  const { cwd, home } = places
  const { layers } = readLayers(places)
  const managed = layers
    .filter(({ level }) => level === 'managed')
    .flatMap(({ settings }) =>
      Array.isArray(settings['trustedDirectories']) ? (settings['trustedDirectories'] as string[]) : [],
    )
  if (isTrusted(cwd, { home, managed })) return 'trusted'
  const ofFolder = layers.filter(({ level }) => level === 'project' || level === 'local')
  const asks = [
    ...ofFolder.flatMap(({ file, settings }) => heldBackKeys(settings).map((key) => `${key} in ${file}`)),
    ...['.mcp.json', '.ona/skills', '.ona/commands', '.claude/skills', '.claude/commands'].filter((name) =>
      existsSync(join(cwd, name)),
    ),
  ]
  if (asks.length === 0 || !front.interactive) return 'untrusted'
  const { askTrust } = await import('./trust.ts')
  const answer = await askTrust(front, cwd, asks)
  if (answer === undefined) return 'leave'
  if (!answer) return 'untrusted'
  trust(cwd, { home })
  return 'trusted'
}

/** Whether any settings file mentions plugins: only then is what reads them loaded. */
export const enablesPlugins = (places: Places): boolean =>
  readLayers(places).layers.some(({ settings }) => settings['enabledPlugins'] !== undefined)
