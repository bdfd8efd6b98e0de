/** Who answers when nobody is there. */
import type { Person } from '../agent/events.ts'

export const nobody: Person = {
  permission: async () => undefined,
  questions: async () => undefined,
  approvePlan: async () => undefined,
  elicit: async () => undefined,
}
