import { userInfo } from 'node:os'
import { movePhase, verifyReport } from '../../../agent/workflow/workflow.ts'
import { reportText } from '../../../workflow/report.ts'
import { colours } from '../../render/style.ts'
import type { Ui } from '../../session/command-context.ts'

/** Shows the report; approving it in the verify phase ends the cycle. */
export async function run(args: string, ui: Ui): Promise<void> {
  const { session, front } = ui
  if (session.phase === 'test') {
    const moved = movePhase(session, 'verify', 'operator')
    if (!moved.ok) front.notice('warning', `Still in test: ${moved.why}`)
  }
  const report = verifyReport(session)
  if (!report.plan) return front.print(`${report.missing}; /plan begins one`)
  front.print(...reportText(report, { columns: front.columns, colour: colours() }).split('\n'))
  ui.refresh()
  if (session.phase !== 'verify') return
  if (args === 'approve') return approve(ui)
  if (!front.interactive) return front.print('/verify approve ends the cycle')
  const chosen = await front.choose({
    title: 'Do you approve the report?',
    escape: 'leave it open',
    choices: [
      { label: 'Not yet', value: false, key: 'n' },
      { label: 'Yes: done', value: true, key: 'y' },
    ],
  })
  if (chosen?.value) approve(ui)
}

function approve(ui: Ui): void {
  const moved = movePhase(ui.session, 'done', userInfo().username, true)
  ui.refresh()
  if (!moved.ok) ui.front.notice('error', moved.why)
}
