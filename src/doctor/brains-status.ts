/** Which brains a repository uses, which hooks of roles they hold, and what differs from the roles. Writes nothing. */
import { homedir } from 'node:os'
import { detectWithSigns } from '../brains/detect.ts'
import { type BrainPlan, planSync, type Target } from '../brains/plan.ts'
import { findRoles } from '../brains/roles/find.ts'
import { orphansOf } from '../brains/roles/orphans.ts'
import { getBrainHooksAdapterByConfigImplicit, packagesNamed, supplierPackage } from '../brains/suppliers.ts'
import { repositoryOf } from '../brains/targets.ts'
import { messageOf } from '../files/problem.ts'
import { adapterFor } from '../hosts/adapter.ts'
import type { Host } from '../hosts/host.ts'
import { isTrusted } from '../store/settings/trust.ts'

export async function brainsHere(cwd: string) {
  const { hosts } = await import('../hosts/index.ts')
  const root = repositoryOf(cwd)
  const runCode = isTrusted(root, { home: homedir() })
  const all = await findRoles(root, { runCode })
  const { roles, failed } = all
  const orphans = await orphansOf(root, all, { prune: false, unlinked: [] })
  const linked = roles.filter((role) => role.linked)
  const problems = new Set([...all.problems, ...linked.flatMap(({ faults }) => faults)])
  const suppliers = packagesNamed(supplierPackage, root)
  if (suppliers.length > 0 && !runCode)
    problems.add(
      `${suppliers.join(', ')} may serve an agent and is not asked: this folder is not trusted; ona init --trust`,
    )
  const found = new Map((await detectWithSigns({ from: root })).map((one) => [one.slug, one]))
  const here: BrainHere[] = []
  const targets: Target[] = []
  for (const brain of hosts) {
    const { sign, inHome = false } = found.get(brain.slug) ?? {}
    const warn = (message: string) => void problems.add(message)
    try {
      const supplied = runCode && suppliers.length > 0
      const given = supplied
        ? await getBrainHooksAdapterByConfigImplicit({ slug: brain.slug, from: root, warn })
        : undefined
      const adapter = given ?? adapterFor(brain, root)
      const held = (await adapter.dao.get.all()).length
      here.push({ brain, sign, inHome, held })
      if ((sign && !inHome) || held > 0) targets.push({ slug: brain.slug, adapter })
    } catch (thrown) {
      problems.add(messageOf(thrown))
      here.push({ brain, sign, inHome, held: null })
    }
  }
  const known = failed.map(({ author }) => author)
  const partial = linked.filter(({ faults }) => faults.length > 0).map(({ author }) => author)
  const request = { root, roles: linked.map(({ role }) => role), targets, known, partial, drops: orphans.drops }
  const plans = await planSync(request)
  return { root, here, linked, plans, failed, problems: [...problems, ...orphans.kept()] }
}

export interface BrainHere {
  readonly brain: Host
  readonly sign: string | undefined
  /** Only the home folder shows it: it is suggested, never written to unless it is named. */
  readonly inHome: boolean
  /** How many hooks of roles it holds; null when that cannot be read. */
  readonly held: number | null
}

/** How many of a brain's hooks are not as declared. */
export const differing = ({ changes }: BrainPlan): number => changes.filter(({ kind }) => kind !== 'keep').length
