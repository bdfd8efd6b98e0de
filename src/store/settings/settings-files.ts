/** The settings files: their paths and contents. */

import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseJsonc } from '../../files/jsonc.ts'
import { readPlainFile } from '../../files/plain-file.ts'
import { readFault } from '../../files/read-fault.ts'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import type { Level } from './settings-shape.ts'

export interface Layer {
  readonly level: Level
  readonly file: string
  readonly settings: JsonObject
  /** Written for Claude Code: what we cannot use there is left out, and nothing in it is ours to change. */
  readonly foreign?: boolean
}

export interface SettingsProblem {
  readonly file: string
  /** What is wrong, where, and what to do: `permissions.defaultMode must be one of …`. */
  readonly why: string
}

export interface Places {
  readonly cwd: string
  readonly home: string
  readonly env: NodeJS.ProcessEnv
  /** `--settings`: a file, or JSON itself. */
  readonly settings?: string
  /** `--setting-sources`. */
  readonly sources?: readonly string[]
  /** Where managed settings lie; by default the system's folder. */
  readonly managedDirs?: readonly string[]
}

/** The file that holds the settings of a level: our own where it is there, else Claude Code's, else undefined. */
export const settingsFile = (level: 'user' | 'project' | 'local', places: Places): string | undefined =>
  candidates(level, places).find(isThere)

/** What cannot be looked at (a link in a circle) is there, so that reading it says what is wrong with it. */
function isThere(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}

/** The file to which changes of a level are written: always our own. */
export const settingsFileToWrite = (level: 'user' | 'project' | 'local', places: Places): string =>
  candidates(level, places)[0]!

/** Reads every file once, the weakest level first. */
export function readLayers(places: Places): { layers: Layer[]; problems: SettingsProblem[] } {
  const layers: Layer[] = []
  const problems: SettingsProblem[] = []
  const add = (level: Level, file: string, read: Read, foreign = false) => {
    if (read.ok) layers.push({ level, file, settings: read.settings, ...(foreign && { foreign }) })
    else problems.push({ file, why: read.why })
  }
  for (const level of ['user', 'project', 'local'] as const) {
    if (places.sources && !places.sources.includes(level)) continue
    const file = settingsFile(level, places)
    if (!file || layers.some((layer) => layer.file === file)) continue
    add(level, file, readSettings(file), file !== settingsFileToWrite(level, places))
  }
  if (places.settings !== undefined) {
    const inline = places.settings.trimStart().startsWith('{')
    if (inline) add('flag', '--settings', parseSettings(places.settings))
    else add('flag', places.settings, readSettings(resolve(places.cwd, places.settings)))
  }
  const dirs = places.managedDirs ?? systemDirs(process.platform)
  for (const file of managedFiles(dirs)) add('managed', file, readSettings(file), !file.startsWith(dirs[0]!))
  return { layers, problems }
}

function candidates(level: 'user' | 'project' | 'local', { cwd, home, env }: Places): string[] {
  if (level === 'user')
    return [
      join(home, '.ona', 'settings.json'),
      join(env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), 'settings.json'),
    ]
  const name = level === 'local' ? 'settings.local.json' : 'settings.json'
  return ['.ona', '.claude'].map((folder) => join(cwd, folder, name))
}

type Read = { ok: true; settings: JsonObject } | { ok: false; why: string }

/** More than any settings need; a bigger file is a mistake or an attack. */
const LARGEST = 4 * 1024 * 1024

function readSettings(file: string): Read {
  try {
    return parseSettings(readPlainFile(file, LARGEST))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EFBIG') return { ok: false, why: `is over ${LARGEST} bytes; settings are smaller` }
    if (code === 'EISDIR' || code === 'EINVAL') return { ok: false, why: 'is not a file; settings are a JSON file' }
    return { ok: false, why: `cannot be read: ${readFault(error)}` }
  }
}

export function parseSettings(text: string): Read {
  if (text.trim() === '') return { ok: true, settings: {} }
  const parsed = parseJsonc(text)
  if (!parsed.ok) return { ok: false, why: `is not JSON: ${parsed.why}` }
  if (!isObject(parsed.value)) return { ok: false, why: 'must hold an object: { … }' }
  return { ok: true, settings: parsed.value }
}

/** The base file first, then the drop-ins by name. */
function managedFiles(dirs: readonly string[]): string[] {
  for (const dir of dirs) {
    const base = join(dir, 'managed-settings.json')
    const dropIns = join(dir, 'managed-settings.d')
    const found = [
      ...(statSync(base, { throwIfNoEntry: false }) ? [base] : []),
      ...(statSync(dropIns, { throwIfNoEntry: false })?.isDirectory()
        ? readdirSync(dropIns)
            .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
            .sort()
            .map((name) => join(dropIns, name))
        : []),
    ]
    if (found.length > 0) return found
  }
  return []
}

/** The folders of managed settings on a system: ours, then Claude Code's. */
export const systemDirs = (platform: NodeJS.Platform): readonly string[] =>
  dirsOf[platform] ?? ['/etc/ona', '/etc/claude-code']

const dirsOf: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['/Library/Application Support/Ona', '/Library/Application Support/ClaudeCode'],
  win32: ['C:\\Program Files\\Ona', 'C:\\Program Files\\ClaudeCode'],
}
