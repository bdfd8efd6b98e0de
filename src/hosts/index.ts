/** Every agent that we support, in the order in which it is reported. Adding one is a folder and a line here. */

import { claudecode } from './claudecode/index.ts'
import { codex } from './codex/index.ts'
import { copilot } from './copilot/index.ts'
import { cursor } from './cursor/index.ts'
import { gemini } from './gemini/index.ts'
import type { Host } from './host.ts'
import { ona } from './ona/index.ts'
import { opencode } from './opencode/index.ts'
import { vscode } from './vscode/index.ts'

export const hosts: readonly Host[] = [claudecode, opencode, vscode, copilot, gemini, codex, cursor, ona]

export function hostOf(slug: string): Host | null {
  const name = slug.toLowerCase()
  return hosts.find((host) => host.slug === name || host.aliases.includes(name)) ?? null
}
