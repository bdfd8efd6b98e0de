/** `ona hooks brains` and `ona hooks import`: what the agents here hold, and hooks of theirs made into a role. */
import { homedir } from 'node:os'
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { adapterFor, readHooks } from '../../brains/adapter.ts'
import type { Brain } from '../../brains/brain.ts'
import { detectWithSigns } from '../../brains/detect.ts'
import { described } from '../../brains/hook.ts'
import { applyImport, planImport } from '../../brains/import.ts'
import { type BrainPlan, planSync } from '../../brains/plan.ts'
import { Problem } from '../../brains/problem.ts'
import { planDiff, planJson, planText } from '../../brains/report.ts'
import { findRoles } from '../../brains/roles/find.ts'
import { repositoryOf } from '../../brains/targets.ts'

export async function brains(words: string[]): Promise<number> {
  return command('brains', words, { json: { type: 'boolean' } }, brainsHelp, async (flags, names) => {
    if (names.length > 0) return wrong('brains', `"${names[0]}" stands for nothing`)
    const { brains: known } = await import('../../brains/known/index.ts')
    const { isTrusted } = await import('../../store/trust.ts')
    const root = repositoryOf(process.cwd())
    const { roles, failed, ...found } = await findRoles(root, { runCode: isTrusted(root, { home: homedir() }) })
    const problems = [...found.problems]
    const linked = roles.filter((role) => role.linked)
    const signs = new Map((await detectWithSigns({ from: root })).map(({ slug, sign }) => [slug, sign]))
    const held = (brain: Brain) => {
      try {
        return readHooks(brain, root).length
      } catch (thrown) {
        if (!(thrown instanceof Problem)) throw thrown
        problems.push(thrown.message)
        return null
      }
    }
    const here = known.map((brain) => ({ brain, sign: signs.get(brain.slug), held: held(brain) }))
    const readable = here.filter((one) => one.held !== null && (one.sign || one.held > 0))
    const targets = readable.map(({ brain }) => ({ slug: brain.slug, adapter: adapterFor(brain, root) }))
    const everyone = [...linked, ...failed].map(({ author }) => author)
    const plans = await planSync({ root, roles: linked.map(({ role }) => role), targets, known: everyone })
    if (flags.json) {
      const rows = planJson(plans, root).map((plan) => ({ ...plan, sign: signs.get(plan.slug) ?? null }))
      process.stdout.write(`${JSON.stringify({ root, brains: rows, failed, problems }, null, 2)}\n`)
    } else {
      for (const { brain, sign, held } of here) {
        const where = sign ? `found by ${sign}` : held ? 'not found, holds hooks of ours' : 'not here'
        const plan = plans.find(({ slug }) => slug === brain.slug)
        process.stdout.write(`${brain.slug.padEnd(11)} ${where}${plan ? `; ${stateOf(plan, held ?? 0)}` : ''}\n`)
      }
      process.stdout.write(`\n${planText(plans)}`)
      if (linked.length === 0) process.stdout.write('no role is linked here; ona role new NAME makes one\n')
    }
    for (const problem of [...failed.map(({ why }) => why), ...problems])
      process.stderr.write(`ona hooks brains: ${problem}\n`)
    return failed.length + problems.length > 0 ? 1 : 0
  })
}

function stateOf({ changes }: BrainPlan, held: number): string {
  const differing = changes.filter(({ kind }) => kind !== 'keep').length
  return `${held} installed, ${differing === 0 ? 'as declared' : `${differing} to change: ona init --hooks`}`
}

export async function importHooks(words: string[]): Promise<number> {
  return command('import', words, importOptions, importHelp, async (flags, names) => {
    const { brainOf, brains: known } = await import('../../brains/known/index.ts')
    const [word, ...more] = names
    if (!word || more.length > 0) return wrong('import', 'name one agent, as in ona hooks import claudecode')
    const brain = brainOf(word)
    if (!brain) throw new Problem(`there is no brain "${word}"; available: ${known.map(({ slug }) => slug).join(', ')}`)
    const root = repositoryOf(process.cwd())
    const slug = flags.role ?? `from-${brain.slug}`
    if (!/^\w[\w.-]*$/.test(slug)) return wrong('import', `"${slug}" cannot name a role`)
    const plan = flags['dry-run'] ? await planImport(brain, root, slug) : await applyImport(brain, root, slug)
    if (flags.json) {
      const { role: file, hooks, left } = plan
      process.stdout.write(`${JSON.stringify({ role: file, hooks, left }, null, 2)}\n`)
      return 0
    }
    process.stdout.write(`${plan.role}\n${plan.hooks.map((hook) => `  + ${described(hook)}\n`).join('')}`)
    for (const why of plan.left) process.stdout.write(`  ! left where it is: ${why}\n`)
    if (flags['dry-run']) process.stdout.write(await planDiff([{ files: plan.files } as BrainPlan], root))
    else process.stdout.write('ona init --hooks puts them into your other agents\n')
    return 0
  })
}

const importOptions = { json: { type: 'boolean' }, 'dry-run': { type: 'boolean' }, role: { type: 'string' } } as const

interface Flags {
  readonly json?: boolean
  readonly 'dry-run'?: boolean
  readonly role?: string
}
type Body = (flags: Flags, names: readonly string[]) => Promise<number>

async function command(
  name: string,
  words: string[],
  options: ParseArgsOptionsConfig,
  help: string,
  body: Body,
): Promise<number> {
  let parsed: { values: Flags & { help?: boolean }; positionals: string[] }
  try {
    parsed = parseArgs({
      args: words,
      options: { ...options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    })
  } catch (thrown) {
    return wrong(name, (thrown as Error).message.split('. ')[0]!) // parseArgs throws for what it does not know
  }
  if (parsed.values.help) {
    process.stdout.write(help)
    return 0
  }
  try {
    return await body(parsed.values, parsed.positionals)
  } catch (thrown) {
    if (!(thrown instanceof Problem)) throw thrown
    process.stderr.write(`ona hooks ${name}: ${thrown.message}\n`)
    return 1
  }
}

function wrong(name: string, why: string): number {
  process.stderr.write(`ona hooks ${name}: ${why}; ona hooks ${name} --help shows how\n`)
  return 2
}

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
