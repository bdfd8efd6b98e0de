/** Which brains a repository uses, which hooks of roles they hold, and what differs from the roles. Writes nothing. */
import { homedir } from 'node:os'
import { detectWithSigns } from '../brains/detect.ts'
import { type BrainPlan, planSync } from '../brains/plan.ts'
import { findRoles } from '../brains/roles/find.ts'
import { orphansOf } from '../brains/roles/orphans.ts'
import { repositoryOf } from '../brains/targets.ts'
import { Problem } from '../files/problem.ts'
import { adapterFor, readHooks } from '../hosts/adapter.ts'
import type { Host } from '../hosts/host.ts'
import { isTrusted } from '../store/settings/trust.ts'

export async function brainsHere(cwd: string) {
  const { hosts } = await import('../hosts/index.ts')
  const root = repositoryOf(cwd)
  const all = await findRoles(root, { runCode: isTrusted(root, { home: homedir() }) })
  const { roles, failed } = all
  const orphans = await orphansOf(root, all, { prune: false, unlinked: [] })
  const problems = [...all.problems]
  const linked = roles.filter((role) => role.linked)
  const signs = new Map((await detectWithSigns({ from: root })).map(({ slug, sign }) => [slug, sign]))
  const held = (brain: Host) => {
    try {
      return readHooks(brain, root).length
    } catch (thrown) {
      if (!(thrown instanceof Problem)) throw thrown
      problems.push(thrown.message)
      return null
    }
  }
  const here = hosts.map((brain) => ({ brain, sign: signs.get(brain.slug), held: held(brain) }))
  const readable = here.filter((one) => one.held !== null && (one.sign || one.held > 0))
  const targets = readable.map(({ brain }) => ({ slug: brain.slug, adapter: adapterFor(brain, root) }))
  const known = failed.map(({ author }) => author)
  const plans = await planSync({ root, roles: linked.map(({ role }) => role), targets, known, drops: orphans.drops })
  return { root, here, linked, plans, signs, failed, problems: [...problems, ...orphans.kept()] }
}

/** How many of a brain's hooks are not as declared. */
export const differing = ({ changes }: BrainPlan): number => changes.filter(({ kind }) => kind !== 'keep').length
