import { compact } from '../../../agent/context/compact.ts'
import { mostPoints, type RewindPoint, rewind, rewindPoints } from '../../../agent/session/rewind.ts'
import { addEvent } from '../../../store/audit.ts'
import { cleanLine } from '../../render/clean.ts'
import { ago, plural } from '../../render/format.ts'
import { clip } from '../../render/width.ts'
import type { Ui } from '../../session/command-context.ts'

type What = 'both' | 'conversation' | 'files' | 'summary'

export async function run(args: string, ui: Ui): Promise<void> {
  const { session, front } = ui
  const points = rewindPoints(session)
  if (points.length === 0) return front.notice('info', 'There is no prompt to go back to yet.')
  if (points.length === mostPoints) front.notice('info', `The newest ${mostPoints} prompts are listed.`)
  const label = ({ prompt }: RewindPoint) => clip(cleanLine(prompt), 60)
  const hint = ({ at, files }: RewindPoint) =>
    `${ago(at)}${files.length > 0 ? `, ${plural(files.length, 'file')} changed since` : ''}`
  if (!front.interactive && !args) {
    for (const [index, point] of points.entries()) front.print(`${index + 1}. ${label(point)} (${hint(point)})`)
    return front.print('/rewind NUMBER [conversation|files|both] goes back to before that prompt')
  }
  const [number, word] = args.split(/\s+/)
  const point = number
    ? points[Number(number) - 1]
    : (
        await front.choose({
          title: 'Go back to before which prompt?',
          filter: points.length > 9,
          choices: points.map((one) => ({ label: label(one), value: one, hint: hint(one) })),
        })
      )?.value
  if (!point)
    return number ? front.notice('error', `there is no prompt ${number}; /rewind lists ${points.length}`) : undefined
  const what = number ? ((word ?? 'conversation') as What) : await whatToRestore(point, ui)
  if (!what) return
  if (!['both', 'conversation', 'files', 'summary'].includes(what))
    return front.notice('error', `"${what}" is none of conversation, files, both`)
  await goBack(point, what, ui)
}

async function whatToRestore(point: RewindPoint, { front }: Ui): Promise<What | undefined> {
  const files: { label: string; value: What; hint?: string }[] =
    point.files.length > 0
      ? [
          { label: 'Code and conversation', value: 'both', hint: plural(point.files.length, 'file') },
          { label: 'Code only', value: 'files', hint: 'what Bash changed stays' },
        ]
      : []
  const chosen = await front.choose<What>({
    title: 'What should be put back?',
    body: [clip(cleanLine(point.prompt), 100), ...point.files.slice(0, 8)],
    choices: [
      ...files.slice(0, 1),
      { label: 'Conversation only', value: 'conversation' },
      ...files.slice(1),
      { label: 'Nothing: make a summary of all so far', value: 'summary' },
    ],
  })
  return chosen?.value
}

async function goBack(point: RewindPoint, what: What, ui: Ui): Promise<void> {
  const { session, front } = ui
  if (what === 'summary') {
    const done = await compact(session, 'manual', null)
    return done.done ? undefined : front.notice('warning', `Not compacted: ${done.why}`)
  }
  const { prompt, problems } = rewind(session, point, what)
  addEvent(session.db, {
    conversationId: session.conversationId,
    sessionId: session.id,
    type: 'rewind',
    detail: { to: point.sequence, what },
  })
  for (const problem of problems) front.notice('error', problem)
  front.notice('info', `Went back to before "${clip(cleanLine(prompt), 60)}" (${what})`)
  if (what !== 'files') front.setDraft(prompt)
}
