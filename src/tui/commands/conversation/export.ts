import { resolve } from 'node:path'
import { writeAtomic } from '../../../files/atomic-write.ts'
import type { Message } from '../../../providers/model.ts'
import type { Ui } from '../../session/command-context.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  const { session, front } = ui
  const text = asText(session.messages)
  if (args) return write(args, text, ui)
  if (!front.interactive) return front.print(text)
  const chosen = await front.choose<'copy' | 'file'>({
    title: 'Export the conversation',
    choices: [
      { label: 'Copy it', value: 'copy' },
      { label: 'Write a file', value: 'file', text: `ona-${session.id.slice(0, 8)}.txt` },
    ],
  })
  if (chosen?.value === 'copy')
    front.notice('info', (await front.copy(text)) ? 'Copied.' : 'This terminal cannot copy; /export FILE')
  if (chosen?.value === 'file') write(chosen.text?.trim() || `ona-${session.id.slice(0, 8)}.txt`, text, ui)
}

function write(name: string, text: string, { session, front }: Ui): void {
  const file = resolve(session.cwd, name)
  try {
    writeAtomic(file, text, { mode: 0o600 })
  } catch (cause) {
    front.notice('error', `${name} cannot be written: ${(cause as Error).message}`)
    return
  }
  front.notice('info', `Wrote ${file}`)
}

export const asText = (messages: readonly Message[]): string =>
  messages
    .flatMap(({ role, content }) =>
      content.map((block) => {
        if (block.type === 'text') return `${role === 'user' ? '> ' : ''}${block.text}`
        if (block.type === 'tool_use') return `[${block.name} ${JSON.stringify(block.input)}]`
        if (block.type === 'tool_result') return `[${block.is_error ? 'error' : 'result'}: ${block.content}]`
        return '[image]'
      }),
    )
    .join('\n\n')
    .concat('\n')
