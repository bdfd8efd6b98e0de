/** The agent asks: options to pick from, one or several, and always a line of one's own. */
import type { Question } from '../../tools/host.ts'
import { cleanLine } from '../render/clean.ts'
import type { Choice, Front } from '../session/front.ts'

const own = Symbol('own words')
type Picked = string | typeof own

export async function askQuestions(
  front: Front,
  questions: readonly Question[],
  signal: AbortSignal,
): Promise<Record<string, string> | undefined> {
  const answers: Record<string, string> = {}
  for (let at = 0; at < questions.length; ) {
    const answer = await askOne(front, questions[at]!, { number: at + 1, of: questions.length }, signal)
    if (answer === undefined) return undefined
    answers[questions[at]!.question] = answer
    at++
    if (at === questions.length && questions.length > 1) {
      const sent = await review(front, questions, answers, signal)
      if (sent === undefined) return undefined
      if (sent !== 'send') at = sent
    }
  }
  return answers
}

async function askOne(
  front: Front,
  { question, header, options, multiSelect, closed }: Question,
  place: { number: number; of: number },
  signal: AbortSignal,
): Promise<string | undefined> {
  const choices: Choice<Picked>[] = options.map(({ label, description }) => ({
    label: cleanLine(label),
    value: label,
    hint: cleanLine(description),
  }))
  const chosen = await front.choose<Picked>(
    {
      title: `${cleanLine(header)}${place.of > 1 ? ` (${place.number} of ${place.of})` : ''}`,
      question: cleanLine(question),
      choices: closed ? choices : [...choices, { label: 'Other', value: own, text: 'in your own words' }],
      multiple: multiSelect,
    },
    signal,
  )
  if (!chosen) return undefined
  const words = chosen.values.filter((value): value is string => value !== own)
  const text = chosen.values.includes(own) ? chosen.text?.trim() : undefined
  return [...words, ...(text ? [text] : [])].join(', ')
}

/** All answers at once, before they are sent; each can be changed. */
async function review(
  front: Front,
  questions: readonly Question[],
  answers: Record<string, string>,
  signal: AbortSignal,
): Promise<'send' | number | undefined> {
  const chosen = await front.choose<'send' | number>(
    {
      title: 'Your answers',
      choices: [
        { label: 'Send them', value: 'send' },
        ...questions.map(({ question }, index) => ({
          label: `Change: ${cleanLine(question)}`,
          value: index,
          hint: answers[question],
        })),
      ],
    },
    signal,
  )
  return chosen?.value
}
