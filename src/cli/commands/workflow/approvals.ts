/** `ona approvals list|show|approve|deny`: calls that wait for an answer. */
import { userInfo } from 'node:os'
import { type Approval, decideApproval, getApproval, listApprovals } from '../../../store/approvals.ts'
import { type Db, dbPath, openDb } from '../../../store/open.ts'
import { command, family } from '../../command.ts'
import { failed, said, saidJson, wrong } from '../../print.ts'
import type { Verb } from '../../verbs.ts'

const help = `Calls that wait for an answer, because nobody was there to give it ("approvals" in the settings).

  ona approvals list [--all] [--json]
  ona approvals show ID [--json]
  ona approvals approve ID [--as NAME] [--json]
  ona approvals deny ID [--as NAME] [--reason TEXT] [--json]

Example: ona approvals approve 3f2a91bc --as "Ada Lovelace"
After the decision, ona --resume SESSION (or ona -p --resume SESSION) continues at that call. Deny rules and hooks
judge it again. An approval that nobody decides expires. Exit code: 0 done, 1 no such approval or not yours, 2 wrong usage.
`

const list = command('ona approvals list', { help, flags: { all: 'flag', json: 'flag' } }, ({ all = false, json }) =>
  withDb((db) => {
    const found = listApprovals(db, { all })
    if (json) return saidJson(found.map(asJson))
    return said(found.length === 0 ? 'no approval is pending\n' : found.map(line).join(''))
  }),
)

const show = command('ona approvals show', { help, flags: { json: 'flag' }, words: 1 }, ({ json }, [id]) =>
  id === undefined
    ? wrong('ona approvals show', 'say which: ona approvals show ID')
    : withDb((db) => {
        const found = getApproval(db, id)
        if (!found) return failed(`there is no approval ${id}; ona approvals list shows those that wait`)
        return json ? saidJson(asJson(found)) : said(shown(found))
      }),
)

const decision = { as: 'value', reason: 'value', json: 'flag' } as const

const decide = (name: string, allow: boolean) =>
  command(name, { help, flags: decision, words: 1 }, (given, [id]) => {
    if (id === undefined) return wrong(name, `say which: ${name} ID`)
    const by = given.as ?? userInfo().username
    return withDb((db) => {
      const problem = decideApproval(db, id, { allow, by, ...(given.reason && { note: given.reason }) })
      if (problem) return failed(problem)
      const decided = getApproval(db, id)!
      if (given.json) return saidJson(asJson(decided))
      return said(
        `${decided.tool} is ${decided.status} by ${by}; ona --resume ${decided.resume} continues at that call`,
      )
    })
  })

export const run = family<Verb<'approvals'>>('ona approvals', help, {
  list,
  show,
  approve: decide('ona approvals approve', true),
  deny: decide('ona approvals deny', false),
})

function withDb(work: (db: Db) => number): number {
  const db = openDb(dbPath())
  try {
    return work(db)
  } finally {
    db.close()
  }
}

const asJson = ({ input, ...approval }: Approval) => ({ ...approval, input: JSON.parse(input) })

const line = ({ id, status, createdAt, expiresAt, tool, summary }: Approval): string =>
  `${id}  ${status.padEnd(8)}  ${createdAt}  until ${expiresAt}  ${tool} ${summary.slice(0, 80)}\n`

const shown = (each: Approval): string =>
  [
    `Approval ${each.id}, ${each.status}${each.decidedBy ? ` by ${each.decidedBy}` : ''}`,
    `Agent:   ${each.agent ?? "the session's own"}`,
    `Folder:  ${each.projectDir}`,
    ...(each.prompt ? [`Task:    ${each.prompt.slice(0, 2000)}`] : []),
    `Tool:    ${each.tool}`,
    `Input:   ${each.input}`,
    `Because: ${each.reason}`,
    `Owner:   ${each.owner ?? 'any operator'}`,
    `Created: ${each.createdAt} UTC, expires ${each.expiresAt} UTC`,
    `Resume:  ona --resume ${each.resume}`,
    ...(each.note ? [`Note:    ${each.note}`] : []),
    '',
  ].join('\n')
