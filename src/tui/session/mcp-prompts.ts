/** Prompts of MCP servers as slash commands: `/mcp__server__prompt words`. */
import type { Session } from '../../agent/session/session.ts'
import type { Ui } from './command-context.ts'

export const mcpCommands = ({ runtime }: Session): { name: string; summary: string; from: string }[] =>
  (runtime.mcp?.prompts?.() ?? []).map(({ name, description, arguments: wanted }) => {
    const hints = wanted.map((one) => (one.required ? `<${one.name}>` : `[${one.name}]`)).join(' ')
    return { name, summary: `${description}${hints ? ` ${hints}` : ''}`, from: 'MCP' }
  })

/** A server that is still being connected is waited for this long. */
const connectMs = 10_000

/** False: there is no such prompt. */
export async function runMcpPrompt(ui: Ui, name: string, args: string): Promise<boolean> {
  const { mcp } = ui.session.runtime
  if (name.startsWith('mcp__')) await mcp?.ready?.(connectMs)
  if (!mcp?.prompt || !mcp.prompts?.().some((one) => one.name === name)) return false
  const words = [...args.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3]!)
  const answer = await mcp.prompt(name, words, ui.session.signal)
  if (answer.isError) ui.front.notice('error', answer.content)
  else await ui.submit(answer.content)
  return true
}
