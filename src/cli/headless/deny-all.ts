/** Who answers when nobody is there. */
import type { AgentEvent, Person } from '../../agent/events.ts'
import { noted } from '../print.ts'

export const nobody: Person = {
  permission: async () => undefined,
  questions: async () => undefined,
  approvePlan: async () => undefined,
  elicit: async () => undefined,
}

/** Warnings and errors go to stderr: what is wrong with the configuration is never passed over in silence. */
export function tellNotice(event: AgentEvent): void {
  if (event.type === 'notice' && event.level !== 'info') noted(event.text)
}
