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
  /** Settings of the user's that take the policy's effect away; paths from the home folder. */
  overrides?(read: (path: string) => string | null): string[]
}

/** A file that holds nothing but ours. */
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
      const names = (text: string) =>
        Array.from(text.matchAll(/^\s*\[{1,2}\s*([^\]]+?)\s*\]{1,2}/gm), ([, name]) => name!.split('.')[0]!.trim())
      const keys = (text: string) =>
        Array.from((text.split(/^\s*\[/m)[0] ?? '').matchAll(/^\s*([\w-]+)\s*=/gm), ([, key]) => key!)
      const twice = [
        ...names(tables).filter((name) => names(given).includes(name)),
        ...keys(top).filter((key) => keys(given).includes(key)),
      ]
      if (twice.length > 0)
        throw new Problem(
          `${path} already has ${[...new Set(twice)].join(', ')}, and TOML allows a table once; merge the policy by hand (ona enforce plan --show)`,
        )
      const block = (text: string) => (text === '' ? '' : `${begin}\n${text.trimEnd()}\n${end}\n`)
      const gap = given === '' || given.endsWith('\n') ? '' : '\n'
      return `${block(top)}${given}${gap}${block(tables)}`
    },
  }
}

export const tomlText = (text: string): string => JSON.stringify(text)
