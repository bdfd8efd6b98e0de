/** Which real agents the live tests run, and beside which others. How each is started is in src/hosts. */
import { join } from 'node:path'
import { hostOf } from '../../src/hosts/index.ts'
import type { Launch } from '../../src/hosts/launch.ts'

export interface LiveAgent {
  readonly slug: string
  /** None where there is no program to run without a screen. */
  readonly launch?: Launch
  /** Other agents that get the hooks too; a hook must still fire once in this one. */
  readonly beside?: readonly string[]
  /** The host under which the dispatcher is registered for it, if it speaks that protocol. */
  readonly dispatcher?: 'vscode' | 'claude'
  /** Checks that it is known not to pass; docs/brains.md says why. */
  readonly cannot?: readonly string[]
}

const agent = (slug: string, more: Omit<LiveAgent, 'slug'> = {}): LiveAgent => {
  const launch = hostOf(slug)?.launch
  return { slug, ...(launch && { launch }), ...more }
}

/** Copilot does not read what a hook answers to a prompt. */
const noTalk = ['what a hook prints to a prompt is heard']

export const ownProgram = join(import.meta.dirname, '../../bin/ona.mjs')

export const agents: readonly LiveAgent[] = [
  agent('claudecode', { dispatcher: 'claude' }),
  agent('opencode', { cannot: ['exit 2 at the end goes on'] }),
  agent('gemini'),
  agent('codex'),
  agent('copilot', { dispatcher: 'vscode', cannot: noTalk }),
  agent('ona', { launch: { ...hostOf('ona')!.launch!, program: ownProgram } }),
  agent('cursor'),
  agent('vscode'),
  agent('claudecode', { beside: ['vscode', 'cursor'] }),
  agent('copilot', { beside: ['claudecode'], dispatcher: 'claude', cannot: noTalk }),
  agent('copilot', { beside: ['claudecode', 'vscode'], cannot: noTalk }),
]
