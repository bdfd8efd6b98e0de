/** The rules that the last weeks in this project call for, offered one by one. */

import type { Session } from '../../../agent/session/session.ts'
import { deniedCalls } from '../../../audit/policy/denied-calls.ts'
import { type Suggestion, suggestRules } from '../../../audit/policy/suggest.ts'
import { recordedCalls } from '../../../audit/replay/recorded-calls.ts'
import { counted } from '../../../hooks/text/counted.ts'
import { readDb } from '../../../store/open.ts'
import { knownTool } from '../../../tools/known-tool.ts'

const days = 30

/** Read from the record beside the session: a long one takes a moment. */
export async function suggestionsFor({
  runtime,
  rules,
  mode,
  projectDir,
  db,
}: Session): Promise<readonly Suggestion[]> {
  const since = new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 19).replace('T', ' ')
  const record = readDb(db.path)
  try {
    const policy = {
      ...{ permissions: rules, mode, handlers: [], home: runtime.home, dbPath: db.path, env: runtime.env },
      ...{ runCommands: false, tool: knownTool },
    }
    const { suggestions } = await suggestRules(recordedCalls(record, { since, project: projectDir }), policy, {
      denied: deniedCalls(record),
    })
    return suggestions.filter(({ behavior, rule }) => !(rules[behavior] ?? []).includes(rule))
  } finally {
    record.close()
  }
}

/** What a rule would have changed. */
export const effectOf = ({ behavior, calls, answered, writes }: Suggestion): string =>
  behavior === 'allow'
    ? `removes ${counted(calls, 'prompt')} (${answered} approved), allows ${counted(writes, 'file write')}`
    : `would have denied ${counted(calls, 'call')} (${answered} ${answered === 1 ? 'was' : 'were'} denied)`
