/** `ona hooks brains` and `ona hooks import`: what the agents here hold, and hooks of theirs made into a role. */

import { homedir } from 'node:os'
import { applyImport, planImport } from '../../../brains/import.ts'
import type { BrainPlan } from '../../../brains/plan.ts'
import { planDiff, planJson, planText } from '../../../brains/report.ts'
import { repositoryOf } from '../../../brains/targets.ts'
import { type BrainHere, brainsHere, differing } from '../../../doctor/brains-status.ts'
import { described } from '../../../hosts/hook.ts'
import { requireOperator } from '../../../store/operator.ts'
import { command } from '../../command.ts'
import { failed, said, saidJson, warned, wrong } from '../../print.ts'

const brainsHelp = `ona hooks brains: which agents are here, which hooks of roles they hold, what differs from the declaration
and what they cannot express. Writes nothing.

  ona hooks brains
  ona hooks brains --json
`

const importHelp = `ona hooks import: makes a role of the hooks that you have in an agent. In the agent they become the role's;
with ona init --hooks they go into your other agents.

  ona hooks import claudecode --dry-run
  ona hooks import claudecode --role house-rules

  --role NAME   the role's name; from-claudecode and so on by default
  --dry-run     show what would be written
  --json        the role's hooks as JSON
`

export const brains = command('ona hooks brains', { help: brainsHelp, flags: { json: 'flag' } }, async ({ json }) => {
  const { root, here, linked, plans, failed, problems: found } = await brainsHere(process.cwd())
  const problems = [...found, ...plans.flatMap(({ failure }) => failure ?? [])]
  if (json) {
    const signs = new Map(here.map(({ brain, sign }) => [brain.slug, sign]))
    const rows = planJson(plans, root).map((plan) => ({ ...plan, sign: signs.get(plan.slug) ?? null }))
    saidJson({ root, brains: rows, failed, problems })
  } else {
    for (const one of here) {
      const plan = plans.find(({ slug }) => slug === one.brain.slug)
      said(`${one.brain.slug.padEnd(11)} ${whereabouts(one)}${plan ? `; ${stateOf(plan, one.held ?? 0)}` : ''}`)
    }
    said(`\n${planText(plans)}`)
    if (linked.length + failed.length === 0) said('no role is linked here; ona role new NAME makes one')
  }
  for (const problem of [...failed.map(({ why }) => why), ...problems]) warned(problem)
  return failed.length + problems.length > 0 ? 1 : 0
})

function whereabouts({ brain, sign, inHome, held }: BrainHere): string {
  if (sign && !inHome) return `found by ${sign}`
  if (held) return 'not found, holds hooks of ours'
  return sign ? `on this machine (${sign}), not in this repository: ona init --hooks ${brain.slug}` : 'not here'
}

/** "as declared" only of hooks that were compared with a declaration. */
function stateOf(plan: BrainPlan, held: number): string {
  const { slug, changes, strangers, unread } = plan
  const toChange = differing(plan)
  const compared = changes.length - toChange
  const parts = [
    `${held} installed`,
    ...(compared > 0 ? [`${compared} as declared`] : []),
    ...(toChange > 0 ? [`${toChange} to change: ona init --hooks ${slug}`] : []),
    ...(unread > 0 ? [`${unread} not compared`] : []),
    ...(strangers.length > 0 ? [`${strangers.join(', ')} not linked here`] : []),
  ]
  return parts.join(', ')
}

const importFlags = { json: 'flag', 'dry-run': 'flag', role: 'value' } as const

export const importHooks = command(
  'ona hooks import',
  { help: importHelp, flags: importFlags, words: 1 },
  async ({ json, 'dry-run': dryRun, role }, [word]) => {
    const { hostOf, hosts } = await import('../../../hosts/index.ts')
    if (!word) return wrong('ona hooks import', 'name one agent, as in ona hooks import claudecode')
    const brain = hostOf(word)
    if (!brain) return failed(`unknown agent "${word}"; available: ${hosts.map(({ slug }) => slug).join(', ')}`)
    const root = repositoryOf(process.cwd())
    const slug = role ?? `from-${brain.slug}`
    if (!/^\w[\w.-]*$/.test(slug)) return wrong('ona hooks import', `"${slug}" cannot name a role`)
    if (!dryRun) requireOperator('importing hooks', { home: homedir(), folder: root })
    const plan = dryRun ? await planImport(brain, root, slug) : await applyImport(brain, root, slug)
    if (json) return saidJson({ role: plan.role, hooks: plan.hooks, left: plan.left })
    said(`${plan.role}\n${plan.hooks.map((hook) => `  + ${described(hook)}\n`).join('')}`)
    for (const why of plan.left) said(`  ! left where it is: ${why}`)
    if (dryRun) return said(await planDiff([{ files: plan.files } as BrainPlan], root))
    return said('ona init --hooks puts them into your other agents')
  },
)
