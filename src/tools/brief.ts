/** Brief: shows the user something at once, without waiting for an answer. */
import { record, string } from '../hooks/shape.ts'
import { failed, said } from './output.ts'
import { defineTool } from './tool.ts'

export const brief = defineTool({
  name: 'Brief',
  prompt:
    'Shows the user a short message at once, while you keep working. Use it for news that should not wait until you are done. You get no answer.',
  input: record({ message: string('The message, in Markdown') }),
  safety: 'read_only',
  summary: ({ message }) => firstLine(message),
  async run({ message }, { host }) {
    if (message.trim() === '') return failed('message is empty; write what the user should know')
    host.brief(message)
    return said(`Message delivered to user: ${firstLine(message)}`, {
      kind: 'text',
      summary: firstLine(message),
      full: message,
    })
  },
})

const firstLine = (message: string) => message.trim().split('\n')[0]!.slice(0, 200)
