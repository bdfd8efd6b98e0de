import { contextUsage, type PartId } from '../../../agent/context/context-usage.ts'
import { instructionFiles } from '../../../agent/context/instructions.ts'
import { tokens } from '../../render/format.ts'
import { glyph } from '../../render/glyphs.ts'
import { paint } from '../../render/style.ts'
import type { Ui } from '../../session/command-context.ts'

const bar = 40

const labels: Record<PartId, string> = {
  system_prompt: 'system prompt',
  tools: 'tools',
  user: 'your words',
  assistant: "the agent's words",
  tool_results: 'tool results',
}

export async function run(_args: string, ui: Ui): Promise<void> {
  const { session, front } = ui
  const { window, used, parts } = await contextUsage(session)
  const share = Math.min(1, used / window)
  const filled = Math.round(share * bar)
  front.print(
    `Context: about ${tokens(used)} of ${tokens(window)} tokens (${Math.round(share * 100)}%), ${session.model.wireModel}`,
  )
  front.print(`${paint('accent', glyph.full.repeat(filled))}${paint('dim', glyph.empty.repeat(bar - filled))}`)
  for (const { id, tokens: size } of parts)
    front.print(
      `  ${labels[id].padEnd(20)}${tokens(size).padStart(8)}  ${((size / window) * 100).toFixed(1).padStart(5)}%`,
    )
  front.print(`  ${'free'.padEnd(20)}${tokens(Math.max(0, window - used)).padStart(8)}`)
  for (const { file_path } of instructionFiles(session)) front.print(paint('dim', `  instructions: ${file_path}`))
  if (share > 0.7) front.notice('warning', '/compact makes the conversation a summary; /clear starts a new one')
}
