import { enterTest, runTests } from '../../agent/workflow.ts'
import type { Ui } from '../ui.ts'

/** Enters the test phase; once in it, runs the cases again. */
export async function run(_args: string, ui: Ui): Promise<void> {
  const { session, front } = ui
  if (session.phase === 'test') {
    const runs = await runTests(session)
    front.print(
      `${runs.filter(({ exitCode }) => exitCode === 0).length} of ${runs.length} passed. /verify shows the report.`,
    )
    return
  }
  const tested = await enterTest(session, 'operator')
  ui.refresh()
  if (!tested.ok) return front.notice('error', `Still in ${session.phase}: ${tested.why}`)
  const { generated, runs } = tested
  if (generated?.why) front.notice('warning', `test generation stopped: ${generated.why}`)
  const passed = runs.filter(({ exitCode }) => exitCode === 0).length
  front.print(
    `Testing: ${generated?.cases ?? 0} cases written, ${passed} of ${runs.length} passed. /verify shows the report.`,
  )
}
