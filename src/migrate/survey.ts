/** What a user has from another agent, and what becomes of it in ona. Files are read; nothing in them is run. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readPlainFile } from '../files/plain-file.ts'

/** The best first, but for what guards: a reader must see at once what no longer holds. */
export const fates = ['not-honoured', 'no-effect', 'converted', 'used'] as const
export type Fate = (typeof fates)[number]

export interface Item {
  readonly fate: Fate
  /** A hook, a rule, a sandbox, a secret: without it more is allowed, or something is no longer guarded. */
  readonly security: boolean
  /** settings, permissions, hooks, MCP server, agent, skill, command, plugin, instructions, output style, env, history. */
  readonly what: string
  readonly name: string
  readonly file: string
  /** Why, or what to do. */
  readonly note?: string
}

/** What `--apply` writes: a value that is not there yet, entries of a list, a new file. Nothing is overwritten. */
export type Change =
  | { readonly scope: Scope; readonly path: readonly string[]; readonly value: unknown }
  | { readonly scope: Scope; readonly path: readonly string[]; readonly add: readonly unknown[] }
  | { readonly file: string; readonly text: string }
export type Scope = 'user' | 'project'

export interface Survey {
  readonly host: string
  readonly title: string
  readonly items: readonly Item[]
  readonly changes: readonly Change[]
}

export interface Places {
  readonly cwd: string
  readonly home: string
  readonly env: NodeJS.ProcessEnv
}

/** Gathers what one host has. */
export class Gathering {
  readonly items: Item[] = []
  readonly changes: Change[] = []

  add(fate: Fate, what: string, name: string, file: string, more: { note?: string; security?: boolean } = {}): void {
    const { note, security = guards.has(what) } = more
    this.items.push({ fate, what, name, file, security, ...(note && { note }) })
  }

  change(...changes: readonly Change[]): void {
    this.changes.push(...changes)
  }
}

const guards = new Set(['permissions', 'hooks', 'sandbox'])

export function textOf(file: string): string | undefined {
  if (!existsSync(file)) return undefined
  try {
    return readPlainFile(file, 4 << 20)
  } catch {
    return undefined // a folder, a pipe: nothing that another agent would have written
  }
}

/** Markdown and the like directly in a folder. */
export function filesIn(folder: string, ending: string): { readonly name: string; readonly path: string }[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(ending))
    return names.sort().map((name) => ({ name: name.slice(0, -ending.length), path: join(folder, name) }))
  } catch {
    return [] // most people have none
  }
}

/** `skills/NAME/SKILL.md`. */
export function skillsIn(folder: string): { readonly name: string; readonly path: string }[] {
  try {
    return readdirSync(folder)
      .sort()
      .map((name) => ({ name, path: join(folder, name, 'SKILL.md') }))
      .filter(({ path }) => existsSync(path))
  } catch {
    return []
  }
}

/** A command or an agent in ona's format. */
export const markdown = (head: Readonly<Record<string, string | undefined>>, body: string): string =>
  `---\n${Object.entries(head)
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key}: ${JSON.stringify(value)}\n`]))
    .join('')}---\n\n${body.trim()}\n`
