/** `ona --transition PHASE --conversation ID`: moves a conversation on, by the same path as everyone. */
import { enterTest, movePhase, verifyReport } from '../../agent/workflow.ts'
import { isPhase, phases } from '../../workflow/phases.ts'
import { reportText } from '../../workflow/report.ts'
import { readArgs } from '../args.ts'
import { openConversation } from '../conversation.ts'

const usage = `Moves a conversation to another phase, if everything that it needs is there.

  ona --transition test --conversation ID
  ona --transition done --conversation ID --approve --as "Ada Lovelace"

Phases: ${phases.join(', ')}. Entering test writes the test cases from the approved plan and runs them.
To reach done, the operator approves the report: on a terminal you are asked, elsewhere --approve --as NAME says it.
Exit code: 0 moved, 1 refused or no such conversation, 2 wrong usage.
`

export async function run(words: string[]): Promise<number> {
  if (words.includes('--help')) return say(usage)
  const args = readArgs(words, { values: ['conversation', 'as', 'cwd'], flags: ['approve'] })
  if (!args.ok) return wrong(args.why)
  const [to, ...more] = args.words
  if (to === undefined || more.length > 0) return wrong('name one phase')
  if (!isPhase(to)) return wrong(`there is no phase "${to}"; there are ${phases.join(', ')}`)
  const id = args.value('conversation')
  if (id === undefined) return wrong('say which: --conversation ID')
  if (args.has('approve') && !args.value('as')) return wrong('--approve needs --as NAME: who approves is recorded')

  const opened = await openConversation(id, args.value('cwd'))
  if ('problem' in opened) return refused(opened.problem)
  const { session, close } = opened
  try {
    if (to === 'test') {
      const tested = await enterTest(session, 'operator')
      if (!tested.ok) return refused(tested.why)
      const { generated, runs } = tested
      say(`${id}: test\n`)
      if (generated)
        say(
          `${generated.cases} cases written, ${runs.filter((each) => each.exitCode === 0).length} of ${runs.length} passed\n`,
        )
      if (generated?.why) process.stderr.write(`ona: test generation stopped: ${generated.why}\n`)
      return 0
    }
    const by = args.value('as') ?? 'operator'
    const approved = to === 'done' ? args.has('approve') || (await askApproval(session, by)) : false
    const moved = movePhase(session, to, by, approved)
    return moved.ok ? say(`${id}: ${moved.from} → ${moved.to}\n`) : refused(moved.why)
  } finally {
    await close()
  }
}

/** On a terminal the report is shown and the question asked; elsewhere nobody can answer. */
async function askApproval(session: Parameters<typeof verifyReport>[0], by: string): Promise<boolean> {
  const report = verifyReport(session)
  if (!process.stdin.isTTY || !report.ready || report.phase !== 'verify') return false
  say(`${reportText(report, { columns: process.stdout.columns, colour: !process.env['NO_COLOR'] })}\n\n`)
  const { createInterface } = process.getBuiltinModule('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await lines.question(`Approve this report as ${by}? Type yes: `)
  lines.close()
  return answer.trim().toLowerCase() === 'yes'
}

function say(text: string): number {
  process.stdout.write(text)
  return 0
}

function refused(why: string): number {
  process.stderr.write(`ona: ${why}\n`)
  return 1
}

function wrong(why: string): number {
  process.stderr.write(`ona --transition: ${why}; ona --transition --help shows how\n`)
  return 2
}
