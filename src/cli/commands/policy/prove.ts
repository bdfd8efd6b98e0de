/** `ona prove`: starts each agent headless against a scripted model and shows whether the policy holds in it. */

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readApplied, statusOf } from '../../../brains/enforce/apply.ts'
import { makePolicy, policyRule, readPolicyFile } from '../../../brains/enforce/policy.ts'
import { casesFrom, control, declaredCases } from '../../../brains/prove/cases.ts'
import { whyNotMounted } from '../../../brains/prove/mounts.ts'
import { programOf } from '../../../brains/prove/programs.ts'
import type { ProofResult } from '../../../brains/prove/session.ts'
import type { Role } from '../../../brains/role.ts'
import { repositoryOf } from '../../../brains/targets.ts'
import { Problem } from '../../../files/problem.ts'
import { counted } from '../../../hooks/text/counted.ts'
import type { Host } from '../../../hosts/host.ts'
import type { PolicyRule } from '../../../hosts/managed.ts'
import type { FlagsOf } from '../../args.ts'
import { command } from '../../command.ts'
import { failed, paint, said, saidJson, warned } from '../../print.ts'
import { writePage } from '../../write-page.ts'
import { fileProblem, interpreterProblems } from './enforce.ts'

const help = `ona prove: show that the policy holds, in the agents themselves. Each agent that is installed is started headless in a
scratch folder, against a scripted model on loopback that attempts what the rules forbid. No account, no network.

  ona prove                                 every agent that is found, with the policy applied to this machine
  ona prove claudecode codex --junit report.xml
  ona prove --root ./payload                with the policy under a folder, before it is rolled out (needs bubblewrap)
  ona prove --rules policy.yaml             attempt what these rules forbid, whatever is applied
  ona prove --watch-config                  only compare digests and look for interpreters; for start-up scripts

  --root DIR      the tree that ona enforce apply --root wrote; / by default
  --rules FILE    rules to attempt; by default those of the applied policy
  --role R...     also attempt what these roles declare under proof, in a clone of this repository
  --timeout S     seconds for one run of an agent, 120 by default
  --junit FILE    also write a JUnit report
  --watch-config  start no agent
  --json          the results as JSON

Exit 1 where something went through. An agent that is not installed is reported as skipped, never as passed.
`

const flags = {
  root: 'value',
  rules: 'each',
  role: { kind: 'list', split: (word: string) => word.split(',').filter(Boolean) },
  timeout: 'value',
  junit: 'value',
  'watch-config': 'flag',
  json: 'flag',
} as const
type Flags = FlagsOf<typeof flags>

interface HostReport {
  readonly host: string
  readonly program: string | null
  readonly seconds: number
  readonly results: readonly ProofResult[]
  readonly skipped?: string
}

export const run = command('ona prove', { help, flags, words: 20 }, async (given, words) => {
  const root = resolve(given.root ?? '/')
  if (given['watch-config']) return watchConfig(root, given)
  const rules = await rulesFor(root, given)
  const { hosts, hostOf } = await import('../../../hosts/index.ts')
  const chosen = words.map((word) => {
    const host = hostOf(word)
    if (!host) throw new Problem(`unknown agent "${word}"; there are ${hosts.map(({ slug }) => slug).join(', ')}`)
    return host
  })
  const repo = repositoryOf(process.cwd())
  const roles = await rolesNamed(repo, given.role ?? [])
  const parts = [casesFrom(rules, (path) => whyNotMounted(path, root)), declaredCases(roles)]
  const skipped = parts.flatMap((part) => part.skipped)
  const attempts = parts.flatMap((part) => part.cases)
  const cases = [control, ...attempts]
  if (attempts.length === 0) return failed('no call follows from these rules, so nothing can be attempted')
  const { proveHost } = await import('../../../brains/prove/session.ts')
  const reports: HostReport[] = []
  for (const host of chosen.length > 0 ? chosen : hosts) {
    const program = programOf(host)
    if (!program || host.slug === 'cursor') {
      reports.push({ host: host.slug, program, seconds: 0, results: [], skipped: whySkipped(host) })
      continue
    }
    if (!given.json) process.stderr.write(`${host.slug}: ${counted(cases.length, 'attempt')}…\n`)
    const startedAt = performance.now()
    const results = await proveHost(host, program, cases, {
      root,
      ...(roles.length > 0 && { repo }),
      timeoutMs: Number(given.timeout ?? 120) * 1000,
    })
    reports.push({ host: host.slug, program, seconds: Math.round((performance.now() - startedAt) / 100) / 10, results })
  }
  if (given.json) saidJson({ hosts: reports, skipped })
  else show(reports, skipped)
  const unwritten = given.junit && writePage(given.junit, junit(reports))
  if (unwritten) warned(unwritten)
  const wrong = reports.flatMap(({ results }) => results).filter(isWrong)
  const silent = reports.filter(({ results }) => results.some(({ outcome }) => outcome === 'not attempted'))
  for (const { host } of silent) warned(`${host}: not every case was attempted; that is no proof`)
  if (reports.every(({ results }) => results.length === 0)) return failed('no agent was started, so nothing was shown')
  return wrong.length + silent.length > 0 || unwritten ? 1 : 0
})

