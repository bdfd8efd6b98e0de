/** `ona init`: links roles into this repository and writes their hooks into the agents that are used in it. */
import { homedir } from 'node:os'
import { applySync, type BrainPlan, planSync, type SyncRequest } from '../../../brains/plan.ts'
import { planDiff, planJson, planText } from '../../../brains/report.ts'
import { type FoundRole, findRoles } from '../../../brains/roles/find.ts'
import { type Init, initsOf, runInit } from '../../../brains/roles/inits.ts'
import { linkRole, unlinkRole } from '../../../brains/roles/link.ts'
import { orphansOf } from '../../../brains/roles/orphans.ts'
import { unlinkSign, wantedRoles } from '../../../brains/roles/wanted.ts'
import { detectedTargets, namedTargets, repositoryOf } from '../../../brains/targets.ts'
import { Problem } from '../../../files/problem.ts'
import { visible } from '../../../hooks/text/visible.ts'
import type { FlagsOf } from '../../args.ts'
import { command } from '../../command.ts'
import { said, saidJson, warned, wrong } from '../../print.ts'

const help = `ona init: link roles into this repository and write their hooks into the agents used in it.

  ona init --roles mechanic                        link the role and run its inits; no hooks
  ona init --roles mechanic --hooks                the same, and the hooks of all linked roles into every agent found here
  ona init --roles mechanic --hooks claudecode opencode
  ona init --hooks                                 hooks of the roles that are linked already
  ona init --roles +mechanic -painter --hooks      link one, unlink another
  ona init --hooks --dry-run                       what would change, as a diff; writes nothing
  ona init --check                                 exit 1 where an agent differs from the roles; for CI

  --roles R...    roles: mechanic, or repo=acme/role=mechanic where two have one name; -mechanic unlinks
  --hooks [B...]  agents: claudecode, opencode, vscode, copilot, gemini, codex, cursor, ona; none: those that this
                  repository shows signs of
  --dry-run       print the plan and the diff, write nothing
  --check         print the plan, write nothing, exit 1 when something would change; alone it means --hooks --check
  --strict        exit 1, and write nothing, when a hook cannot be expressed as declared
  --prune         also remove hooks of roles that are declared and not linked here
  --trust         trust this folder: run the roles' inits without asking
  --json          the plan as JSON
`

const names = { kind: 'any', split: (word: string) => word.split(',').filter(Boolean) } as const
const flags = {
  roles: names,
  hooks: names,
  'dry-run': 'flag',
  check: 'flag',
  strict: 'flag',
  prune: 'flag',
  trust: 'flag',
  json: 'flag',
} as const
type Flags = FlagsOf<typeof flags>

const initWith = command('ona init', { help, flags, words: 1 }, (given, [word]) => {
  const wrongly = (why: string) => wrong('ona init', why)
  if (word !== undefined) return wrongly(`unexpected argument "${word}"; roles follow --roles, agents follow --hooks`)
  if (given.roles?.length === 0) return wrongly('--roles needs the name of a role')
  const checksAll = given.check === true && !given.roles && !given.hooks
  if (!given.roles && !given.hooks && !checksAll) return wrongly('say --roles, --hooks or both')
  return init(checksAll ? { ...given, hooks: [] } : given)
})

export const run = (words: string[]) => initWith(withUnlinks(words))

/** `-mechanic` after --roles names a role to unlink, which the reader of flags would take for a flag. */
function withUnlinks(words: readonly string[]): string[] {
  let inRoles = false
  return words.map((word) => {
    if (inRoles && /^-[\w@]/.test(word) && word !== '-h') return `${unlinkSign}${word.slice(1)}`
    if (word.startsWith('-')) inRoles = word === '--roles'
    return word
  })
}

