/** How a policy is written into an agent's machine-wide configuration, which its user cannot change. */
import { isFields, JsonEdit, parseObject } from '../files/json-edit.ts'
import { Problem } from '../files/problem.ts'
import type { BrainHook } from './hook.ts'

/** One rule of a policy in the grammar of ona's permissions, taken apart. */
export interface PolicyRule {
  readonly behavior: 'deny' | 'ask' | 'allow'
  /** As written: `Bash(rm -rf *)`. */
  readonly text: string
  readonly tool: string
  /** What is in the parentheses; none: the whole tool. */
  readonly content?: string
  /** Bash: the words of a rule that is a plain prefix, such as `rm -rf *` and `git push:*`. */
  readonly prefix?: readonly string[]
  /** `mcp__server__tool` or `mcp__server`. */
  readonly mcp?: { readonly server: string; readonly tool?: string }
}

export interface Policy {
  readonly rules: readonly PolicyRule[]
  /** Hooks of roles, without the guard that applies the rules. */
  readonly hooks: readonly BrainHook[]
  /** Hooks of users and repositories do not run. */
  readonly managedHooksOnly: boolean
}

/** Where the policy's own programs lie once it is installed, and how they are started. */
export interface PolicyPlace {
  /** `/etc/ona/policy`. */
  readonly dir: string
  readonly platform: 'linux' | 'darwin'
  /** A hook's command, absolute; the guard's when no hook is given. */
  command(host: string, hook?: BrainHook): string
}

export interface ManagedFile {
  /** Where it lies on the machine. */
  readonly path: string
  /** The whole new text. Throws a Problem where what is there cannot be kept. */
  merge(before: string | null): string
  /** Nobody else writes this file. */
  readonly own?: true
}

export interface RuleSupport {
  readonly how: 'native' | 'hook' | 'cannot'
  readonly why?: string
}

export interface Managed {
  /** What holds against the user of the machine, and what does not. */
  readonly holds: string
  files(policy: Policy, place: PolicyPlace): ManagedFile[]
  /** How one rule is enforced. */
  support(rule: PolicyRule): RuleSupport
  /** What overrides the policy, in whole or in part, and where it is set; empty where nothing does. */
  overrides?(seen: Surroundings): string[]
}

/** The machine around a policy, as far as it may override it. */
export interface Surroundings {
  readonly platform: 'linux' | 'darwin'
  readonly env: Readonly<Record<string, string | undefined>>
  /** A file of the user's, from the home folder. */
  home(path: string): string | null
  /** A file of the repository that the user stands in. */
  repo(path: string): string | null
  /** A file of the machine's. */
  machine(path: string): string | null
  /** The names in a folder of the machine's, sorted. */
  list(folder: string): readonly string[]
  /** Who owns a file or folder of the machine's, 0 being the owner of the root; null where there is none. */
  owner(path: string): number | null
}

/** A JSON file that may have comments, for looking only; {} where there is none or it cannot be read. */
export function looseJson(text: string | null): Record<string, unknown> {
  if (!text) return {}
  try {
    return parseObject(text.replace(/^\ufeff/, ''), '').value
  } catch {
    return {} // its own agent complains of it
  }
}

/** Variables that are set and override a policy. */
export const variables = ({ env }: Pick<Surroundings, 'env'>, why: Readonly<Record<string, string>>): string[] =>
  Object.entries(why).flatMap(([name, effect]) => (env[name] ? [`the variable ${name} ${effect}`] : []))

/** An agent that ignores a policy's folder or file unless root owns it. */
export const notOwned = ({ owner }: Pick<Surroundings, 'owner'>, paths: readonly string[]): string[] =>
  paths.flatMap((path) => ((owner(path) ?? 0) === 0 ? [] : [`${path} does not belong to root, so it is ignored`]))

/** A file that is ours alone. */
export const ownFile = (path: string, text: string): ManagedFile => ({ path, own: true, merge: () => text })

/** A JSON file that others may write too: the change is made in place. */
export function jsonFile(path: string, change: (edit: JsonEdit, value: Record<string, unknown>) => void): ManagedFile {
  return {
    path,
    merge(before) {
      const text = before?.trim() ? before : '{}\n'
      const edit = new JsonEdit(text)
      change(edit, parseObject(text, path).value)
      return edit.text
    },
  }
}

/** Adds items to the end of a list in a JSON file; a list that is something else is a Problem. */
export function appendTo(
  edit: JsonEdit,
  value: Record<string, unknown>,
  path: readonly string[],
  items: readonly unknown[],
  file: string,
): void {
  let at: unknown = value
  for (const key of path) at = isFields(at) ? at[key] : undefined
  if (at === undefined) edit.set(path, items)
  else if (Array.isArray(at))
    for (const [index, item] of items.entries()) edit.insert([...path, at.length + index], item)
  else throw new Problem(`${file}: ${path.join('.')} must be a list; nothing was written`)
}

const begin = '# ona enforce: begin'
const end = '# ona enforce: end'

/** A TOML file that others may write too: ours stands in blocks of its own, and no table may be there twice. */
export function tomlFile(path: string, { top, tables }: { top: string; tables: string }): ManagedFile {
  return {
    path,
    merge(before) {
      const given = before ?? ''
      const ours = [...tomlNames(top), ...tomlNames(tables)]
      const theirs = tomlNames(given)
      const twice = ours.filter((name) => theirs.includes(name))
      if (twice.length > 0)
        throw new Problem(
          `${path} already has ${[...new Set(twice)].join(', ')}, and TOML allows a table once; move what is there to another layer, or leave this agent out with --host`,
        )
      const block = (text: string) => (text === '' ? '' : `${begin}\n${text.trimEnd()}\n${end}\n`)
      const gap = given === '' || given.endsWith('\n') ? '' : '\n'
      return `${block(top)}${given}${gap}${block(tables)}`
    },
  }
}

/** The first words of all tables, and of the keys that stand before the first of them: `a` of `[a.b]`, `["a"]` and `a.b = 1`. */
function tomlNames(text: string): string[] {
  const [before = ''] = text.split(/^\s*\[/m)
  const tables = Array.from(text.matchAll(/^\s*\[{1,2}([^\]]+)\]/gm), ([, name]) => name!)
  const keys = Array.from(before.matchAll(/^([^#=\n]+)=/gm), ([, key]) => key!)
  return [...tables, ...keys].map((name) => /^\s*["']?([\w-]+)/.exec(name)?.[1] ?? '')
}

export const tomlText = (text: string): string => JSON.stringify(text)
