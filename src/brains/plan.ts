/** Many roles into many brains: first the whole plan, then all of it or nothing. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  adapterFor,
  type BrainHooksAdapter,
  configOf,
  edits,
  type OwnAdapter,
  readHooks,
  withAuthors,
} from './adapter.ts'
import type { Brain, Limit } from './brain.ts'
import { type FileEdit, locked, writeAll } from './files.ts'
import type { BrainHook } from './hook.ts'
import { authorOf, type Role } from './role.ts'
import { applyChanges, type Change, diffHooks, expressible } from './sync.ts'

export interface Target {
  readonly slug: string
  readonly adapter: BrainHooksAdapter
}

export interface BrainPlan {
  readonly slug: string
  readonly title: string
  /** The file that holds the hooks; none when the brain's supplier keeps that to itself. */
  readonly config?: string
  readonly changes: readonly Change[]
  readonly files: readonly FileEdit[]
  readonly limits: readonly Limit[]
  /** What the person should know. */
  readonly notes: readonly string[]
  /** Authors that have hooks there and are none of the roles that we know. */
  readonly strangers: readonly string[]
}

export interface SyncRequest {
  readonly root: string
  readonly roles: readonly Role[]
  readonly targets: readonly Target[]
  /** Also takes out the hooks of authors that are not among these. */
  readonly prune?: readonly string[]
  /** Authors whose hooks are known to be declared somewhere, though not synced now. */
  readonly known?: readonly string[]
}

/** What would be done. Reads only. */
export async function planSync(request: SyncRequest): Promise<BrainPlan[]> {
  const { claudeCode } = await import('./known/claudecode.ts')
  const { brainOf } = await import('./known/index.ts')
  const reading = sharedReading(request, (slug) => brainOf(slug)!)
  const plans: BrainPlan[] = []
  for (const { slug, adapter } of [...request.targets, ...reading.pulledIn]) {
    if (!isOwn(adapter)) {
      plans.push(await planForeign(request, slug, adapter))
      continue
    }
    const brain = slug === 'claudecode' ? claudeCode({ guarded: reading.guarded }) : adapter.brain
    const coveredBy = reading.covered.get(slug)
    const twin = plans.find(({ config }) => config === brain.config)
    plans.push(planOwn(request, brain, coveredBy, twin))
  }
  return plans
}

/** Plans and does it. A failure anywhere leaves every brain as it was. */
export async function applySync(request: SyncRequest): Promise<BrainPlan[]> {
  const first = await planSync(request)
  const paths = first.flatMap(({ files }) => files.map(({ path }) => path))
  if (paths.length === 0 && !first.some(hasForeignChanges)) return first
  return locked(paths, async () => {
    // again, under the locks: another process may have been here in between
    const plans = await planSync(request)
    const undo: (() => Promise<void>)[] = []
    try {
      for (const { slug, adapter } of request.targets) {
        const plan = plans.find((one) => one.slug === slug)!
        if (!isOwn(adapter)) undo.push(await applyChanges(adapter, plan.changes))
      }
      writeAll(plans.flatMap(({ files }) => files))
    } catch (thrown) {
      for (const back of undo.reverse()) await back()
      throw thrown
    }
    return plans
  })
}

const hasForeignChanges = ({ config, changes }: BrainPlan) => !config && changes.some(({ kind }) => kind !== 'keep')

const isOwn = (adapter: BrainHooksAdapter): adapter is OwnAdapter => 'brain' in adapter

/**
 * `.claude/settings.json` is read by VS Code and Copilot too. Where Claude Code has the hooks, those two are served from
 * there and get none of their own, so that a hook fires once. The hooks there then go through our shim, which holds them to
 * their filters, answers each agent in its own words, and keeps still in Cursor, which has the hooks in its own file.
 */
