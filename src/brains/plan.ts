/** Many roles into many brains: first the whole plan, then all of it or nothing. */
import { join } from 'node:path'
import { type FileEdit, locked, readText, writeAll } from '../files/file-edits.ts'
import { messageOf, Problem, problemOf } from '../files/problem.ts'
import {
  adapterFor,
  type BrainHooksAdapter,
  configOf,
  edits,
  type OwnAdapter,
  readHooks,
  withAuthors,
} from '../hosts/adapter.ts'
import { type BrainHook, uniqueOf } from '../hosts/hook.ts'
import type { Host, Limit } from '../hosts/host.ts'
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
  /** Notes for the user. */
  readonly notes: readonly string[]
  /** Authors that have hooks there and are none of the roles that we know. */
  readonly strangers: readonly string[]
  /** Hooks there of roles that could not be loaded, which stay as they are. */
  readonly unread: number
  /** Why the brain could not be looked at; nothing is changed in it. */
  readonly failure?: string
}

export interface SyncRequest {
  readonly root: string
  readonly roles: readonly Role[]
  readonly targets: readonly Target[]
  /** Authors whose hooks stay as they are: linked here and not synced now, or not loaded. */
  readonly known?: readonly string[]
  /** Authors of whose hooks not all could be read: what an agent holds of them beyond those declared stays. */
  readonly partial?: readonly string[]
  /** Whether the hooks of an author that is none of these are removed; by default they stay and are reported. */
  readonly drops?: (author: string) => boolean
}

/** What would be done. Reads only. */
export async function planSync(request: SyncRequest): Promise<BrainPlan[]> {
  const { hosts } = await import('../hosts/index.ts')
  const { covered, pulledIn, forAll } = sharing(request, hosts)
  const plans: BrainPlan[] = []
  for (const { slug, adapter } of [...request.targets, ...pulledIn]) {
    if (!isOwn(adapter)) {
      plans.push(await planForeign(request, slug, adapter))
      continue
    }
    const brain = forAll.get(slug) ?? adapter.brain
    const twin = plans.find(({ config }) => config === brain.config)
    plans.push(planOwn(request, brain, covered.get(slug), twin))
  }
  return plans
}

/** Plans and does it. A failure anywhere leaves every brain as it was. `planned`: the plan, where it was made just now. */
export async function applySync(request: SyncRequest, planned?: BrainPlan[]): Promise<BrainPlan[]> {
  const first = planned ?? (await planSync(request))
  const paths = pathsOf(first)
  if (paths.length === 0 && !first.some(hasForeignChanges)) return first
  const plans = await locked(paths, async () => {
    // again, under the locks: another process may have been here in between
    const plans = await planSync(request)
    if (!pathsOf(plans).every((path) => paths.includes(path))) return null
    await write(request, plans)
    return plans
  })
  return plans ?? applySync(request)
}

const pathsOf = (plans: readonly BrainPlan[]) => plans.flatMap(({ files }) => files.map(({ path }) => path))

async function write({ targets }: SyncRequest, plans: readonly BrainPlan[]): Promise<void> {
  const undo: (() => Promise<void>)[] = []
  try {
    for (const { slug, adapter } of targets) {
      const plan = plans.find((one) => one.slug === slug)!
      if (!isOwn(adapter)) undo.push(await applyForeign(slug, adapter, plan.changes))
    }
    writeAll(plans.flatMap(({ files }) => files))
  } catch (thrown) {
    for (const back of undo.reverse()) await back()
    throw thrown
  }
}

const hasForeignChanges = ({ config, changes }: BrainPlan) => !config && changes.some(({ kind }) => kind !== 'keep')

const isOwn = (adapter: BrainHooksAdapter): adapter is OwnAdapter => 'brain' in adapter

/**
 * A config that several agents read. Where its own agent has the hooks, those that it serves get none of their own, so that
 * a hook fires once, and the hooks in it are written so that they do right by all who read it. That also holds for agents
 * that got the hooks on another day: they are pulled into the plan.
 */
function sharing({ root, roles, targets }: SyncRequest, hosts: readonly Host[]) {
  const covered = new Map<string, string>()
  const forAll = new Map<string, Host>()
  const pulledIn: Target[] = []
  const authors = roles.map(authorOf)
  const hostOf = (slug: string) => hosts.find((host) => host.slug === slug)!
  const isTarget = (slug: string) => targets.some((one) => one.slug === slug)
  const holds = (slug: string) => {
    try {
      return readHooks(hostOf(slug), root).some(({ author }) => authors.includes(author))
    } catch (thrown) {
      problemOf(thrown)
      return false // a config that nobody asked us to write and that cannot be read is not ours to complain of
    }
  }
  /** A brain that a supplier claims is its supplier's to serve. */
  const takesPart = (slug: string) => {
    const target = targets.find((one) => one.slug === slug)
    return target ? isOwn(target.adapter) : holds(slug)
  }
  const pull = (slug: string) => {
    if (!isTarget(slug)) pulledIn.push({ slug, adapter: adapterFor(hostOf(slug), root) })
  }
  for (const { slug, shared, helpers = [] } of hosts) {
    if (!shared) continue
    // once it serves others it goes on to: that they are not named today does not mean that they are gone
    const already = readText(join(root, helpers[0]!.path))?.includes(shared.marksHelper) ?? false
    const served = takesPart(slug) ? Object.keys(shared.serves).filter(takesPart) : []
    // two that share a file both hold what is in it; one is enough to take it out
    const named = served.filter(isTarget)
    for (const reader of named.length > 0 ? named : served.slice(0, 1)) {
      covered.set(reader, shared.serves[reader]!)
      pull(reader)
      if (!pulledIn.some((one) => one.slug === slug)) pull(slug)
    }
    if (already || served.length > 0 || (takesPart(slug) && shared.quietIn.some(takesPart)))
      forAll.set(slug, shared.forAll)
  }
  return { covered, pulledIn, forAll }
}

