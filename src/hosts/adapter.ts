/** The adapter contract: an agent's hooks can be read, set and deleted; and our implementation over its config files. */
import { join, relative } from 'node:path'
import { type FileEdit, locked, readText, writeAll } from '../files/file-edits.ts'
import { leadsOut } from '../files/leads-out.ts'
import { Problem } from '../files/problem.ts'
import { type BrainHook, type BrainHookUnique, described, settled, uniqueOf } from './hook.ts'
import type { Host, Limit } from './host.ts'

/** What a supplier package provides for one agent. */
export interface BrainHooksAdapter {
  readonly slug?: string
  readonly dao: BrainHooksDao
  /** What the brain cannot express of a hook. */
  limits?(hook: BrainHook): Limit[]
}

export interface BrainHooksDao {
  readonly get: {
    one(input: { by: { unique: BrainHookUnique } }): Promise<BrainHook | null>
    all(input?: { by?: PickOne<Pick<BrainHook, 'command' | 'author' | 'event'>> }): Promise<BrainHook[]>
  }
  readonly set: {
    /** The hook of that key as it is found; only where there is none, the given one is put in. */
    findsert(input: { hook: BrainHook }): Promise<BrainHook>
    upsert(input: { hook: BrainHook }): Promise<BrainHook>
    /** All hooks of an author at once, in this order: one write where the others would be many. */
    all?(input: { author: string; hooks: readonly BrainHook[] }): Promise<void>
  }
  del(input: { by: { unique: BrainHookUnique } }): Promise<void>
}

export type PickOne<T> = { [key in keyof T]: Pick<T, key> & { [other in Exclude<keyof T, key>]?: never } }[keyof T]

/** An adapter of ours, with the host it is made from. */
export interface OwnAdapter extends BrainHooksAdapter {
  readonly slug: string
  readonly brain: Host
}

export function adapterFor(brain: Host, root: string): OwnAdapter {
  const hooks = () => readHooks(brain, root)
  const find = ({ unique }: { unique: BrainHookUnique }) =>
    hooks().find((hook) => uniqueOf(hook) === uniqueOf(unique)) ?? null

  /** Compares first, so that a change without effect takes no lock and touches no file. */
  async function change(alter: (hooks: BrainHook[]) => BrainHook[]): Promise<void> {
    if (edits(brain, root, alter(hooks())).length === 0) return
    await locked([join(root, brain.config)], async () => writeAll(edits(brain, root, alter(hooks()))))
  }

  async function upsert({ hook }: { hook: BrainHook }): Promise<BrainHook> {
    refuseUnlessExpressible(brain, hook)
    await change((found) => {
      const index = found.findIndex((one) => uniqueOf(one) === uniqueOf(hook))
      return index < 0 ? [...found, hook] : found.with(index, hook)
    })
    return settled(hook, brain.unitMs)
  }

  return {
    slug: brain.slug,
    brain,
    limits: brain.limits,
    dao: {
      get: {
        one: async ({ by }) => find(by),
        all: async ({ by } = {}) => {
          const asked = Object.entries(by ?? {}).filter(([, value]) => value !== undefined)
          return hooks().filter((hook) => asked.every(([key, value]) => hook[key as keyof BrainHook] === value))
        },
      },
      set: {
        findsert: async ({ hook }) => find({ unique: hook }) ?? upsert({ hook }),
        upsert,
        all: ({ author, hooks }) => change((found) => withAuthors(found, [author], hooks)),
      },
      del: ({ by }) => change((found) => found.filter((hook) => uniqueOf(hook) !== uniqueOf(by.unique))),
    },
  }
}

/** Replaces the hooks of these authors with the given ones. An author keeps their position among the others. */
export function withAuthors(
  found: readonly BrainHook[],
  authors: readonly string[],
  hooks: readonly BrainHook[],
): BrainHook[] {
  const order = new Set([...found.map(({ author }) => author), ...authors])
  const replaced = new Set(authors)
  const [given, standing] = [hooks, found].map((list) => Map.groupBy(list, ({ author }) => author))
  return [...order].flatMap((author) => (replaced.has(author) ? given! : standing!).get(author) ?? [])
}

export function readHooks(brain: Host, root: string): BrainHook[] {
  const { text, file } = configOf(brain, root)
  return text === null ? [] : brain.read(text, file)
}

/** The config's text without a byte order mark, and how to call it in a message. */
export function configOf(brain: Host, root: string) {
  const path = join(root, brain.config)
  const raw = readText(path)
  const bom = raw?.startsWith('\uFEFF') ? '\uFEFF' : ''
  return { path, raw, bom, text: raw === null ? null : raw.slice(bom.length), file: brain.config }
}

/** The files that would change if the config had exactly these hooks of ours. */
export function edits(brain: Host, root: string, hooks: readonly BrainHook[]): FileEdit[] {
  const { path, raw, bom, text, file } = configOf(brain, root)
  const written = brain.write(text, hooks, file)
  const after = written === null ? null : bom + written
  const list: FileEdit[] = [{ path, before: raw, after }]
  const left = written === null || !brain.helpers ? [] : brain.read(written, file)
  for (const { path: helper, text: after, serves = () => true } of brain.helpers ?? []) {
    const before = readText(join(root, helper))
    if (before !== null && !/^(\/\/|#) Written by ona/.test(before))
      throw new Problem(`${helper} is in the way: ona did not write it; move it, nothing was written`)
    // first, so that no config names a file that is not there
    list.unshift({ path: join(root, helper), before, after: left.some((hook) => serves(hook)) ? after : null })
  }
  const changed = list.filter(({ before, after }) => before !== after)
  const astray = changed.find((edit) => leadsOut(root, edit.path))
  if (astray)
    throw new Problem(
      `${relative(root, astray.path)} is, or lies behind, a link that leads out of the repository; make it a file of its own, nothing was written`,
    )
  return changed
}

function refuseUnlessExpressible(brain: Host, hook: BrainHook): void {
  const limit = brain.limits(hook).find(({ dropped }) => dropped)
  if (limit) throw new Problem(`${described(hook)} cannot go into ${brain.title}: ${limit.why}`)
}
