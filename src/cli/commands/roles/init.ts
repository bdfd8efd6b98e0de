/** `ona init`: links roles into this repository and puts their hooks into the agents that are used in it. */
import { homedir } from 'node:os'
import { applySync, planSync, type SyncRequest, type Target } from '../../../brains/plan.ts'
import { planDiff, planJson, planText } from '../../../brains/report.ts'
import { type FoundRole, findRoles, type Roles, roleNamed } from '../../../brains/roles/find.ts'
import { type Init, initsOf, runInit } from '../../../brains/roles/inits.ts'
import { linkRole } from '../../../brains/roles/link.ts'
import { detectedTargets, namedTargets, repositoryOf } from '../../../brains/targets.ts'
import { Problem } from '../../../files/problem.ts'
import { visible } from '../../../hooks/text/visible.ts'
import type { FlagsOf } from '../../args.ts'
import { command } from '../../command.ts'
import { said, saidJson, warned, wrong } from '../../print.ts'

const help = `ona init: links roles into this repository, and puts their hooks into the agents used in it.

  ona init --roles mechanic                        link the role and run its inits; no hooks
  ona init --roles mechanic --hooks                the same, and its hooks into every agent that is found
  ona init --roles mechanic --hooks claudecode opencode
  ona init --hooks                                 hooks of the roles that are linked already
  ona init --hooks --dry-run                       what would change, as a diff; writes nothing

  --roles R...    roles: mechanic, or repo=acme/role=mechanic where two have one name
  --hooks [B...]  agents: claudecode, opencode, vscode, copilot, gemini, codex, cursor, ona; none: those found
  --dry-run       print the plan and the diff, write nothing
  --strict        exit 1, and write nothing, when an agent cannot express a hook as declared
  --prune         also take out hooks of roles that are not linked here any more
  --trust         trust this folder: run the roles' inits without asking
  --json          the plan as JSON
`

const names = { kind: 'any', split: (word: string) => word.split(',').filter(Boolean) } as const
const flags = {
  roles: names,
  hooks: names,
  'dry-run': 'flag',
  strict: 'flag',
  prune: 'flag',
  trust: 'flag',
  json: 'flag',
} as const
type Flags = FlagsOf<typeof flags>

export const run = command('ona init', { help, flags, words: 1 }, (given, [word]) => {
  const wrongly = (why: string) => wrong('ona init', why)
  if (word !== undefined) return wrongly(`"${word}" stands for nothing; roles follow --roles, agents follow --hooks`)
  if (given.roles?.length === 0) return wrongly('--roles needs the name of a role')
  if (!given.roles && !given.hooks) return wrongly('say --roles, --hooks or both')
  return init(given)
})

/** `--hooks` without a name: every brain that is found. */
async function init(flags: Flags): Promise<number> {
  const { roles: words, hooks: slugs, json, 'dry-run': dryRun = false } = flags
  const root = repositoryOf(process.cwd())
  const say = (text: string) => json || said(text)
  if (flags.trust && !dryRun) (await import('../../../store/settings/trust.ts')).trust(root, { home: homedir() })
  const all = await findRoles(root, { runCode: true })
  const roles = words ? words.map((word) => roleNamed(word, all)) : all.roles.filter(({ linked }) => linked)

  // everything that can be refused is refused before anything is done
  const found =
    slugs &&
    (slugs.length > 0 ? { targets: await namedTargets(slugs, root), without: [] } : await detectedTargets(root))
  const request = found && requestFor(root, roles, found.targets, all, flags)
  const plans = request ? await planSync(request) : []
  const limits = flags.strict ? plans.flatMap((plan) => plan.limits) : []
  const writes = !dryRun && limits.length === 0

  if (words && writes) {
    await runInits(root, roles, flags, () => {
      for (const role of roles) say(`${role.author}  ${linkRole(root, role).folder}  (${role.source})\n`)
    })
  }
  if (found) {
    for (const slug of found.without) warned(`${slug} is used here, and there is no adapter for it`)
    if (found.targets.length === 0)
      say('no agent was found in this repository or in your home folder; name one: ona init --hooks claudecode\n')
    else if (roles.length === 0)
      say('no role is linked here; ona init --roles NAME --hooks links one, ona role new NAME makes one\n')
  }
  const done = request && writes ? await applySync(request) : plans
  say(planText(done))
  if (dryRun) say(await planDiff(done, root))

  // with roles named, only theirs count; without, every linked one should have been there
  const failed = words ? [] : all.failed
  const problems = words ? [] : all.problems
  if (json) {
    const linked = roles.map(({ author, source }) => ({ author, source }))
    saidJson({ root, roles: linked, brains: planJson(done, root), failed, problems })
  }
  for (const { author, why } of failed) warned(`${author} cannot be loaded, so its hooks stay as they are: ${why}`)
  for (const problem of problems) warned(problem)
  if (limits.length > 0)
    warned(`--strict: ${limits.length} of these cannot be expressed as declared; nothing was written`)
  return failed.length + problems.length + limits.length > 0 ? 1 : 0
}

function requestFor(
  root: string,
  roles: readonly FoundRole[],
  targets: readonly Target[],
  all: Roles,
  flags: Flags,
): SyncRequest {
  const known = [...all.roles.filter(({ linked }) => linked), ...all.failed].map(({ author }) => author)
  return { root, roles: roles.map(({ role }) => role), targets, known, prune: flags.prune === true }
}

/** Links, then runs what the roles want run once. Asks before the first of them in a folder that is not trusted. */
async function runInits(root: string, roles: readonly FoundRole[], flags: Flags, link: () => void): Promise<void> {
  const inits = roles.flatMap(initsOf)
  if (inits.length > 0 && !(await mayRun(root, inits, flags)))
    throw new Problem(`these were not run, and nothing was done; --trust lets them:\n${listed(inits)}`)
  link()
  for (const [index, one] of inits.entries()) {
    const label = `[${index + 1}/${inits.length}] ${visible(one.command)}`
    process.stderr.write(`${label}\n`)
    const startedAt = performance.now()
    await runInit(root, one, (chunk) => process.stderr.write(chunk))
    process.stderr.write(`${label}: done in ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`)
  }
}

async function mayRun(root: string, inits: readonly Init[], flags: Flags): Promise<boolean> {
  const { isTrusted, trust } = await import('../../../store/settings/trust.ts')
  const places = { home: homedir() }
  if (flags.trust || isTrusted(root, places)) return true
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false
  const { createInterface } = process.getBuiltinModule('node:readline/promises')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const question = `These commands come with the roles:\n${listed(inits)}\nTrust ${root} and run them? [y/N] `
  const answer = await terminal.question(question)
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim())) return false
  trust(root, places)
  return true
}

const listed = (inits: readonly Init[]) =>
  inits.map(({ author, command }) => `  ${visible(command)}   (${author})`).join('\n')