/** `--hooks` without a name: every agent that the repository shows signs of. */
async function init(flags: Flags): Promise<number> {
  const { roles: words, hooks: slugs, json, check = false, 'dry-run': dryRun = false } = flags
  const root = repositoryOf(process.cwd())
  const say = (text: string) => json || said(text)
  if (flags.trust && !dryRun && !check)
    (await import('../../../store/settings/trust.ts')).trust(root, { home: homedir() })
  if (!dryRun && !check) {
    const { requireOperator } = await import('../../../store/operator.ts')
    requireOperator('changing roles and the hooks of agents', { home: homedir(), folder: root })
  }
  const warnOnce = once(warned)
  const all = await findRoles(root, { runCode: true })
  const wanted = wantedRoles(words ?? [], all)
  const stays = ({ author }: FoundRole) => !wanted.unlink.includes(author)
  const linked = [...new Set([...all.roles.filter((role) => role.linked), ...wanted.link])].filter(stays)

  // everything that can be rejected is rejected before anything is done
  const found =
    slugs &&
    (slugs.length > 0
      ? { targets: await namedTargets(slugs, root, warnOnce), without: [], inHome: [] }
      : await detectedTargets(root, warnOnce))
  const orphans = await orphansOf(root, all, { prune: flags.prune === true, unlinked: wanted.unlink })
  const request: SyncRequest = {
    root,
    roles: linked.map(({ role }) => role),
    targets: found?.targets ?? [],
    known: all.failed.map(({ author }) => author).filter((author) => !wanted.unlink.includes(author)),
    partial: linked.filter(({ faults }) => faults.length > 0).map(({ author }) => author),
    drops: orphans.drops,
  }
  const plans = found ? await planSync(request) : []
  const warnings = linked.flatMap((role) => role.warnings)
  const faults = linked.flatMap((role) => role.faults)
  const short = warnings.length + faults.length
  const limits = flags.strict ? plans.reduce((sum, plan) => sum + plan.limits.length, short) : 0
  const writes = !dryRun && !check && limits === 0

  if (words && writes) {
    await runInits(root, wanted.link, flags, () => {
      for (const role of wanted.link) say(`${role.author}  ${linkRole(root, role).folder}  (${role.source})\n`)
      for (const author of wanted.unlink) say(`${author}  ${unlinkRole(root, author).folder} removed\n`)
    })
  }
  if (found) {
    for (const slug of found.without) warned(`${slug} is used here, and there is no adapter for it`)
    for (const { slug, sign } of found.inHome)
      say(`${slug} is on this machine (${sign}), and nothing in this repository uses it: ona init --hooks ${slug}\n`)
    if (found.targets.length === 0)
      say('no agent was found in this repository; name one: ona init --hooks claudecode\n')
    else if (linked.length + all.failed.length === 0)
      say('no role is linked here; ona init --roles NAME --hooks links one, ona role new NAME creates one\n')
  }
  const done = found && writes ? await applySync(request, words ? undefined : plans) : plans
  say(planText(done))
  if (dryRun) say(await planDiff(done, root))

  // without --hooks only the named roles count, and they could be loaded
  const failed = found ? all.failed.filter(({ author }) => !wanted.unlink.includes(author)) : []
  const left = faults.map((why) => `${why}; the hook is left out`)
  const broken = done.flatMap(({ failure }) => failure ?? [])
  const problems = [...left, ...(found ? [...all.problems, ...orphans.kept(), ...broken] : [])]
  if (json) {
    const shown = linked.map(({ author, source }) => ({ author, source }))
    saidJson({ root, roles: shown, brains: planJson(done, root), failed, problems, warnings })
  }
  for (const { author, why } of failed) warned(`${author} cannot be loaded, so its hooks stay as they are: ${why}`)
  for (const author of all.gone.filter((one) => !wanted.unlink.includes(one)))
    warned(
      `${author} is linked and nothing declares it any more; ona init --roles -${author.replace(/.*role=/, '')} unlinks it`,
    )
  for (const warning of [...problems, ...warnings]) warned(warning)
  if (limits > 0) warned(`--strict: ${limits} of these cannot be expressed as declared; nothing was written`)
  const drifts = check && done.some(differs)
  if (drifts) warned('the agents differ from the roles; run ona init --hooks')
  return failed.length + problems.length + limits > 0 || drifts ? 1 : 0
}

/** Every agent asks every package; what a package says each time is reported once. */
function once(warn: (message: string) => void): (message: string) => void {
  const seen = new Set<string>()
  return (message) => {
    if (!seen.has(message)) warn(message)
    seen.add(message)
  }
}

const differs = ({ changes, files }: BrainPlan) => files.length > 0 || changes.some(({ kind }) => kind !== 'keep')

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
