/** Every agent that we know, in the order in which it is reported. Adding one is a file and a line. */
import type { Brain } from '../brain.ts'
import { claudecode } from './claudecode.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { cursor } from './cursor.ts'
import { gemini } from './gemini.ts'
import { ona } from './ona.ts'
import { opencode } from './opencode.ts'
import { vscode } from './vscode.ts'

export const brains: readonly Brain[] = [claudecode, opencode, vscode, copilot, gemini, codex, cursor, ona]

export function brainOf(slug: string): Brain | null {
  const name = slug.toLowerCase()
  return brains.find((brain) => brain.slug === name || brain.aliases.includes(name)) ?? null
}
