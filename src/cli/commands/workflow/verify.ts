/** `ona verify`: the coverage report of a conversation, for the operator who signs it off. */

import { testAgain, testedInWords, verifyReport } from '../../../agent/workflow/workflow.ts'
import { counted } from '../../../hooks/text/counted.ts'
import { reportText } from '../../../workflow/report.ts'
import { command } from '../../command.ts'
import { openConversation } from '../../conversation.ts'
import { failed, inColour, said, saidJson, warned } from '../../print.ts'
import { writePage } from '../../write-page.ts'

const help = `Shows what the approved plan asked for, which test cases show it, and what each of them printed.

  ona verify [--conversation ID] [--run] [--rewrite C2…] [--json | --html FILE]

  --run          run the cases again first; in the test phase, those still missing are written
  --rewrite C2…  the cases of these criteria are wrong: have them rewritten, then run all
  --json         the report as JSON
  --html FILE    the report as one page

Example: ona verify --run --html report.html
Exit code: 0 everything is covered and passed, 1 something is missing, 2 wrong usage.
`

const flags = {
  conversation: 'value',
  cwd: 'value',
  html: 'value',
  json: 'flag',
  run: 'flag',
  rewrite: 'list',
} as const

export const run = command('ona verify', { help, flags }, async (given) => {
  const { conversation, cwd, html, json, run: again, rewrite } = given
  const opened = await openConversation(conversation, cwd)
  if ('problem' in opened) return failed(opened.problem)
  const { session, close } = opened
  try {
    if (again || rewrite) {
      const tested = await testAgain(session, rewrite)
      if (!tested.ok) return failed(tested.why)
      const { open } = testedInWords(tested)
      if (open) warned(open)
    }
    const report = verifyReport(session)
    if (html !== undefined) {
      const { reportHtml } = await import('../../../workflow/report-html.ts')
      const why = writePage(html, reportHtml(report))
      if (why) return failed(why)
      said(`${html}: ${report.passed} of ${counted(report.total, 'traced case')} passed`)
    } else if (json) saidJson(report)
    else said(reportText(report, { columns: process.stdout.columns ?? 80, colour: inColour() }))
    return report.ready ? 0 : 1
  } finally {
    await close()
  }
})
