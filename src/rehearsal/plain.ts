/** The rehearsal model without a script: understands a small set of plain requests and makes real calls of them. */
import { readBack } from './answers.ts'
import { casesFor } from './cases.ts'
import type { Chat, ChatMessage, Said } from './chat.ts'
import { example } from './example.ts'
import { offeredTool } from './offered-tools.ts'
import { type Step, understand } from './requests.ts'

export function plain(chat: Chat): Said {
  if (chat.answerSchema !== undefined) return { text: JSON.stringify(example(chat.answerSchema)) }
  const { asked, since } = lastTurn(chat.messages)
  if (chat.tools.length === 0) return { text: aside(asked, chat.messages) }

  if (chat.tools.some(({ name }) => name === 'WriteTestCase')) return examined(chat)
  const [request = ''] = asked.split('\n\n', 1) // what a hook adds follows it
  const steps = [asked, request].map(understand).find((found) => found.length > 0) ?? []
  if (steps.length === 0) return introduced(chat.messages, `I do not understand that request.\n\n${guide}`)
  const results = since.filter((message) => message.role === 'tool')
  if (results.length < steps.length && !results.some(({ isError }) => isError))
    return next(steps[results.length]!, chat)
  const made = since.flatMap((message) => (message.role === 'assistant' ? message.calls : []))
  return introduced(chat.messages, readBack(made, results))
}

/** Asked to write tests from a plan. It says once which criteria are beyond it. */
function examined({ messages }: Chat): Said {
  const exam = messages.find((message) => message.role === 'user')?.text ?? ''
  const { said, passedOver } = casesFor(exam)
  const isFirst = !messages.some((message) => message.role === 'assistant')
  if (isFirst && said.calls?.length) return said
  return introduced(
    messages,
    passedOver.length > 0
      ? `I write cases only for criteria such as: \`node greet.mjs Ada\` prints "Hello, Ada!" · \`make\` exits 2 · notes.txt contains "milk" · out.txt exists. Beyond me: ${passedOver.join(', ')}.`
      : 'Every criterion has a case.',
  )
}

function next(step: Step, { messages, tools }: Chat): Said {
  if ('say' in step) return introduced(messages, step.say === 'guide' ? guide : step.say)
  if (!offeredTool(step.call, tools))
    return introduced(messages, `For that I would call ${step.call}, but this session does not offer it.`)
  return { text: step.about, calls: [{ name: step.call, input: step.input }] }
}

const disclaimer = 'I am the built-in rehearsal model, not a language model: I follow a fixed set of plain requests.'

/** Says once in a conversation what it is: in an answer, which every way of using ona shows. */
function introduced(messages: readonly ChatMessage[], text: string): { text: string } {
  const said = messages.some((message) => message.role === 'assistant' && message.text.includes(disclaimer))
  return { text: said ? text : `${disclaimer}\n\n${text}` }
}

const guide = `I understand requests such as:

- list the files in src
- read package.json
- write "hello" to notes.txt
- replace "hello" with "goodbye" in notes.txt
- run npm test
- search for TODO in src
- plan: add a greeting; test it
- todo: write it; test it
- ask an agent to list the files in docs
- call Glob {"pattern": "**/*.md"}

Join two with "then". For real work, connect a model: ona login, or docs/providers.md.`

/** The last thing the user typed, and what happened since. */
function lastTurn(messages: readonly ChatMessage[]): { asked: string; since: readonly ChatMessage[] } {
  const isRequest = (message: ChatMessage) => message.role === 'user' && withoutReminders(message.text) !== ''
  const at = messages.findLastIndex(isRequest)
  return { asked: withoutReminders(messages[at]?.text ?? ''), since: messages.slice(at + 1) }
}

/** What hooks and the agent add to a prompt is not the user's request. */
const withoutReminders = (text: string): string => text.replace(/<([a-z][a-z_-]*)\b[^>]*>[\s\S]*?<\/\1>/g, '').trim()

/** Requests that offer no tools come from the agent itself: a summary, a title, a judgement. */
function aside(asked: string, messages: readonly ChatMessage[]): string {
  if (/"ok"\s*:/.test(asked)) return '{"ok": true, "reason": "the rehearsal model has no objection"}'
  if (!/summar/i.test(asked)) return introduced(messages, 'Without tools there is nothing that I can do.').text
  const requests = messages
    .flatMap((message) => (message.role === 'user' ? [withoutReminders(message.text)] : []))
    .slice(0, -1)
    .filter((request) => request !== '')
  return `${disclaimer}\n\nRequests so far:\n${requests.map((request) => `- ${request.slice(0, 200)}`).join('\n')}`
}
