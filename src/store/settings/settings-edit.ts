/** Changes to settings files: comments and layout stay, the file is never half-written, two processes do not collide. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { updateFile } from '../../files/atomic-write.ts'
import type { JsonEdit } from '../../files/json-edit.ts'
import { leadsOut } from '../../files/leads-out.ts'
import type { PermissionUpdate } from '../../hooks/plane.ts'
import { isObject } from '../../hooks/shape.ts'
import { operatorProblem } from '../operator.ts'
import { type Places, parseSettings, settingsFileToWrite } from './settings-files.ts'

export type Edit =
  /** Sets the value at a path; undefined removes it. */
  | { readonly path: readonly string[]; readonly value: unknown }
  /** Adds to a list what is not in it yet. */
  | { readonly path: readonly string[]; readonly add: readonly unknown[] }
  /** Takes out of a list. */
  | { readonly path: readonly string[]; readonly remove: readonly unknown[] }

export type Edited = { ok: true; file: string; changed: boolean } | { ok: false; file: string; why: string }

/**
 * Makes the file where there is none; where Claude Code's counted until now, what it says is taken over, since from then on
 * ours counts. A file that is not JSON is left alone.
 */
export async function editSettings(file: string, edits: readonly Edit[]): Promise<Edited> {
  const folder = basename(dirname(file)) === '.ona' ? dirname(dirname(file)) : dirname(file)
  if (folder !== homedir() && leadsOut(folder, file))
    return { ok: false, file, why: 'is a link that leads out of the folder; make it a file of its own' }
  const held = operatorProblem('changing settings', { home: homedir(), folder })
  if (held) return { ok: false, file, why: `is left as it is: ${held}` }
  const { JsonEdit } = await import('../../files/json-edit.ts')
  let why: string | undefined
  const isNew = !existsSync(file)
  const changed = updateFile(
    file,
    (before = takenOver(file)) => {
      const edited = editText(before, edits, JsonEdit)
      if ('why' in edited) why = edited.why
      return 'text' in edited ? edited.text : undefined
    },
    { mode: isShared(file) ? 0o644 : 0o600 },
  )
  if (why !== undefined) return { ok: false, file, why }
  if (isNew) ignoreLocal(file)
  return { ok: true, file, changed }
}

/** What `editSettings` would write, and what is there now or would be taken over. */
export async function previewSettings(file: string, edits: readonly Edit[]) {
  const { JsonEdit } = await import('../../files/json-edit.ts')
  const before = existsSync(file) ? readFileSync(file, 'utf8') : takenOver(file)
  return { before, ...editText(before, edits, JsonEdit) }
}

function editText(
  before: string,
  edits: readonly Edit[],
  Draft: typeof JsonEdit,
): { readonly text: string } | { readonly why: string } {
  const draft = new Draft(before.trim() === '' ? '{}\n' : before)
  for (const edit of edits) {
    const read = parseSettings(draft.text)
    if (!read.ok) return { why: `${read.why}; put that right first` }
    const blocked = edit.path.slice(0, -1).findIndex((_, index) => {
      const above = at(read.settings, edit.path.slice(0, index + 1))
      return above !== undefined && !isObject(above)
    })
    if (blocked >= 0)
      return { why: `${edit.path.slice(0, blocked + 1).join('.')} must be an object; put that right first` }
    apply(edit, at(read.settings, edit.path), draft)
  }
  return { text: draft.text }
}

function takenOver(file: string): string {
  const folder = dirname(dirname(file))
  const theirs = (folder === homedir() && process.env['CLAUDE_CONFIG_DIR']) || join(folder, '.claude')
  const source = join(theirs, basename(file))
  return basename(dirname(file)) === '.ona' && existsSync(source) ? readFileSync(source, 'utf8') : '{}\n'
}

function apply(edit: Edit, old: unknown, draft: JsonEdit): void {
  const { path } = edit
  if ('value' in edit) {
    if (!isSame(old, edit.value)) draft.set(path, edit.value)
    return
  }
  const list = Array.isArray(old) ? old : []
  const has = (values: readonly unknown[], value: unknown) => values.some((each) => isSame(each, value))
  if ('add' in edit) {
    const fresh = edit.add.filter((value, index) => !has(list, value) && !has(edit.add.slice(0, index), value))
    if (fresh.length === 0) return
    if (list.length === 0) draft.set(path, fresh)
    else for (const [index, value] of fresh.entries()) draft.insert([...path, list.length + index], value)
    return
  }
  for (let index = list.length - 1; index >= 0; index--)
    if (has(edit.remove, list[index])) draft.set([...path, index], undefined)
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

function at(settings: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    settings,
  )
}

/** The settings of a project are for everyone who works on it. */
const isShared = (file: string) => basename(file) === 'settings.json' && dirname(dirname(file)) !== homedir()

/** Local settings are the user's own: git ignores the file that we create. */
function ignoreLocal(file: string): void {
  const ignore = join(dirname(file), '.gitignore')
  if (basename(file) !== 'settings.local.json' || basename(dirname(file)) !== '.ona') return
  if (!statSync(ignore, { throwIfNoEntry: false })) writeFileSync(ignore, 'settings.local.json\n')
}

/** How a rule is written: permissions/rules/rule.ts knows. */
export type RuleText = (rule: { readonly toolName: string; readonly ruleContent?: string }) => string

/** Stores what the user answered "always" to, or a hook asked for. Updates for the session alone are not stored. */
export async function persistPermissionUpdates(
  updates: readonly PermissionUpdate[],
  places: Places,
  ruleText: RuleText,
): Promise<Edited[]> {
  const byFile = new Map<string, Edit[]>()
  for (const update of updates) {
    const level = destinations[update.destination]
    if (!level) continue
    const file = settingsFileToWrite(level, places)
    byFile.set(file, [...(byFile.get(file) ?? []), ...editsOf(update, ruleText)])
  }
  const edited: Edited[] = []
  for (const [file, edits] of byFile) edited.push(await editSettings(file, edits))
  return edited
}

const destinations: Record<PermissionUpdate['destination'], 'user' | 'project' | 'local' | undefined> = {
  userSettings: 'user',
  projectSettings: 'project',
  localSettings: 'local',
  session: undefined,
  cliArg: undefined,
}

function editsOf(update: PermissionUpdate, ruleText: RuleText): Edit[] {
  const path = (key: string) => ['permissions', key]
  switch (update.type) {
    case 'addRules':
      return [{ path: path(update.behavior), add: update.rules.map(ruleText) }]
    case 'replaceRules':
      return [{ path: path(update.behavior), value: update.rules.map(ruleText) }]
    case 'removeRules':
      return [{ path: path(update.behavior), remove: update.rules.map(ruleText) }]
    case 'setMode':
      return [{ path: path('defaultMode'), value: update.mode }]
    case 'addDirectories':
      return [{ path: path('additionalDirectories'), add: update.directories }]
    case 'removeDirectories':
      return [{ path: path('additionalDirectories'), remove: update.directories }]
  }
}
