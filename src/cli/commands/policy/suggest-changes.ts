/** Suggested rules as a change to settings, or to a role that carries them into every agent: shown as a patch, or made. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type { Suggestion } from '../../../audit/policy/suggest.ts'
import { repositoryOf } from '../../../brains/targets.ts'
import { writeAtomic } from '../../../files/atomic-write.ts'
import { readRule } from '../../../permissions/rules/rule.ts'
import { operatorProblem } from '../../../store/operator.ts'
import { type Edit, editSettings, previewSettings } from '../../../store/settings/settings-edit.ts'
import { settingsFileToWrite } from '../../../store/settings/settings-files.ts'

export type Place = { readonly settings: 'user' | 'project' | 'local' } | { readonly role: string }

export function placeOf(text: string): Place | 'unknown' {
  if (text === 'user' || text === 'project' || text === 'local') return { settings: text }
  const role = /^role=(\w[\w.-]*)$/.exec(text)?.[1]
  return role === undefined ? 'unknown' : { role }
}

interface Change {
  readonly file: string
  readonly before: string
  readonly after: string
}

export async function diffFor(suggestions: readonly Suggestion[], place: Place, cwd: string): Promise<string> {
  const { createTwoFilesPatch } = await import('diff')
  const patches = (await changesFor(suggestions, place, cwd)).map(({ file, before, after }) => {
    const name = relative(cwd, file).startsWith('..') ? file : relative(cwd, file)
    const from = before === '' ? '/dev/null' : `a/${name}`
    return createTwoFilesPatch(from, `b/${name}`, before, after, '', '', { context: 3 }).replace(/^=+\n/, '')
  })
  return patches.length === 0 ? 'nothing to change' : patches.join('').replace(/\t?\n/g, '\n').trimEnd()
}

/** The files that were written. */
export async function applyTo(
  suggestions: readonly Suggestion[],
  place: Place,
  cwd: string,
): Promise<{ files: string[] } | { why: string }> {
  if ('settings' in place) {
    const edits = editsFor(suggestions, ['allow', 'deny'])
    if (edits.length === 0) return { files: [] }
    const done = await editSettings(fileOf(place.settings, cwd), edits)
    return done.ok ? { files: [done.file] } : { why: `${done.file} ${done.why}` }
  }
  const held = operatorProblem('changing a role', { home: homedir(), folder: cwd })
  if (held) return { why: held }
  const changes = await changesFor(suggestions, place, cwd)
  for (const { file, after } of changes) {
    mkdirSync(dirname(file), { recursive: true })
    writeAtomic(file, after, { mode: 0o644 })
  }
  return { files: changes.map(({ file }) => file) }
}

async function changesFor(suggestions: readonly Suggestion[], place: Place, cwd: string): Promise<Change[]> {
  const changes =
    'role' in place
      ? await roleChanges(suggestions, place.role, cwd)
      : await settingsChange(suggestions, place.settings, cwd)
  return changes.filter(({ before, after }) => before !== after)
}

async function settingsChange(
  suggestions: readonly Suggestion[],
  level: 'user' | 'project' | 'local',
  cwd: string,
): Promise<Change[]> {
  const file = fileOf(level, cwd)
  return [await edited(file, editsFor(suggestions, ['allow', 'deny']))]
}

/** A hook can deny and not allow: the rules that allow are left to settings. */
async function roleChanges(suggestions: readonly Suggestion[], role: string, cwd: string): Promise<Change[]> {
  const edits = editsFor(suggestions, ['deny'])
  if (edits.length === 0) return []
  const folder = `.agent/repo=.this/role=${role}`
  const root = repositoryOf(cwd)
  const [rules, declared] = [join(root, folder, 'rules.json'), join(root, folder, 'role.yaml')]
  const hook = {
    ...{ command: `ona policy guard ${folder}/rules.json`, timeout: 'PT10S' },
    ...{ filter: { what: '*', when: 'before' }, onFailure: 'refuse' },
  }
  return [await edited(rules, edits), await withHook(declared, hook)]
}

async function withHook(file: string, hook: { readonly command: string }): Promise<Change> {
  const { parseDocument, YAMLSeq } = await import('yaml')
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (before.includes(hook.command)) return { file, before, after: before }
  const document = parseDocument(before === '' ? 'purpose: rules from the record\n' : before)
  const path = ['hooks', 'onBrain', 'onTool']
  if (!document.hasIn(path)) document.setIn(path, new YAMLSeq())
  document.addIn(path, document.createNode(hook))
  return { file, before, after: document.toString({ lineWidth: 0 }) }
}

async function edited(file: string, edits: readonly Edit[]): Promise<Change> {
  const { before, ...made } = await previewSettings(file, edits)
  return { file, before: existsSync(file) ? before : '', after: 'text' in made ? made.text : before }
}

const fileOf = (level: 'user' | 'project' | 'local', cwd: string): string =>
  settingsFileToWrite(level, { cwd, home: process.env['HOME'] || homedir(), env: process.env })

function editsFor(suggestions: readonly Suggestion[], behaviors: readonly Suggestion['behavior'][]): Edit[] {
  return behaviors.flatMap((behavior) => {
    const rules = suggestions.filter((each) => each.behavior === behavior && readRule(each.rule, behavior).ok)
    return rules.length === 0 ? [] : [{ path: ['permissions', behavior], add: rules.map(({ rule }) => rule) }]
  })
}
