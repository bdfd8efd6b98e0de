import { askModel } from '../../../agent/model/ask-model.ts'
import type { Ui } from '../../session/command-context.ts'
import { asText } from './export.ts'

/** How much of the conversation goes along, in characters. */
const most = 200_000

export async function run(args: string, ui: Ui): Promise<void> {
  const { session, front } = ui
  if (!args) return front.notice('error', 'ask something: /btw QUESTION')
  const soFar = asText(session.messages).slice(-most)
  const answer = await askModel(
    session,
    `The conversation so far:\n\n${soFar}\n\nA question beside it: ${args}`,
    new AbortController().signal,
    'Answer the question at the end briefly, from the conversation and what you know. You have no tools. The conversation goes on without this.',
  )
  if (!answer.ok) return front.notice('error', answer.text)
  front.markdown(answer.text)
}
