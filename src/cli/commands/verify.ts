/** `ona verify`: the coverage report of a conversation, for the operator who signs it off. */
import { writeFileSync } from 'node:fs'
import { runTests, verifyReport } from '../../agent/workflow.ts'
import { reportText } from '../../workflow/report.ts'
import { readArgs } from '../args.ts'
import { openConversation } from '../conversation.ts'

const usage = `Shows what the approved plan asked for, which test cases show it, and what each of them printed.

  ona verify [--conversation ID] [--run] [--json | --html FILE]

  --run          run the cases again first
  --json         the report as JSON
  --html FILE    the report as one page

Example: ona verify --run --html report.html
Exit code: 0 everything is covered and passed, 1 something is missing, 2 wrong usage.
`

export async function run(words: string[]): Promise<number> {
  if (words.includes('--help')) {
    process.stdout.write(usage)
    return 0
  }
  const args = readArgs(words, { values: ['conversation', 'html', 'cwd'], flags: ['json', 'run'] })
  if (!args.ok || args.words.length > 0) {
    process.stderr.write(
      `ona verify: ${args.ok ? `what is "${args.words[0]}"?` : args.why}; ona verify --help shows how\n`,
    )
    return 2
  }
  const opened = await openConversation(args.value('conversation'), args.value('cwd'))
  if ('problem' in opened) {
    process.stderr.write(`ona: ${opened.problem}\n`)
    return 1
  }
  const { session, close } = opened
  try {
    if (args.has('run')) await runTests(session)
    const report = verifyReport(session)
    const file = args.value('html')
    if (file !== undefined) {
      const { reportHtml } = await import('../../workflow/report-html.ts')
      writeFileSync(file, reportHtml(report))
      process.stdout.write(`${file}: ${report.passed} of ${report.total} traced cases passed\n`)
    } else if (args.has('json')) process.stdout.write(`${JSON.stringify(report)}\n`)
    else {
      const colour = process.stdout.isTTY === true && !process.env['NO_COLOR']
      process.stdout.write(`${reportText(report, { columns: process.stdout.columns ?? 80, colour })}\n`)
    }
    return report.ready ? 0 : 1
  } finally {
    await close()
  }
}
