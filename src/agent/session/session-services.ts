/**
 * What a session's tools start that itself needs turns and tools: sub-agents, skills and plan mode. They are handed to the
 * session at start, so that the tools' side imports neither.
 */
import { awaitApproval } from '../approvals.ts'
import type { SessionServices } from './session.ts'

export const sessionServices: SessionServices = {
  awaitApproval,
  loadSkill: async (...skill) => (await import('../context/skills.ts')).loadSkill(...skill),
  runAgent: async (session, request) => (await import('../subagents/subagent.ts')).runSubagent(session, request),
  resumeAgent: async (session, id) => (await import('../subagents/subagent.ts')).resumeInBackground(session, id),
  enterPlanMode: async (session) => (await import('../workflow/plan-mode.ts')).enterPlanMode(session),
  exitPlanMode: async (session, plan, commands) =>
    (await import('../workflow/plan-mode.ts')).exitPlanMode(session, plan, commands),
}
