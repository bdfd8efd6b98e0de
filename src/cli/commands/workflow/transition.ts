/** `ona --transition PHASE --conversation ID`: moves a conversation on, by the same path as everyone. */
import { enterTest, movePhase, testedInWords, verifyReport } from '../../../agent/workflow/workflow.ts'
import { notKnown } from '../../../hooks/text/nearest.ts'
import { isPhase, phases } from '../../../workflow/phases.ts'
import { reportText } from '../../../workflow/report.ts'
import { command } from '../../command.ts'
import { openConversation } from '../../conversation.ts'
import { failed, inColour, said, warned, wrong } from '../../print.ts'

const help = `Moves a conversation to another phase, if everything that it needs is there.

  ona --transition test --conversation ID
  ona --transition done --conversation ID --approve --as "Ada Lovelace"

Phases: ${phases.join(', ')}. Entering test writes the test cases from the approved plan and runs them.
To reach done, the operator approves the report: a terminal prompts for it; elsewhere use --approve --as NAME.
Exit code: 0 moved, 1 refused or no such conversation, 2 wrong usage.
`

const flags = { conversation: 'value', as: 'value', cwd: 'value', approve: 'flag' } as const

export const run = command('ona --transition', { help, flags, words: 1 }, async (given, [to]) => {
  const { conversation: id, as: name, approve = false } = given
  const wrongly = (why: string) => wrong('ona --transition', why)
  if (to === undefined) return wrongly('name one phase')
  if (!isPhase(to)) return wrongly(`the phase ${notKnown(to, phases)}`)
  if (id === undefined) return wrongly('say which: --conversation ID')
  if (approve && !name) return wrongly('--approve needs --as NAME: who approves is recorded')

  const opened = await openConversation(id, given.cwd)
  if ('problem' in opened) return failed(opened.problem)
  const { session, close } = opened
  try {
    if (to === 'test') {
      const tested = await enterTest(session, 'operator')
      if (!tested.ok) return failed(tested.why)
      const { numbers, open } = testedInWords(tested)
      said(`${id}: test`)
      said(numbers)
      if (open) warned(open)
      return 0
    }
    const by = name ?? 'operator'
    const approved = to === 'done' && (approve || (await askApproval(session, by)))
    const moved = movePhase(session, to, by, approved)
    return moved.ok ? said(`${id}: ${moved.from} → ${moved.to}`) : failed(moved.why)
  } finally {
    await close()
  }
})

/** On a terminal the report is shown and the question asked; elsewhere nobody can answer. */
async function askApproval(session: Parameters<typeof verifyReport>[0], by: string): Promise<boolean> {
  const report = verifyReport(session)
  if (!process.stdin.isTTY || !report.ready || report.phase !== 'verify') return false
  said(`${reportText(report, { columns: process.stdout.columns, colour: inColour() })}\n\n`)
  const { createInterface } = process.getBuiltinModule('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await lines.question(`Approve this report as ${by}? Type yes: `)
  lines.close()
  return answer.trim().toLowerCase() === 'yes'
}
