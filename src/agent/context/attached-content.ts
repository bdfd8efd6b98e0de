/** What comes with a prompt and was not typed: the files that it mentions, a skill's text. */
import type { Block } from '../../hooks/steps.ts'

const blocks = new WeakSet<Block>()

export function attached(text: string): Block {
  const block: Block = { type: 'text', text }
  blocks.add(block)
  return block
}

/** The user's own words, which is what hooks on a prompt are shown. */
export const typedIn = (prompt: readonly Block[]): Block[] => prompt.filter((block) => !blocks.has(block))
