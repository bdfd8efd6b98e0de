import { transition } from '../transition.ts'
import type { Ui } from '../ui.ts'

/** The report is shown in the verify phase; approving it ends the cycle. */
export async function run(args: string, ui: Ui): Promise<void> {
  const { session, front } = ui
  if (session.phase !== 'verify' && !(await transition(ui, 'verify'))) return
  if (args === 'approve') return void (await transition(ui, 'done'))
  if (!front.interactive) return front.print('/verify approve ends the cycle')
  const chosen = await front.choose({
    title: 'Do you approve the report?',
    choices: [
      { label: 'Not yet', value: false, key: 'n' },
      { label: 'Yes: done', value: true, key: 'y' },
    ],
  })
  if (chosen?.value) await transition(ui, 'done')
}
