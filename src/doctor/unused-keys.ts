/** Keys of settings files that have no effect: unknown ones, ones at the wrong level, and whole files that are not read. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { statOf } from '../files/plain-file.ts'
import { ruleProblem } from '../permissions/rules/rule.ts'
import { isSecurityKey } from '../store/settings/security-keys.ts'
import { checkLayer } from '../store/settings/settings-check.ts'
import { readLayers, settingsFile } from '../store/settings/settings-files.ts'
import { managedOnly, notFromProject } from '../store/settings/settings-shape.ts'

export interface UnusedKey {
  readonly file: string
  /** `permissions.x` where it is nested; `*` for a file that is not read at all. */
  readonly key: string
  readonly why: string
  /** Whoever wrote it may believe that something is guarded. */
  readonly security: boolean
}

/** Of every file that is read, Claude Code's included; security keys first. */
export function unusedKeys(cwd: string, env: NodeJS.ProcessEnv): UnusedKey[] {
  const places = { cwd, home: env['HOME'] || homedir(), env }
  const found: UnusedKey[] = notRead(places)
  for (const { level, file, settings } of readLayers(places).layers) {
    const { unknown } = checkLayer({ level, settings }, ruleProblem)
    const misplaced = Object.keys(settings).filter((key) => level !== 'managed' && managedOnly.includes(key))
    const refused = Object.keys(settings).filter((key) => level === 'project' && notFromProject.includes(key))
    const add = (keys: readonly string[], why: string) =>
      found.push(...keys.map((key) => ({ file, key, why, security: isSecurityKey(key) })))
    add(unknown, 'unknown key; ignored')
    add(misplaced, 'counts in managed settings only')
    add(refused, 'cannot be set by a project; put it into your own settings')
  }
  return found.toSorted((a, b) => Number(b.security) - Number(a.security))
}

/** Claude Code's file of a level where ona has its own. */
function notRead(places: { cwd: string; home: string; env: NodeJS.ProcessEnv }): UnusedKey[] {
  const { cwd, home, env } = places
  const theirs = {
    user: join(env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), 'settings.json'),
    project: join(cwd, '.claude', 'settings.json'),
    local: join(cwd, '.claude', 'settings.local.json'),
  }
  return (['user', 'project', 'local'] as const).flatMap((level) => {
    const read = settingsFile(level, places)
    const file = theirs[level]
    if (read === undefined || read === file || !statOf(file)) return []
    return [{ file, key: '*', why: `not read: ${read} counts in its place`, security: true }]
  })
}
