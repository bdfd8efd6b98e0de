/** Who answers when nobody is there. */
import type { AgentEvent, User } from '../../agent/events.ts'
import { noted } from '../print.ts'

export const nobody: User = {
  permission: async () => undefined,
  questions: async () => undefined,
  approvePlan: async () => undefined,
  elicit: async () => undefined,
}

/** Warnings and errors go to stderr: bad configuration and a guard that failed open are never ignored in silence. */
export function tellNotice(event: AgentEvent): void {
  if (event.type === 'notice' && event.level !== 'info') noted(event.text)
  if (event.type === 'hook' && event.note.failedOpen) noted(`hook ${event.note.hook} failed: ${event.note.reason}`)
}