function planOwn(
  request: SyncRequest,
  brain: Host,
  coveredBy: string | undefined,
  twin: BrainPlan | undefined,
): BrainPlan {
  const { root, roles, drops = () => false, known = [] } = request
  const { text, file } = configOf(brain, root)
  const found = text === null ? [] : brain.read(text, file)
  const authors = new Set(roles.map(authorOf))
  const parts = roles.map((role) => expressible(role, brain))
  const declared = coveredBy
    ? []
    : withUnread(
        request,
        found,
        parts.flatMap(({ hooks }) => hooks),
      )
  const strangers = [...new Set(found.map(({ author }) => author))].filter(
    (author) => !authors.has(author) && !known.includes(author),
  )
  const going = new Set(strangers.filter(drops))

  const ours = found.filter(({ author }) => authors.has(author) || going.has(author))
  const standing = text === null ? () => false : brain.standing(text, file)
  const stands = (_: BrainHook, hook: BrainHook) => standing(hook)
  const changes = diffHooks(ours, declared, stands)
  const files = twin ? [] : edits(brain, root, withAuthors(found, [...authors, ...going], declared))
  const changed = changes.some(({ kind }) => kind !== 'keep')
  const starts = text === null && files.length > 0
  return {
    slug: brain.slug,
    title: brain.title,
    config: brain.config,
    changes: twin && !coveredBy ? changes.map((change) => ({ ...change, kind: 'keep' as const })) : changes,
    files,
    limits: parts.flatMap(({ limits }) => limits),
    strangers: strangers.filter((author) => !going.has(author)),
    unread: found.filter(({ author }) => known.includes(author)).length,
    notes: [
      ...(coveredBy ? [`${coveredBy}. Its hooks fire from there, once`] : []),
      ...(twin && !coveredBy ? [`reads the same file as ${twin.title}: a hook there fires once in each`] : []),
      ...(text === null ? [] : (brain.remarks?.(text, file) ?? [])),
      ...(changed && brain.afterChange ? [brain.afterChange] : []),
      ...(starts ? (brain.onStart?.(root) ?? []) : []),
    ],
  }
}

/** The declared hooks, and those that an agent holds of roles that were read in part. */
function withUnread({ partial = [] }: SyncRequest, found: readonly BrainHook[], declared: BrainHook[]): BrainHook[] {
  if (partial.length === 0) return declared
  const keys = new Set(declared.map(uniqueOf))
  return [...declared, ...found.filter((hook) => partial.includes(hook.author) && !keys.has(uniqueOf(hook)))]
}

/** A supplier's adapter may fail in any way; that does not take the other brains with it. */
async function planForeign(request: SyncRequest, slug: string, adapter: BrainHooksAdapter): Promise<BrainPlan> {
  try {
    return await foreignPlan(request, slug, adapter)
  } catch (thrown) {
    const failure = `${slug}: its adapter fails: ${messageOf(thrown)}; its hooks stay as they are`
    return { slug, title: slug, changes: [], files: [], limits: [], notes: [], strangers: [], unread: 0, failure }
  }
}

async function foreignPlan(request: SyncRequest, slug: string, adapter: BrainHooksAdapter): Promise<BrainPlan> {
  const { roles, drops = () => false, known = [] } = request
  const changes: Change[] = []
  const limits: Limit[] = []
  for (const role of roles) {
    const part = expressible(role, adapter)
    limits.push(...part.limits)
    const found = await adapter.dao.get.all({ by: { author: authorOf(role) } })
    changes.push(...diffHooks(found, withUnread(request, found, part.hooks)))
  }
  const all = await adapter.dao.get.all()
  const others = all.filter(({ author }) => ![...roles.map(authorOf), ...known].includes(author))
  const unread = all.filter(({ author }) => known.includes(author)).length
  changes.push(...others.filter(({ author }) => drops(author)).map((hook): Change => ({ kind: 'delete', hook })))
  const strangers = [...new Set(others.map(({ author }) => author))].filter((author) => !drops(author))
  return { slug, title: slug, changes, files: [], limits, notes: [], strangers, unread }
}

async function applyForeign(slug: string, adapter: BrainHooksAdapter, changes: readonly Change[]) {
  try {
    return await applyChanges(adapter, changes)
  } catch (thrown) {
    throw new Problem(`${slug}: ${messageOf(thrown)}; every agent is as it was`)
  }
}
