/** Rules on files: which tools they govern, and what they say of a path in all its spellings. */

import type { PermissionQuestion } from '../question.ts'
import type { Behavior, Rule } from '../rules/rule.ts'
import { globBase } from './glob-base.ts'
import { isWithin, type KnownPlaces, matchesPath, resolvePaths } from './pattern.ts'
import { freshView, real } from './view.ts'

type Asked = Pick<PermissionQuestion, 'settings' | 'cwd' | 'projectDir' | 'home' | 'files' | 'origins' | 'places'>

export interface FileAccess {
  readonly kind: 'read' | 'edit'
  /** Every spelling of the path; a rule that forbids needs one of them, a rule that permits needs all. */
  readonly paths: readonly string[]
  /** The path stands for all that lies below it (Grep, Glob). */
  readonly tree: boolean
}

const inputKeys: Record<string, { kind: 'read' | 'edit'; key: string; tree?: true }> = {
  Read: { kind: 'read', key: 'file_path' },
  Write: { kind: 'edit', key: 'file_path' },
  Edit: { kind: 'edit', key: 'file_path' },
  NotebookEdit: { kind: 'edit', key: 'notebook_path' },
  Grep: { kind: 'read', key: 'path', tree: true },
  Glob: { kind: 'read', key: 'path', tree: true },
}

/** The file that a call is about; undefined for tools that are about none. */
export function fileOf({ tool, input, cwd, home, files }: PermissionQuestion): FileAccess | undefined {
  const row = Object.hasOwn(inputKeys, tool) ? inputKeys[tool] : undefined
  if (!row) return undefined
  const given = input[row.key]
  const base = typeof given === 'string' && given !== '' ? given : '.'
  const path = tool === 'Glob' && typeof input.pattern === 'string' ? globBase(base, input.pattern) : base
  return { kind: row.kind, paths: resolvePaths(path, cwd, home, files), tree: row.tree === true }
}

/** Whether a path rule applies to this access. Who may edit a file may read it; who may not read it, may not edit. */
export function fileRuleMatches(rule: Rule, behavior: Behavior, access: FileAccess, asked: Asked): boolean {
  const { specifier } = rule
  if (specifier.kind !== 'path') return false
  const governs =
    rule.tool === 'Edit' ? (behavior === 'allow' ? 'both' : 'edit') : behavior === 'allow' ? 'read' : 'both'
  if (governs !== 'both' && governs !== access.kind) return false
  const allow = behavior === 'allow'
  // a tree is permitted when whatever may lie in it is: what a pattern says of a name, it says of all below
  const paths = access.tree && allow ? access.paths.map((path) => `${path === '/' ? '' : path}/\u0000`) : access.paths
  const places = placesOf(asked)
  const applies = (path: string) => matchesPath(specifier.pattern, path, places, allow)
  return allow ? paths.every(applies) : paths.some(applies)
}

/** The allow rule for an access: every spelling of the path needs one, not all of them the same. */
export function allowingRule(rules: readonly Rule[], access: FileAccess, asked: Asked): Rule | undefined {
  const found = access.paths.map((path) =>
    rules.find((rule) => fileRuleMatches(rule, 'allow', { ...access, paths: [path] }, asked)),
  )
  return found.includes(undefined) ? undefined : found.at(-1)
}

/** Whether every spelling of the path lies in a working directory, or in one that a link leads to. */
export function inWorkingDirectories(access: FileAccess, asked: Asked): boolean {
  const directories = placesOf(asked).working()
  return access.paths.every((path) => directories.some((directory) => isWithin(path, directory)))
}

/** Where the rules are anchored. */
export function placesOf(asked: Asked): KnownPlaces {
  if (asked.places) return asked.places
  const { cwd, projectDir, home, origins = [], files = freshView } = asked
  const { additionalDirectories: named = [] } = asked.settings
  return files.keep(`places ${JSON.stringify([cwd, projectDir, home, origins, named])}`, () => {
    const resolved = (each: string) => resolvePaths(each, projectDir, home, files)
    const directories = named.flatMap(resolved)
    let working: readonly string[] | undefined
    return {
      ...{
        cwd,
        projectDir,
        home,
        origins,
        files,
        directories,
        bases: { allow: new Map(), forbid: new Map(), reach: new Map() },
      },
      working: () => {
        working ??= [projectDir, cwd].flatMap(resolved).concat(directories)
        return working
      },
    }
  })
}

/** Whether the paths still lead where they led when they were judged: no link was put in their place since. */
export const leadsAsJudged = (judged: readonly string[]): boolean => judged.every((path) => judged.includes(real(path)))
