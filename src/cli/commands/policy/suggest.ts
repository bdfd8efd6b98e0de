/** `ona policy suggest`: the rules that the record calls for. */

import { resolve } from 'node:path'
import { deniedCalls } from '../../../audit/policy/denied-calls.ts'
import { type Suggestion, type Suggestions, suggestRules } from '../../../audit/policy/suggest.ts'
import { recordedCalls } from '../../../audit/replay/recorded-calls.ts'
import { counted, grouped } from '../../../hooks/text/counted.ts'
import { readDb } from '../../../store/open.ts'
import { command } from '../../command.ts'
import { unknownAgent } from '../../known-agents.ts'
import { policyOf } from '../../policy.ts'
import { failed, noted, paint, said, saidJson, wrong } from '../../print.ts'
import { openProgress } from '../../progress.ts'
import { sinceMs, sinceProblem, sqlTime } from '../../since.ts'
import { applyTo, diffFor, type Place, placeOf } from './suggest-changes.ts'

const name = 'ona policy suggest'

const help = `ona policy suggest proposes the fewest allow rules that would have removed the most prompts, and deny rules from what was
denied. Every rule is tried on the record: one that would newly allow a call that was ever denied, or a
destructive command, is dropped. Nothing is written without --apply.

  ona policy suggest                         from everything on record
  ona policy suggest --since 30d --agent claude --agent codex
  ona policy suggest --diff project          the change to .ona/settings.json as a patch
  ona policy suggest --apply local           add the rules to .ona/settings.local.json
  ona policy suggest --diff role=guardian    the deny rules as a hook of a role, for every agent

  --since 30d|DATE   calls of the last 30 days, or since a date
  --agent NAME       calls of this agent: ona, claude, codex, …; may be given again
  --project DIR      calls made in this folder or below it
  --limit N          at most N allow rules and N deny rules (10)
  --cwd DIR          the folder whose settings count
  --diff PLACE       print the change as a patch: to the settings user, project or local, or to role=NAME
  --apply PLACE      make that change
  --json             print the suggestions as JSON

Example:
  ona audit import && ona policy suggest
`

const flags = {
  since: 'value',
  agent: 'each',
  project: 'value',
  limit: 'value',
  cwd: 'value',
  diff: 'value',
  apply: 'value',
  json: 'flag',
} as const

export const run = command(name, { help, flags }, async (given) => {
  const most = Number(given.limit ?? 10)
  if (!Number.isSafeInteger(most) || most < 1)
    return wrong(name, `--limit must be a positive number, not ${given.limit}`)
  const from = given.since === undefined ? 0 : sinceMs(given.since)
  if (from === undefined) return wrong(name, sinceProblem(given.since!))
  const [shown, applied] = [given.diff, given.apply].map((text) => (text === undefined ? undefined : placeOf(text)))
  const unknown = shown === 'unknown' ? given.diff : applied === 'unknown' ? given.apply : undefined
  if (unknown !== undefined)
    return wrong(name, `unknown place "${unknown}"; there are user, project, local and role=NAME`)
  const stranger = given.agent && (await unknownAgent(given.agent))
  if (stranger) return wrong(name, stranger)
  const cwd = resolve(given.cwd ?? '.')
  const policy = await policyOf({ cwd }, { allow: [], ask: [], deny: [] })
  if ('why' in policy) return failed(policy.why)
  const db = readDb(policy.dbPath)
  let found: Suggestions
  try {
    const { agent: agents, project } = given
    const filter = { since: from === 0 ? '' : sqlTime(from), agents, project: project && resolve(project) }
    found = await suggestRules(withProgress(recordedCalls(db, filter)), policy, { most, denied: deniedCalls(db) })
  } finally {
    db.close()
  }
  const place = shown as Place | undefined
  if (given.json) saidJson({ ...found, ...(place && { diff: await diffFor(found.suggestions, place, cwd) }) })
  else said(place ? await diffFor(found.suggestions, place, cwd) : words(found))
  if (applied === undefined) return 0
  const done = await applyTo(found.suggestions, applied as Place, cwd)
  if ('why' in done) return failed(done.why)
  for (const file of done.files) noted(`wrote ${file}`)
  if (done.files.length === 0) noted('nothing to change')
  return 0
})

function* withProgress<T>(calls: Iterable<T>): Generator<T> {
  const progress = openProgress()
  let count = 0
  for (const call of calls) {
    if (++count % 100 === 0) progress.show(counted(count, 'call'))
    yield call
  }
  progress.end()
}

function words({ calls, prompts, edits, suggestions, dropped, truncated }: Suggestions): string {
  const lines = [`${counted(calls, 'call')} on record; these settings prompt for ${grouped(prompts)} of them`]
  if (edits > 0)
    lines.push(
      `${counted(edits, 'prompt')} about files of the project: the mode acceptEdits answers for you, no rule is suggested`,
    )
  if (truncated) lines.push('there are more different calls than are compared; --since or --project narrows them')
  if (suggestions.length === 0) lines.push('no rule to suggest')
  for (const each of suggestions) {
    const { behavior, rule, agents, examples } = each
    lines.push('', paint(behavior === 'allow' ? 'green' : 'red', `+ ${behavior}: ${rule}`))
    lines.push(`  ${effect(each)}; ${agents.join(', ')}`)
    for (const example of examples) lines.push(paint('dim', `  e.g. ${example}`))
  }
  if (dropped.length > 0) lines.push('', 'Not suggested:')
  for (const { rule, why } of dropped.slice(0, 10)) lines.push(paint('dim', `  ${rule}: ${why}`))
  if (dropped.length > 10) lines.push(paint('dim', `  and ${dropped.length - 10} more; --json prints all`))
  if (suggestions.length > 0)
    lines.push(
      ...['', 'As a patch:  ona policy suggest --diff local (or project, user, role=NAME)'],
      'To add them: ona policy suggest --apply local (or project, user, role=NAME)',
      'Each call:   ona hooks replay --rule …',
    )
  return lines.join('\n')
}

const effect = ({ behavior, calls, answered, writes }: Suggestion): string =>
  behavior === 'allow'
    ? `removes ${counted(calls, 'prompt')} (${answered} approved), newly allows ${counted(writes, 'file write')} and nothing that was ever denied`
    : `would have denied ${counted(calls, 'call')}, ${answered} of which ${answered === 1 ? 'was' : 'were'} denied`
