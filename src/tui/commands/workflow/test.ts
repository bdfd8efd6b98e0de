import { enterTest, testAgain, testedInWords } from '../../../agent/workflow/workflow.ts'
import type { Ui } from '../../session/command-context.ts'

/** Enters the test phase. Once in it: writes the cases still missing, rewrites those of `/test C2`, and runs them all. */
export async function run(args: string, ui: Ui): Promise<void> {
  const { session, front } = ui
  const rewritten = args.split(/[\s,]+/).filter((word) => word !== '')
  const tested =
    session.phase === 'test' || rewritten.length > 0
      ? await testAgain(session, rewritten)
      : await enterTest(session, 'operator')
  ui.refresh()
  if (!tested.ok) return front.notice('error', `Still in ${session.phase}: ${tested.why}`)
  const { numbers, open } = testedInWords(tested)
  if (open) front.notice('warning', open)
  front.print(`${numbers}. /verify shows the report.`)
}
