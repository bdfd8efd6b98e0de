/** Hooks that a user wrote and nothing reads: in a file of the wrong name, or under a misspelt key. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readPlainFile } from '../files/plain-file.ts'
import type { HookProblem } from '../hooks/settings.ts'
import { isObject } from '../hooks/shape.ts'
import { readJson } from '../hooks/text/json-text.ts'
import { nearest } from '../hooks/text/nearest.ts'

const notRead = [
  'hooks.json',
  '.ona/hooks.json',
  '.claude/hooks.json',
  '.ona/hooks/hooks.json',
  '.claude/hooks/hooks.json',
]
const settingsFiles = ['.ona', '.claude'].flatMap((folder) => [
  join(folder, 'settings.json'),
  join(folder, 'settings.local.json'),
])

export function strayHookFiles(cwd: string, home: string): HookProblem[] {
  const bases = [...new Set([home, cwd])]
  const files = bases.flatMap((base) => notRead.map((name) => join(base, name))).filter((file) => existsSync(file))
  const misplaced = files.map((path) => ({
    path: `${path}:`,
    why: 'is not read; put its hooks under "hooks" in .ona/settings.json',
    level: 'warning' as const,
  }))
  return [...misplaced, ...bases.flatMap((base) => settingsFiles.flatMap((name) => misspelt(join(base, name))))]
}

/** `"hook"` or `"Hooks"` at the top of a settings file. */
function misspelt(file: string): HookProblem[] {
  const value = existsSync(file) ? contentOf(file) : undefined
  if (!isObject(value)) return []
  return Object.keys(value)
    .filter((key) => key !== 'hooks' && nearest(key, ['hooks'], () => 1) === 'hooks')
    .map((key) => ({
      path: `${file}: ${key}`,
      why: 'unknown key; ignored. Did you mean "hooks"?',
      level: 'warning' as const,
    }))
}

function contentOf(file: string): unknown {
  try {
    const read = readJson(readPlainFile(file))
    return read.ok ? read.value : undefined
  } catch {
    return undefined // reported where the settings are read
  }
}