/** A tool that the agent does not offer cannot be called: no proof, and no hole. */
const isWrong = ({ outcome, expect }: ProofResult) =>
  outcome !== expect && outcome !== 'not attempted' && outcome !== 'not offered'

const whySkipped = ({ slug, launch, title }: Host): string =>
  !launch
    ? `${title} has no program that runs without a screen`
    : slug === 'cursor'
      ? 'Cursor talks to its own servers only'
      : `${launch.program} is not on the PATH nor in the agents cache${launch.package ? ` (npm package ${launch.package})` : ''}`

async function rolesNamed(repo: string, words: readonly string[]): Promise<Role[]> {
  if (words.length === 0) return []
  const { findRoles, roleNamed } = await import('../../../brains/roles/find.ts')
  const found = await findRoles(repo, { runCode: true })
  return words.map((word) => roleNamed(word, found).role)
}

async function rulesFor(root: string, { rules, role }: Flags): Promise<readonly PolicyRule[]> {
  if (rules) return makePolicy(await Promise.all(rules.map(readPolicyFile)), []).rules
  const applied = readApplied(root)
  if (!applied && role) return []
  if (!applied)
    throw new Problem(
      `no policy is applied in ${root}; ona enforce apply applies one, --rules FILE names rules to attempt`,
    )
  const path = Object.keys(applied.files).find((file) => file.endsWith('/policy.json'))!
  const { permissions } = JSON.parse(readFileSync(join(root, path), 'utf8')) as {
    permissions: { deny: string[]; ask: string[] }
  }
  return [
    ...permissions.deny.map((text) => policyRule(text, 'deny')),
    ...permissions.ask.map((text) => policyRule(text, 'ask')),
  ]
}

function watchConfig(root: string, { json }: Flags): number {
  const applied = readApplied(root)
  if (!applied) return failed(`no policy is applied in ${root}`)
  const files = [...statusOf(root, applied).values()].flat()
  const problems = [
    ...files.filter(({ state }) => state !== 'applied').map(fileProblem),
    ...interpreterProblems(root, applied.files),
  ]
  if (json) saidJson({ digest: applied.digest, files: files.length, problems })
  else said(`policy ${applied.digest}: ${counted(files.length, 'file')}, ${counted(problems.length, 'problem')}`)
  for (const problem of problems) warned(problem)
  return problems.length > 0 ? 1 : 0
}

function show(reports: readonly HostReport[], skipped: readonly { name: string; why: string }[]): void {
  for (const { host, seconds, results, skipped: why } of reports) {
    if (why) said(`- ${host}: skipped: ${why}`)
    for (const { name, outcome, expect, evidence } of results) {
      const sign = outcome === expect ? paint('green', '✔') : outcome === 'not offered' ? '-' : paint('red', '✖')
      said(`${sign} ${host}: ${name}: ${outcome}  ${paint('dim', evidence.replaceAll(/\s+/g, ' ').slice(0, 120))}`)
    }
    if (results.length > 0) said(paint('dim', `  ${host}: ${seconds} s`))
  }
  for (const { name, why } of skipped) said(`- ${name}: not attempted: ${why}`)
}

function junit(reports: readonly HostReport[]): string {
  const xml = (text: string) =>
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('"', '&quot;')
      .replaceAll(/[\0-\x08\x0b-\x1f]/g, ' ')
  const suites = reports.map(({ host, seconds, results, skipped }) => {
    const cases = results.map(({ name, outcome, expect, evidence }) => {
      const body =
        outcome === expect
          ? ''
          : !isWrong({ name, outcome, expect, evidence })
            ? '<skipped/>'
            : `<failure message="${xml(outcome)}">${xml(evidence)}</failure>`
      return `    <testcase classname="${host}" name="${xml(name)}">${body}</testcase>`
    })
    if (skipped)
      cases.push(`    <testcase classname="${host}" name="start"><skipped message="${xml(skipped)}"/></testcase>`)
    const failures = results.filter(isWrong).length
    return `  <testsuite name="${host}" tests="${cases.length}" failures="${failures}" time="${seconds}">\n${cases.join('\n')}\n  </testsuite>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('\n')}\n</testsuites>\n`
}
