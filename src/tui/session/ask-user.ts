/** The user at the front answers what the agent asks. */
import type { User } from '../../agent/events.ts'
import type { Front } from './front.ts'

/** Dialogs are loaded when the first of their kind is asked. */
export const userAt = (front: Front, cwd: () => string): User => ({
  permission: async (request, signal) =>
    (await import('../dialogs/permission.ts')).askPermission(front, request, cwd(), signal),
  questions: async (questions, signal) =>
    (await import('../dialogs/questions.ts')).askQuestions(front, questions, signal),
  approvePlan: async (plan, signal) => (await import('../dialogs/plan.ts')).askPlan(front, plan, signal),
  elicit: async (request, signal) => (await import('../dialogs/elicit.ts')).askElicit(front, request, signal),
})
