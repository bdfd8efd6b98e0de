/** `ona hooks replay`: what other rules and hooks would have said of the calls on record. */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { settingsHere } from '../../../agent/session/folder-settings.ts'
import { importedCalls } from '../../../audit/replay/dispatcher-calls.ts'
import { type CallFilter, type RecordedCall, recordedCalls } from '../../../audit/replay/recorded-calls.ts'
import { type Change, type Policy, replay as run, type Summary } from '../../../audit/replay/replay.ts'
import { withOwnPath } from '../../../auth/child-env.ts'
import { redact } from '../../../hooks/redact.ts'
import { sayHookProblem } from '../../../hooks/settings.ts'
import { visible } from '../../../hooks/text/visible.ts'
import { modes } from '../../../permissions/modes.ts'
import type { PermissionSettings } from '../../../permissions/question.ts'
import { type Behavior, readRule } from '../../../permissions/rule.ts'
import { dbPath, type ReadDb, readDb } from '../../../store/open.ts'
import { hooksOf } from '../../../store/settings/settings.ts'
import { builtInTool } from '../../../tools/all.ts'
import { readInput } from '../../../tools/tool.ts'
import { command } from '../../command.ts'
import { failed, paint, said, table, warned, write, wrong } from '../../print.ts'
import { sinceMs, sinceProblem, sqlTime } from '../../since.ts'

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
  --cwd DIR            the folder whose settings count

The calls (without any: all of them):
  --since 30d|DATE     of the last 30 days (or 12h, 2w), or since a date such as 2026-10-15
  --conversation ID    of this conversation
  --agent NAME         of this agent: ona, dispatcher, claude, codex, …; may be given again
  --project DIR        made in this folder or below it
  --tool NAME          of this tool

  --limit N            show the newest N changes (50)
  --fail-on-change     exit 1 when any call would have come out otherwise
  --json               one line of JSON, with every change

