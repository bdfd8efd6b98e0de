/** Prompts of MCP servers as slash commands: `/mcp__server__prompt words`. */
import type { Session } from '../agent/session.ts'
import type { Ui } from './ui.ts'

/** The part of an MCP hub that has prompts; a hub without them offers none. */
interface PromptSide {
  prompts(): readonly {
    readonly name: string
    readonly description: string
    readonly arguments: readonly { readonly name: string; readonly required: boolean }[]
  }[]
  prompt(
    name: string,
    words: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly content: string; readonly isError: boolean }>
}

const promptsOf = (session: Session): PromptSide | undefined => {
  const hub = session.runtime.mcp as Partial<PromptSide> | undefined
  return hub?.prompts && hub.prompt ? (hub as PromptSide) : undefined
}

export const mcpCommands = (session: Session): { name: string; summary: string; from: string }[] =>
  (promptsOf(session)?.prompts() ?? []).map(({ name, description, arguments: wanted }) => ({
    name,
    summary: `${description}${wanted.length > 0 ? ` (${wanted.map((one) => (one.required ? `<${one.name}>` : `[${one.name}]`)).join(' ')})` : ''}`,
    from: 'MCP',
  }))

/** False: there is no such prompt. */
export async function runMcpPrompt(ui: Ui, name: string, args: string): Promise<boolean> {
  const side = promptsOf(ui.session)
  if (!side?.prompts().some((one) => one.name === name)) return false
  const words = [...args.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3]!)
  const answer = await side.prompt(name, words, ui.session.signal)
  if (answer.isError) ui.front.notice('error', answer.content)
  else await ui.submit(answer.content)
  return true
}
