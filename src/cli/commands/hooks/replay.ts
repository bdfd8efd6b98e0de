/** `ona hooks replay`: what other rules and hooks would have said of the calls on record. */
import { relative, resolve } from 'node:path'
import type { ChangeKind, PartResult } from '../../../audit/replay/part-result.ts'
import type { Change } from '../../../audit/replay/replay.ts'
import { databaseUrlProblem } from '../../../fleet/database-url.ts'
import { modes } from '../../../permissions/modes.ts'
import { readDb } from '../../../store/open.ts'
import { command } from '../../command.ts'
import { copyOfFleet } from '../../fleet-copy.ts'
import { unknownAgent } from '../../known-agents.ts'
import { type PolicyFlags, policyOf, readRules } from '../../policy.ts'
import { failed, noted, wrong } from '../../print.ts'
import { sinceMs, sinceProblem, sqlTime } from '../../since.ts'
import { writePage } from '../../write-page.ts'
import { inJson, inWords, type Run } from './replay-output.ts'
import { hasFunctions, runReplay, threadsFor } from './replay-run.ts'

const help = `ona hooks replay asks a policy about every tool call on record: what would it have said, and why? No tool is run, and
the database is not written to.

  ona hooks replay --rule 'deny:Bash(rm *)'          these settings and one more rule
  ona hooks replay --settings next.json --since 30d  the rules and hooks of a file, on the calls of a month
  ona hooks replay --hook guard.ts --fail-on-change  a hook in TypeScript; exit 1 when it changes anything, for CI

The policy (without any: the settings in force in this folder):
  --settings FILE      the permissions and hooks of this file, instead of those in force
  --rule WORD:RULE     one more rule, as in deny:Read(.env); may be given again
  --hook FILE.ts       the PreToolUse hooks that this file exports by defineHook; may be given again
  --mode MODE          default, acceptEdits, plan, dontAsk or bypassPermissions (default: the policy's own)
  --run-commands       ask its command and HTTP hooks too: they are programs, and are run once a call
  --trust              run the function hooks of --settings FILE although its folder is not trusted
  --cwd DIR            the folder whose settings count

Compared with (for --rule and --hook: the same policy without them, so that only what they change is shown; otherwise
what was decided at the time):
  --against-settings   what the settings in force decide today
  --against-record     what was decided at the time

The calls (without any: all of them):
  --since 30d|DATE     of the last 30 days (or 12h, 2w), or since a date such as 2026-10-15
  --conversation ID    of this conversation
  --agent NAME         of this agent: ona, dispatcher, claude, codex, …; may be given again
  --project DIR        made in this folder or below it
  --tool NAME          of this tool
  --from postgres://…  of every machine of a fleet (docs/fleet.md), instead of this one's

  --limit N            show the newest N changes (50)
  --jobs N             judge in N threads; by default one for each core, up to 4, where there are many calls and no
                       hook runs
  --fail-on-change     exit 1 when any call would be decided differently
  --fail-on WAS->WOULD exit 1 when such a change is found: allowed->denied, asked->allowed, any->denied; may be given again
  --junit FILE         write the changes as a JUnit report, for CI
  --sarif FILE         write them as SARIF, for code scanning
  --html FILE          write them as one self-contained page
  --json               one line of JSON, with every change

Exit code: 0 done, 1 it failed or a change was found that --fail-on or --fail-on-change names, 2 wrong usage.
`

const flags = {
  settings: 'value',
  rule: 'each',
  hook: 'each',
  mode: { kind: 'value', oneOf: modes },
  'run-commands': 'flag',
  trust: 'flag',
  cwd: 'value',
  'against-settings': 'flag',
  'against-record': 'flag',
  since: 'value',
  conversation: 'value',
  agent: 'each',
  project: 'value',
  tool: 'value',
  from: 'value',
  limit: 'value',
  jobs: 'value',
  'fail-on-change': 'flag',
  'fail-on': 'each',
  junit: 'value',
  sarif: 'value',
  html: 'value',
  json: 'flag',
} as const

const name = 'ona hooks replay'

