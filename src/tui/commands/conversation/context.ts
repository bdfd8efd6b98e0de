import { instructionFiles } from '../../../agent/context/instructions.ts'
import { requestFor } from '../../../agent/context/prompt.ts'
import type { Message } from '../../../providers/model.ts'
import { tokens } from '../../render/format.ts'
import { glyph } from '../../render/glyphs.ts'
import { paint } from '../../render/style.ts'
import type { Ui } from '../../session/command-context.ts'

const bar = 40
/** About four characters a token. */
const about = (characters: number) => Math.ceil(characters / 4)

export async function run(_args: string, ui: Ui): Promise<void> {
  const { session, front } = ui
  const { window } = session.model
  const request = await requestFor(session, session.model.wireModel)
  const parts: [string, number][] = [
    ['system prompt', about(request.system.reduce((sum, { text }) => sum + text.length, 0))],
    ['tools', about(JSON.stringify(request.tools).length)],
    ['your words', about(sizeOf(session.messages, (block, role) => block.type === 'text' && role === 'user'))],
    [
      "the agent's words",
      about(sizeOf(session.messages, (block, role) => block.type !== 'tool_result' && role === 'assistant')),
    ],
    ['tool results', about(sizeOf(session.messages, (block) => block.type === 'tool_result'))],
  ]
  const guessed = parts.reduce((sum, [, size]) => sum + size, 0)
  // the model's own count where there is one; our guesses say how it is divided
  const used = session.contextTokens || guessed
  const share = Math.min(1, used / window)
  const filled = Math.round(share * bar)
  front.print(
    `Context: about ${tokens(used)} of ${tokens(window)} tokens (${Math.round(share * 100)}%), ${session.model.wireModel}`,
  )
  front.print(`${paint('accent', glyph.full.repeat(filled))}${paint('dim', glyph.empty.repeat(bar - filled))}`)
  for (const [name, guess] of parts) {
    const size = Math.round((guess / guessed) * used)
    front.print(`  ${name.padEnd(20)}${tokens(size).padStart(8)}  ${((size / window) * 100).toFixed(1).padStart(5)}%`)
  }
  front.print(`  ${'free'.padEnd(20)}${tokens(Math.max(0, window - used)).padStart(8)}`)
  for (const { file_path } of instructionFiles(session)) front.print(paint('dim', `  instructions: ${file_path}`))
  if (share > 0.7) front.notice('warning', '/compact makes the conversation a summary; /clear starts a new one')
}

type Block = Message['content'][number]

const sizeOf = (messages: readonly Message[], counts: (block: Block, role: Message['role']) => boolean): number =>
  messages.reduce(
    (sum, { role, content }) =>
      sum +
      content.filter((block) => counts(block, role)).reduce((size, block) => size + JSON.stringify(block).length, 0),
    0,
  )
