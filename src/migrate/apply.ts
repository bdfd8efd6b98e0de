/** What a migration would write, as whole files with what is there now; written together, and undone together. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeAtomic } from '../files/atomic-write.ts'
import { leadsOut } from '../files/leads-out.ts'
import { Problem } from '../files/problem.ts'
import { isObject } from '../hooks/shape.ts'
import { readJson } from '../hooks/text/json-text.ts'
import { requireOperator } from '../store/operator.ts'
import { type Edit, previewSettings } from '../store/settings/settings-edit.ts'
import { parseSettings, settingsFile, settingsFileToWrite } from '../store/settings/settings-files.ts'
import type { Change, Places, Scope, Survey } from './survey.ts'

export interface Write {
  readonly file: string
  /** null: the file is new. */
  readonly before: string | null
  readonly after: string
}

export interface Plan {
  readonly writes: readonly Write[]
  /** What is there already under that name and stays as it is. */
  readonly kept: readonly string[]
  /** Claude Code's settings that a new file of ona's takes over, since from then on ona's counts. */
  readonly tookOver: readonly string[]
}

export async function planOf(surveys: readonly Survey[], places: Places): Promise<Plan> {
  const changes = surveys.flatMap((survey) => survey.changes)
  const kept: string[] = []
  const writes: Write[] = []
  const tookOver: string[] = []
  for (const scope of ['user', 'project'] as const) {
    const file = settingsFileToWrite(scope, places)
    const edits = await settingsEdits(file, changes, scope, kept)
    if (edits.length === 0) continue
    const preview = await previewSettings(file, edits)
    if ('why' in preview) throw new Problem(`${file}: ${preview.why}`)
    const before = existsSync(file) ? preview.before : null
    if (preview.text === before) continue
    writes.push({ file, before, after: preview.text })
    const theirs = settingsFile(scope, places)
    if (theirs !== undefined && theirs !== file)
      tookOver.push(`${file} takes over what ${theirs} says; later changes there do not count in ona`)
  }
  for (const change of changes) {
    if (!('file' in change)) continue
    const root = change.file.startsWith(join(places.home, '.ona')) ? places.home : places.cwd
    if (leadsOut(root, change.file)) throw new Problem(`${change.file} is behind a link that leads out of its folder`)
    const same = existsSync(change.file) && readFileSync(change.file, 'utf8') === change.text
    if (existsSync(change.file) || writes.some(({ file }) => file === change.file)) {
      if (!same) kept.push(`${change.file} is there already`)
    } else writes.push({ file: change.file, before: null, after: change.text })
  }
  return { writes, kept, tookOver }
}

/** A value that the file has already stays; lists get what they do not have. */
async function settingsEdits(file: string, changes: readonly Change[], scope: Scope, kept: string[]): Promise<Edit[]> {
  const { before } = await previewSettings(file, [])
  const read = parseSettings(before)
  if (!read.ok) throw new Problem(`${file}: ${read.why}; put that right first`)
  const set = new Set<string>()
  return changes.flatMap((change): Edit[] => {
    if ('file' in change || change.scope !== scope) return []
    if ('add' in change) return [{ path: change.path, add: change.add }]
    const key = change.path.join('.')
    const now = change.path.reduce<unknown>((value, part) => (isObject(value) ? value[part] : undefined), read.settings)
    if (now !== undefined || set.has(key)) {
      if (JSON.stringify(now) !== JSON.stringify(change.value)) kept.push(`${key} of ${file} is there already`)
      return []
    }
    set.add(key)
    return [{ path: change.path, value: change.value }]
  })
}

const recordFolder = (home: string): string => join(home, '.ona', 'migrations')

/** Writes the files and remembers what they replaced; returns the record's path. */
export function applyPlan({ writes }: Plan, home: string, now: Date): string {
  requireOperator('migrating settings', { home })
  const record = join(recordFolder(home), `${now.toISOString().replaceAll(/[:.]/g, '-')}.json`)
  mkdirSync(dirname(record), { recursive: true, mode: 0o700 })
  writeAtomic(record, `${JSON.stringify({ writes }, null, 2)}\n`, { mode: 0o600 })
  for (const { file, after } of writes) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeAtomic(file, after, { mode: 0o600 })
  }
  return record
}

/** Puts back what the newest migration replaced. A file that was changed since stops it, before anything is written. */
export function undoLast(home: string): readonly string[] {
  requireOperator('undoing a migration', { home })
  const names = existsSync(recordFolder(home))
    ? readdirSync(recordFolder(home)).filter((name) => name.endsWith('.json'))
    : []
  const last = names.sort().at(-1)
  if (!last) throw new Problem('there is no migration to undo')
  const record = join(recordFolder(home), last)
  const read = readJson(readFileSync(record, 'utf8'))
  const writes = (
    read.ok && isObject(read.value) && Array.isArray(read.value['writes']) ? read.value['writes'] : []
  ) as Write[]
  const changed = writes.filter(({ file, after }) => (existsSync(file) ? readFileSync(file, 'utf8') : null) !== after)
  if (changed.length > 0)
    throw new Problem(
      `${changed.map(({ file }) => file).join(', ')} changed since the migration; put back by hand what ${record} holds`,
    )
  for (const { file, before } of writes) {
    if (before === null) rmSync(file)
    else writeAtomic(file, before)
  }
  rmSync(record)
  return writes.map(({ file }) => file)
}
