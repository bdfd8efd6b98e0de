/** Asks which session to resume: with a list on a terminal, by number on plain lines. */
import type { Session } from '../../../agent/session/session.ts'
import { branchOf } from '../../../files/git-branch.ts'
import { countMessages, listSessions, type SessionSummary } from '../../../store/session/session-list.ts'
import { deleteState, setState } from '../../../store/state.ts'
import { cleanLine } from '../../render/clean.ts'
import { fromHome } from '../../render/format.ts'
import { clip } from '../../render/width.ts'
import type { Front } from '../../session/front.ts'
import { previewItems } from './preview.ts'
import { SessionFinder } from './session-finder.ts'
import { SessionListView } from './session-list-view.ts'
import { detailOf, mostMessages, titleOf } from './session-rows.ts'

const pageRows = 100
/** Plain lines show so many. */
const plainRows = 20
const titleColumns = 60

export async function pickSession(front: Front, session: Session, query: string): Promise<SessionSummary | undefined> {
  const { db, projectDir, cwd, id } = session
  const finder = (everyProject: boolean) =>
    new SessionFinder(
      (after) => listSessions(db, { projectDir: everyProject ? null : projectDir, limit: pageRows, after }),
      id,
    )
  const messages = ({ sessionId }: SessionSummary) => countMessages(db, sessionId, mostMessages)
  if (!front.openView) return pickByNumber(front, finder(false), query, messages)
  return front.openView<SessionSummary>(
    'Resume a session',
    (done, tools) =>
      new SessionListView(
        {
          ...tools,
          query,
          project: fromHome(projectDir),
          branch: branchOf(cwd),
          finder,
          messages,
          projectOf: (one) => fromHome(one.projectDir),
          preview: (one) => previewItems(db, one),
          rename({ conversationId }, text) {
            const name = cleanLine(text).trim()
            if (name === '') deleteState(db, conversationId, 'name')
            else setState(db, conversationId, 'name', name)
            return name || null
          },
        },
        done,
      ),
  )
}

async function pickByNumber(
  front: Front,
  finder: SessionFinder,
  query: string,
  messages: (one: SessionSummary) => number,
): Promise<SessionSummary | undefined> {
  finder.search(query)
  finder.look(plainRows, Number.POSITIVE_INFINITY)
  const { found } = finder
  const choices = found.map((one) => ({
    label: clip(titleOf(one), titleColumns),
    value: one,
    hint: detailOf(one, { messages: messages(one) }, titleColumns),
  }))
  if (found.length === 0) {
    if (query === '') front.notice('info', 'No other session of this project.')
    else front.notice('error', `No session matches "${query}".`)
    return undefined
  }
  if (front.interactive) {
    const chosen = await front.choose({ title: 'Resume a session (/resume WORDS narrows the list)', choices })
    return chosen?.value
  }
  for (const { label, value, hint } of choices) front.print(`${value.sessionId}  ${label} (${hint})`)
  return undefined
}