export const replay = command(name, { help, flags }, async (given) => {
  const limit = Number(given.limit ?? 50)
  if (!Number.isSafeInteger(limit) || limit < 1)
    return wrong(name, `--limit must be a number of rows, not ${given.limit}`)
  const jobs = given.jobs === undefined ? undefined : Number(given.jobs)
  if (jobs !== undefined && !(Number.isSafeInteger(jobs) && jobs >= 1 && jobs <= 64))
    return wrong(name, `--jobs must be a number of threads from 1 to 64, not ${given.jobs}`)
  const from = given.since === undefined ? 0 : sinceMs(given.since)
  if (from === undefined) return wrong(name, sinceProblem(given.since!))
  const notAnAddress = given.from === undefined ? undefined : databaseUrlProblem(given.from)
  if (notAnAddress) return wrong(name, `--from: ${notAnAddress}`)
  const since = from === 0 ? '' : sqlTime(from)
  const fatal = fatalChanges([...(given['fail-on'] ?? []), ...(given['fail-on-change'] ? ['any->any'] : [])])
  if (typeof fatal === 'string') return wrong(name, fatal)
  const unknown = given.agent && (await unknownAgent(given.agent))
  if (unknown) return wrong(name, unknown)
  const rules = readRules(given.rule ?? [])
  if ('why' in rules) return wrong(name, rules.why)
  const policy = await policyOf(given, rules)
  if ('why' in policy) return failed(policy.why)
  if (given['against-settings'] && given['against-record'])
    return wrong(name, '--against-settings and --against-record exclude each other; give one of them')
  const compared = comparedWith(given)
  const baseline = compared && (await policyOf(compared, { allow: [], ask: [], deny: [] }))
  if (baseline && 'why' in baseline) return failed(baseline.why)
  if (jobs !== undefined && jobs > 1 && hasFunctions({ policy, baseline }))
    return wrong(name, '--jobs: hooks in TypeScript run in one thread; leave --jobs out')
  const copied =
    given.from === undefined
      ? undefined
      : await copyOfFleet(given.from, 'replay', {
          conversation: given.conversation,
          since: from === 0 ? undefined : new Date(from),
        })
  const db = readDb(copied?.path ?? policy.dbPath)
  try {
    const { conversation, tool, agent: agents, project } = given
    if (conversation !== undefined && !db.get('SELECT 1 FROM conversations WHERE id = ?', conversation))
      return failed(`there is no conversation ${conversation}`)
    const filter = { since, conversation, tool, agents, project: project && resolve(project) }
    const judging = { policy, baseline, filter }
    let found = false
    const kept: Change[] = []
    const reported = given.junit !== undefined || given.html !== undefined || given.sarif !== undefined
    const seen = ({ kinds, changes }: PartResult) => {
      found ||= kinds.some(fatal)
      if (reported) kept.push(...changes.slice(0, mostReported - kept.length))
    }
    const threads = threadsFor(db, jobs, judging)
    const replayed: Run = (wanted, onPart) => runReplay(db, { ...judging, threads }, wanted, onPart)
    const last = reported ? Number.POSITIVE_INFINITY : 0
    const summary = given.json ? await inJson(replayed, last, seen) : await inWords(replayed, limit, last, seen)
    const { junitReport, htmlReport, sarifReport } = await import('../../../audit/replay/report.ts')
    for (const [file, text] of [
      [given.junit, () => junitReport(summary, kept, fatal)],
      [given.html, () => htmlReport(summary, kept, baselineWords(given))],
      [
        given.sarif,
        () => sarifReport(kept, fatal, relative(process.cwd(), resolve(given.settings ?? '.ona/settings.json'))),
      ],
    ] as const) {
      const problem = file === undefined ? undefined : writePage(file, text())
      if (problem !== undefined) return failed(problem)
      if (file !== undefined) noted(`wrote ${file}`)
    }
    return found ? 1 : 0
  } finally {
    db.close()
    copied?.remove()
  }
})

interface Compared extends PolicyFlags {
  readonly rule?: readonly string[]
  readonly 'against-settings'?: true
  readonly 'against-record'?: true
}

/** The policy whose decisions changes are counted from; undefined: what was decided at the time. */
function comparedWith(given: Compared): PolicyFlags | undefined {
  const { settings, hook, rule, 'against-settings': today, 'against-record': record, ...same } = given
  if (today) return same
  if (record || (rule === undefined && hook === undefined)) return undefined
  return { ...same, ...(settings !== undefined && { settings }) }
}

function baselineWords(given: Compared): string {
  const from = comparedWith(given)
  if (from === undefined) return 'what was decided at the time'
  return from.settings === undefined ? 'the settings in force' : `the settings of ${from.settings}`
}

/** What a report holds; the counts are of all. */
const mostReported = 1000

/** `allowed->denied`: whether a change is one of those named; a text when one of them is not understood. */
function fatalChanges(named: readonly string[]): ((kind: ChangeKind) => boolean) | string {
  const wanted: { was: string | undefined; would: string | undefined }[] = []
  for (const each of named.flatMap((text) => text.split(','))) {
    const [was = '', would = '', ...rest] = each.split(/->|→/).map((word) => word.trim())
    if (rest.length > 0 || !Object.hasOwn(words, was) || !Object.hasOwn(words, would))
      return `--fail-on ${each}: write WAS->WOULD with allowed, asked, denied or any, as in allowed->denied`
    wanted.push({ was: words[was], would: words[would] })
  }
  return ({ was, would }) => wanted.some((each) => (each.was ?? was) === was && (each.would ?? would) === would)
}

const words: Readonly<Record<string, string | undefined>> = {
  ...{ allow: 'allow', allowed: 'allow', ask: 'ask', asked: 'ask', deny: 'deny', denied: 'deny', any: undefined },
}
