/** `ona policy suggest`: the rules that the record calls for. */

import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { type Suggestions, suggestRules } from '../../../audit/policy/suggest.ts'
import { recordedCalls } from '../../../audit/replay/recorded-calls.ts'
import { counted, grouped } from '../../../hooks/text/counted.ts'
import { readDb } from '../../../store/open.ts'
import { persistPermissionUpdates } from '../../../store/settings/settings-edit.ts'
import { command } from '../../command.ts'
import { policyOf } from '../../policy.ts'
import { failed, paint, said, saidJson, wrong } from '../../print.ts'
import { sinceMs, sinceProblem, sqlTime } from '../../since.ts'

const name = 'ona policy suggest'

const help = `ona policy suggest proposes the fewest allow rules that would have removed the most prompts, and deny rules from what was
denied. Every rule is tried on the record: one that would newly allow a call that was ever denied, or a destructive
command, is dropped. The settings are not changed, unless --apply says so.

  ona policy suggest                         from everything on record
  ona policy suggest --since 30d --agent claude --agent codex
  ona policy suggest --apply local           add the rules to .ona/settings.local.json

  --since 30d|DATE   calls of the last 30 days, or since a date
  --agent NAME       calls of this agent: ona, claude, codex, …; may be given again
  --project DIR      calls made in this folder or below it
  --limit N          at most N allow rules and N deny rules (10)
  --cwd DIR          the folder whose settings count
  --apply PLACE      add the rules to the settings: user, project or local
  --json             print the suggestions as JSON

Example:
  ona audit import && ona policy suggest
`

const places = { user: 'userSettings', project: 'projectSettings', local: 'localSettings' } as const

const flags = {
  since: 'value',
  agent: 'each',
  project: 'value',
  limit: 'value',
  cwd: 'value',
  apply: { kind: 'value', oneOf: ['user', 'project', 'local'] },
  json: 'flag',
} as const

export const run = command(name, { help, flags }, async (given) => {
  const most = Number(given.limit ?? 10)
  if (!Number.isSafeInteger(most) || most < 1)
    return wrong(name, `--limit must be a positive number, not ${given.limit}`)
  const from = given.since === undefined ? 0 : sinceMs(given.since)
  if (from === undefined) return wrong(name, sinceProblem(given.since!))
  const cwd = resolve(given.cwd ?? '.')
  const policy = await policyOf({ cwd }, { allow: [], ask: [], deny: [] })
  if ('why' in policy) return failed(policy.why)
  const db = readDb(policy.dbPath)
  let found: Suggestions
  try {
    const { agent: agents, project } = given
    const filter = { since: from === 0 ? '' : sqlTime(from), agents, project: project && resolve(project) }
    found = await suggestRules(recordedCalls(db, filter), policy, { most })
  } finally {
    db.close()
  }
  if (given.json) saidJson(found)
  else said(words(found))
  return given.apply ? await apply(found, given.apply, cwd) : 0
})

function words({ calls, prompts, suggestions, dropped, truncated }: Suggestions): string {
  const lines = [`${counted(calls, 'call')} on record; these settings prompt for ${grouped(prompts)} of them`]
  if (truncated) lines.push('there are more different calls than are compared; --since or --project narrows them')
  if (suggestions.length === 0) lines.push('no rule to suggest')
  for (const { behavior, rule, calls: count, answered, writes, agents, examples } of suggestions) {
    const effect =
      behavior === 'allow'
        ? `removes ${counted(count, 'prompt')} (${answered} approved), newly allows ${counted(writes, 'file write')}`
        : `would have denied ${counted(count, 'call')}, ${answered} of which were denied`
    lines.push(
      '',
      `${paint(behavior === 'allow' ? 'green' : 'red', `+ ${behavior}: ${rule}`)}`,
      `  ${effect}; ${agents.join(', ')}`,
    )
    for (const example of examples) lines.push(paint('dim', `  e.g. ${example}`))
  }
  if (dropped.length > 0) lines.push('', 'Not suggested:')
  for (const { rule, why } of dropped.slice(0, 10)) lines.push(paint('dim', `  ${rule}: ${why}`))
  if (suggestions.length > 0)
    lines.push(
      '',
      'To add them: ona policy suggest --apply local (or project, user)',
      'To see their effect: ona hooks replay --rule …',
    )
  return lines.join('\n')
}

async function apply({ suggestions }: Suggestions, place: keyof typeof places, cwd: string): Promise<number> {
  if (suggestions.length === 0) return 0
  const { ruleText, readRule } = await import('../../../permissions/rule.ts')
  const updates = suggestions.flatMap(({ behavior, rule }) => {
    if (!readRule(rule, behavior).ok) return []
    const [, toolName, ruleContent] = /^([^(]+)(?:\((.*)\))?$/s.exec(rule)!
    const rules = [{ toolName: toolName!, ...(ruleContent !== undefined && { ruleContent }) }]
    return [{ type: 'addRules' as const, behavior, rules, destination: places[place] }]
  })
  const home = process.env['HOME'] || homedir()
  const edited = await persistPermissionUpdates(updates, { cwd, home, env: process.env }, ruleText)
  for (const each of edited) {
    if (!each.ok) return failed(`${each.file} ${each.why}`)
    said(`${each.file}: ${counted(updates.length, 'rule')} added`)
  }
  return 0
}