function sharedReading({ root, roles, targets }: SyncRequest, brainOf: (slug: string) => Brain) {
  const authors = roles.map(authorOf)
  const target = (slug: string) => targets.find((one) => one.slug === slug)
  const holds = (slug: string) => readHooks(brainOf(slug), root).some(({ author }) => authors.includes(author))
  /** Ours to serve: a brain that a supplier claims is served by its supplier. */
  const takesPart = (slug: string) => {
    const asked = target(slug)
    return asked ? isOwn(asked.adapter) : holds(slug)
  }
  const covered = new Map<string, string>()
  const pulledIn: Target[] = []
  const sticky = existsSync(join(root, brainOf('claudecode').helper!.path))
  if (!takesPart('claudecode')) return { covered, pulledIn, guarded: sticky }

  const pull = (slug: string) => {
    if (!target(slug)) pulledIn.push({ slug, adapter: adapterFor(brainOf(slug), root) })
  }
  const readers = ['vscode', 'copilot'].filter((slug) => target(slug) && takesPart(slug))
  if (readers.length === 0 && holds('vscode')) readers.push('vscode')
  for (const slug of readers) {
    covered.set(slug, brainOf('claudecode').alsoReadBy![slug]!)
    pull(slug)
  }
  if (readers.length > 0) pull('claudecode')
  return { covered, pulledIn, guarded: sticky || readers.length > 0 || takesPart('cursor') }
}

function planOwn(
  request: SyncRequest,
  brain: Brain,
  coveredBy: string | undefined,
  twin: BrainPlan | undefined,
): BrainPlan {
  const { root, roles, prune, known = [] } = request
  const { text, file } = configOf(brain, root)
  const found = text === null ? [] : brain.read(text, file)
  const authors = roles.map(authorOf)
  const parts = roles.map((role) => expressible(role, brain))
  const declared = coveredBy ? [] : parts.flatMap(({ hooks }) => hooks)
  const strangers = [...new Set(found.map(({ author }) => author))].filter(
    (author) => ![...authors, ...known].includes(author),
  )
  const going = prune ? strangers.filter((author) => !prune.includes(author)) : []

  const ours = found.filter(({ author }) => authors.includes(author) || going.includes(author))
  const stands = (_: BrainHook, hook: BrainHook) => text !== null && brain.standing(text, hook, file)
  const changes = diffHooks(ours, declared, stands)
  const files = twin ? [] : edits(brain, root, withAuthors(found, [...authors, ...going], declared))
  const changed = changes.some(({ kind }) => kind !== 'keep')
  return {
    slug: brain.slug,
    title: brain.title,
    config: brain.config,
    changes: twin && !coveredBy ? changes.map((change) => ({ ...change, kind: 'keep' as const })) : changes,
    files,
    limits: parts.flatMap(({ limits }) => limits),
    strangers: strangers.filter((author) => !going.includes(author)),
    notes: [
      ...(coveredBy ? [`${coveredBy}. Its hooks fire from there, once`] : []),
      ...(twin && !coveredBy ? [`reads the same file as ${twin.title}: a hook there fires once in each`] : []),
      ...(text === null ? [] : (brain.remarks?.(text, file) ?? [])),
      ...(changed && brain.afterChange ? [brain.afterChange] : []),
      ...shadows(brain, root, files),
    ],
  }
}

/** What a file that we start keeps an agent from reading elsewhere. */
function shadows(brain: Brain, root: string, files: readonly FileEdit[]): string[] {
  const starts = files.some(({ path, before }) => before === null && path === join(root, brain.config))
  if (!starts || brain.slug !== 'ona' || !existsSync(join(root, '.claude/settings.json'))) return []
  return ['ona reads .claude/settings.json only where there is no .ona/settings.json, which there is from now on']
}

async function planForeign({ roles }: SyncRequest, slug: string, adapter: BrainHooksAdapter): Promise<BrainPlan> {
  const changes: Change[] = []
  const limits: Limit[] = []
  for (const role of roles) {
    const part = expressible(role, adapter)
    limits.push(...part.limits)
    changes.push(...diffHooks(await adapter.dao.get.all({ by: { author: authorOf(role) } }), part.hooks))
  }
  return { slug, title: slug, changes, files: [], limits, notes: [], strangers: [] }
}
