/** One role's hooks into one brain: what is declared is there afterwards, and what is no longer declared is gone. */
import type { BrainHooksAdapter } from '../hosts/adapter.ts'
import { type BrainHook, described, sameHook, uniqueOf } from '../hosts/hook.ts'
import type { Limit } from '../hosts/host.ts'
import { authorOf, hooksOf, type Role } from './role.ts'

export interface Change {
  readonly kind: 'create' | 'update' | 'delete' | 'keep'
  readonly hook: BrainHook
}

/** From what is found of an author to what is declared, in the order of the declaration. */
export function diffHooks(
  found: readonly BrainHook[],
  declared: readonly BrainHook[],
  same: (found: BrainHook, declared: BrainHook) => boolean = sameHook,
): Change[] {
  const before = new Map(found.map((hook) => [uniqueOf(hook), hook]))
  const after = new Set(declared.map(uniqueOf))
  const set = declared.map((hook): Change => {
    const old = before.get(uniqueOf(hook))
    return { kind: !old ? 'create' : same(old, hook) ? 'keep' : 'update', hook }
  })
  const gone = found.filter((hook) => !after.has(uniqueOf(hook)))
  return [...set, ...gone.map((hook): Change => ({ kind: 'delete', hook }))]
}

/** The role's hooks, parted into what the brain can hold and what must be said about them. */
export function expressible(
  role: Role,
  adapter: Pick<BrainHooksAdapter, 'limits'>,
): { hooks: BrainHook[]; limits: Limit[] } {
  const declared = hooksOf(role)
  const limits = declared.flatMap((hook) => adapter.limits?.(hook) ?? [])
  const dropped = new Set(limits.filter((limit) => limit.dropped).map(({ hook }) => uniqueOf(hook)))
  return { hooks: declared.filter((hook) => !dropped.has(uniqueOf(hook))), limits }
}

export async function syncRoleHooksIntoBrainRepl({
  role,
  adapter,
}: {
  role: Role
  adapter: BrainHooksAdapter
}): Promise<void> {
  const author = authorOf(role)
  const { hooks, limits } = expressible(role, adapter)
  for (const { hook, why, dropped } of limits)
    process.emitWarning(`${author}: ${described(hook)}: ${why}${dropped ? ' (left out)' : ''}`, 'BrainHookLimit')
  const { dao } = adapter
  if (dao.set.all) return dao.set.all({ author, hooks })
  await applyChanges(adapter, diffHooks(await dao.get.all({ by: { author } }), hooks))
}

/** Makes the changes one by one; what was made is undone when one of them fails. */
export async function applyChanges(
  { dao }: BrainHooksAdapter,
  changes: readonly Change[],
): Promise<() => Promise<void>> {
  const undo: (() => Promise<unknown>)[] = []
  const back = async () => {
    for (const step of undo.reverse()) await step()
  }
  try {
    for (const { kind, hook } of changes) {
      if (kind === 'keep') continue
      const old = await dao.get.one({ by: { unique: hook } })
      undo.push(() => (old ? dao.set.upsert({ hook: old }) : dao.del({ by: { unique: hook } })))
      await (kind === 'delete' ? dao.del({ by: { unique: hook } }) : dao.set.upsert({ hook }))
    }
  } catch (thrown) {
    await back()
    throw thrown
  }
  return back
}
