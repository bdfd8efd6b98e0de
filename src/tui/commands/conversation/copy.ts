import { plural } from '../../render/format.ts'
import { clip } from '../../render/width.ts'
import type { Ui } from '../../session/command-context.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  const { front } = ui
  const back = args === '' ? 1 : Number(args)
  const answer = ui.answers().at(-back)
  if (!(back >= 1) || answer === undefined)
    return front.notice('error', args ? `there is no answer ${args} back` : 'There is no answer to copy yet.')
  if (!front.interactive) return front.print(answer)
  const blocks = [...answer.matchAll(/^```[^\n]*\n([\s\S]*?)^```/gm)].map((match) => match[1]!)
  const text =
    blocks.length === 0
      ? answer
      : (
          await front.choose({
            title: 'Copy what?',
            choices: [
              { label: 'The whole answer', value: answer },
              ...blocks.map((block, index) => ({
                label: `Code block ${index + 1}`,
                value: block,
                hint: clip(block.split('\n')[0]!, 50),
              })),
            ],
          })
        )?.value
  if (text !== undefined)
    front.notice(
      'info',
      (await front.copy(text)) ? `Copied ${plural(text.length, 'character')}.` : 'This terminal cannot copy.',
    )
}