Exit code: 0 done, 1 it failed or, with --fail-on-change, something changed, 2 wrong usage.
`

const flags = {
  settings: 'value',
  rule: 'each',
  hook: 'each',
  mode: { kind: 'value', oneOf: modes },
  'run-commands': 'flag',
  cwd: 'value',
  since: 'value',
  conversation: 'value',
  agent: 'each',
  project: 'value',
  tool: 'value',
  limit: 'value',
  'fail-on-change': 'flag',
  json: 'flag',
} as const

const name = 'ona hooks replay'

export const replay = command(name, { help, flags }, async (given) => {
  const limit = Number(given.limit ?? 50)
  if (!Number.isSafeInteger(limit) || limit < 1)
    return wrong(name, `--limit must be a number of rows, not ${given.limit}`)
  const from = given.since === undefined ? 0 : sinceMs(given.since)
  if (from === undefined) return wrong(name, sinceProblem(given.since!))
  const since = from === 0 ? '' : sqlTime(from)
  const rules = readRules(given.rule ?? [])
  if ('why' in rules) return wrong(name, rules.why)
  const policy = await policyOf(given, rules)
  if ('why' in policy) return failed(policy.why)
  const db = readDb(policy.dbPath)
  try {
    const { conversation, tool, agent: agents, project } = given
    if (conversation !== undefined && !db.get('SELECT 1 FROM conversations WHERE id = ?', conversation))
      return failed(`there is no conversation ${conversation}`)
    const calls = withProgress(
      allCalls(db, { since, conversation, tool, agents, project: project && resolve(project) }),
    )
    const changed = (given.json ? await inJson(calls, policy) : await inWords(calls, policy, limit)) > 0
    return changed && given['fail-on-change'] ? 1 : 0
  } finally {
    db.close()
  }
})

function* allCalls(db: ReadDb, filter: CallFilter): Generator<RecordedCall> {
  yield* recordedCalls(db, filter)
  if (!filter.agents || filter.agents.includes('dispatcher')) yield* importedCalls(db, filter)
}

type Rules = Record<Behavior, string[]>

function readRules(texts: readonly string[]): Rules | { why: string } {
  const rules: Rules = { allow: [], ask: [], deny: [] }
  for (const text of texts) {
    const [, word, rule] = /^(allow|ask|deny):(.*)$/s.exec(text) ?? []
    if (word === undefined)
      return { why: `--rule ${text}: write allow:, ask: or deny: before the rule, as in deny:Bash(rm *)` }
    const read = readRule(rule, word as Behavior)
    if (!read.ok) return { why: `--rule ${text}: ${read.why}` }
    if (read.warning) warned(`--rule ${text}: ${read.warning}`)
    rules[word as Behavior].push(rule!)
  }
  return rules
}

interface Given {
  readonly settings?: string
  readonly hook?: readonly string[]
  readonly mode?: Policy['mode']
  readonly cwd?: string
  readonly 'run-commands'?: true
}

/** The settings are read and not imported, so that asking changes nothing. */
async function policyOf(given: Given, rules: Rules): Promise<Policy | { why: string }> {
  const { settings: file, hook: files = [], cwd } = given
  const loaded = settingsHere({
    cwd: resolve(cwd ?? '.'),
    lookOnly: true,
    ...(file !== undefined && { flags: { settings: resolve(file), bare: true } }),
  })
  const hooks = hooksOf(loaded)
  const faults = [
    ...loaded.problems.map((problem) => `${problem.file}: ${problem.why}`),
    ...hooks.problems.filter(({ level }) => level === 'error').map(sayHookProblem),
  ]
  if (faults.length > 0) return { why: faults.join('\n') }
  for (const warning of [...loaded.warnings, ...hooks.problems.map(sayHookProblem)]) warned(warning)
  const handlers = [...hooks.handlers]
  for (const each of files) {
    const { hooksOfFile } = await import('../../../store/settings/hook-file.ts')
    const read = hooksOfFile(resolve(each))
    if ('why' in read) return read
    handlers.push(...read.handlers)
  }
  const of = (loaded.settings.permissions ?? {}) as PermissionSettings
  const permissions: PermissionSettings = {
    ...of,
    allow: [...(of.allow ?? []), ...rules.allow],
    ask: [...(of.ask ?? []), ...rules.ask],
    deny: [...(of.deny ?? []), ...rules.deny],
  }
  return {
    permissions,
    mode: given.mode ?? permissions.defaultMode ?? 'default',
    handlers,
    home: process.env['HOME'] || homedir(),
    dbPath: dbPath(),
    env: withOwnPath(process.env),
    runCommands: given['run-commands'] === true,
    tool: known,
  }
}

/** Of a tool that is not built in, nothing is known but its name. */
const known: Policy['tool'] = (tool, input, cwd) => {
  const found = builtInTool(tool)
  if (!found) return { input, safety: 'mutating', brought: !tool.startsWith('mcp__') }
  const read = readInput(found, input, cwd)
  const whole = read.ok ? read.input : input
  return {
    input: whole,
    safety: typeof found.safety === 'function' ? found.safety(whole) : found.safety,
    brought: false,
  }
}

/** On a terminal, a count now and then. */
function* withProgress(calls: Iterable<RecordedCall>): Generator<RecordedCall> {
  const { stderr } = process
  let count = 0
  let told = Date.now()
  for (const call of calls) {
    yield call
    if (++count % 1000 !== 0 || !stderr.isTTY || Date.now() - told < 500) continue
    told = Date.now()
    stderr.write(`\r${count.toLocaleString('en')} calls …`)
  }
  if (stderr.isTTY) stderr.write('\r\u001b[K')
}

async function inJson(calls: Iterable<RecordedCall>, policy: Policy): Promise<number> {
  let changes = 0
  write('{"changes":[')
  const summary = await run(calls, policy, ({ call, was, would, because }) => {
    const { at, conversationId, sessionId, toolUseId, tool, input } = call
    const shown = JSON.parse(redact(JSON.stringify(input)))
    const about = { at, conversation: conversationId, session: sessionId, tool_use_id: toolUseId, tool, input: shown }
    write(`${changes++ === 0 ? '' : ','}${JSON.stringify({ ...about, was, would_be: would, because })}`)
  })
  const { calls: judged, same, newlyDenied, newlyAsked, newlyAllowed, notJudged, notAsked, failed } = summary
  const counts = {
    calls: judged,
    same,
    newly_denied: newlyDenied,
    newly_asked: newlyAsked,
    newly_allowed: newlyAllowed,
  }
  write(`],${JSON.stringify({ ...counts, not_judged: notJudged, not_asked: notAsked, failed }).slice(1)}\n`)
  return changes
}

async function inWords(calls: Iterable<RecordedCall>, policy: Policy, limit: number): Promise<number> {
  let changes = 0
  const newest: Change[] = []
  const summary = await run(calls, policy, (change) => {
    changes++
    newest.push(change)
    if (newest.length > 2 * limit) newest.splice(0, newest.length - limit)
  })
  const shown = newest.slice(-limit)
  said(summed(summary))
  if (shown.length > 0) said(`\n${table(['when', 'tool', 'input', 'was → would be', 'because'], rowsOf(shown))}`)
  if (changes > shown.length)
    said(`The newest ${shown.length} of ${changes} changes; --limit N shows more, --json all.`)
  return changes
}

function summed(summary: Summary): string {
  const { calls, same, newlyDenied, newlyAsked, newlyAllowed, notJudged, notAsked, failed } = summary
  const counts = [
    ...[['calls', calls] as const, ['the same', same] as const, ['newly denied', newlyDenied] as const],
    ...[['newly asked', newlyAsked] as const, ['newly allowed', newlyAllowed] as const],
  ]
  const width = calls.toLocaleString('en').length
  const lines = counts.map(([what, count]) => {
    const line = `${count.toLocaleString('en').padStart(width)} ${what}`
    return what.startsWith('newly') && count > 0 ? paint('yellow', line) : line
  })
  if (notJudged > 0) lines.push(`${times(notJudged)} came to no judgement then, and were left out`)
  for (const { hook, calls: count } of notAsked)
    lines.push(`not asked about ${times(count)}: ${visible(hook)} (${whyNot(hook)})`)
  for (const { hook, calls: count, why } of failed)
    lines.push(paint('red', `failed on ${times(count)}: ${visible(hook)}: ${visible(why)}`))
  return `${lines.join('\n')}\n`
}

const times = (count: number): string => (count === 1 ? '1 call' : `${count.toLocaleString('en')} calls`)
const whyNot = (hook: string): string =>
  hook.startsWith('prompt:') ? 'it asks a model, and a replay does not' : 'it is a program; --run-commands runs it'

function rowsOf(changes: readonly Change[]): string[][] {
  const tools = changes.map(({ call: { tool } }) => cut(visible(tool), 20))
  // What is left of a line after times, names and words: most of it for why, the rest for what was called.
  const room = Math.max((process.stdout.columns ?? 160) - 38 - Math.max(...tools.map(({ length }) => length)), 24)
  return changes.map(({ call: { at, tool, input }, was, would, because: { by, name: who, reason } }, index) => {
    const about = redact(builtInTool(tool)?.summary(input) ?? JSON.stringify(input))
    const why = by === 'mode' ? reason : by === 'rule' ? who : `${who}: ${reason}`
    const called = cut(visible(about), Math.floor(room * 0.45))
    return [at.slice(0, 16), tools[index]!, called, `${was} → ${would}`, cut(visible(why), Math.floor(room * 0.55))]
  })
}

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text)
