/** AskUserQuestion: lets the user choose. */
import { boolean, list, map, optional, record, string } from '../hooks/shape.ts'
import { failed, said } from './output.ts'
import { defineTool } from './tool.ts'

export const askUserQuestion = defineTool({
  name: 'AskUserQuestion',
  prompt: `Asks the user one to four questions, each with two to four options, and waits for the answers.
- Use it when the work depends on a choice that is theirs; not for what you can find out or decide yourself.
- They can always write an answer of their own, so offer no "other". Put the option you would take first and mark it "(recommended)".`,
  input: record({
    questions: list(
      record({
        question: string('The whole question'),
        header: string('A label of at most 12 characters'),
        options: list(
          record({ label: string('One to five words'), description: string('What choosing it means') }),
          undefined,
          { min: 2 },
        ),
        multiSelect: optional(boolean('Several may be chosen')),
      }),
      'One to four',
      { min: 1 },
    ),
    answers: optional(map(string(), 'Filled in by hooks: question to answer')),
  }),
  safety: 'read_only',
  summary: ({ questions }) => questions.map(({ header }) => header).join(', '),
  async run({ questions, answers }, { host }) {
    const wrong = problemIn(questions)
    if (wrong) return failed(wrong)
    const given =
      answers ?? (await host.askUser(questions.map((each) => ({ ...each, multiSelect: each.multiSelect ?? false }))))
    if (!given) return failed('The user did not answer. Continue without an answer, or say what you need and stop.')
    const answered = questions.map(({ question }) => `"${question}"="${given[question] ?? '(no answer)'}"`).join(', ')
    return said(
      `User has answered your questions: ${answered}. You can now continue with the user's answers in mind.`,
      {
        kind: 'text',
        summary: questions.map(({ header, question }) => `${header}: ${given[question] ?? '(no answer)'}`).join('\n'),
      },
    )
  },
})

function problemIn(questions: readonly { question: string; header: string; options: readonly { label: string }[] }[]) {
  if (questions.length > 4) return `questions has ${questions.length} entries; ask at most 4 at a time`
  if (new Set(questions.map(({ question }) => question)).size < questions.length) return 'two questions are the same'
  for (const [index, { header, options }] of questions.entries()) {
    if (header.length > 12) return `questions[${index}].header has ${header.length} characters; use at most 12`
    if (options.length > 4) return `questions[${index}].options has ${options.length} entries; offer at most 4`
    if (new Set(options.map(({ label }) => label)).size < options.length)
      return `questions[${index}] has two options of one label`
  }
  return undefined
}
