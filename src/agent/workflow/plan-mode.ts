/** Entering and leaving the planning phase by the model's own tools. */
import type { PermissionUpdate } from '../../hooks/plane.ts'
import type { Steps } from '../../hooks/steps.ts'
import { readRule } from '../../permissions/rules/rule.ts'
import { type Display, failed, said, type ToolOutput } from '../../tools/output.ts'
import { approvePlan, draftPlan } from '../../workflow/planning.ts'
import type { PlanAnswer } from '../events.ts'
import { saveUpdates } from '../permission-updates.ts'
import type { Session } from '../session/session.ts'
import { movePhase } from './workflow.ts'

export async function enterPlanMode(session: Session): Promise<ToolOutput> {
  if (session.agent) return failed('a sub-agent cannot enter plan mode')
  const moved = movePhase(session, 'planning', 'the agent')
  if (!moved.ok) return failed(moved.why)
  await session.stopCommands()
  return said(
    'You are planning now: read, search and ask. Give the plan with ExitPlanMode; nothing can be changed before it is approved.',
    shown('Nothing is changed before you approve the plan.'),
  )
}

/** Shows the plan for approval, first to hooks, then to the user; approval writes its status and the phase in one commit. */
export async function exitPlanMode(
  session: Session,
  plan: string,
  commands: readonly string[] = [],
): Promise<ToolOutput> {
  // in plan mode the model is asked for a plan without having called EnterPlanMode
  if (session.phase !== 'planning' && session.mode === 'plan') {
    const entered = await enterPlanMode(session)
    if (entered.isError) return entered
  }
  if (session.phase !== 'planning') return failed('no plan is in progress; EnterPlanMode starts one')
  const drafted = draftPlan(session.db, session.conversationId, session.id, plan)
  if (!drafted.ok) return failed(drafted.why)
  await session.stopCommands()
  const byHook = await askHooks(session, plan, commands)
  const answer = byHook ?? (await session.runtime.user.approvePlan(plan, session.signal))
  if (!answer) {
    return failed(
      `The plan is kept as draft ${drafted.id}. Nobody is here to approve it: the operator can, with ona plan approve ${drafted.id}, or in a terminal.`,
    )
  }
  const who = byHook ? 'A hook' : 'The operator'
  if (!answer.approve)
    return failed(
      `The plan was not approved. Keep planning.${answer.feedback ? ` ${who} says: ${answer.feedback}` : ''}`,
      shown(`Not approved${answer.feedback ? `: ${answer.feedback}` : ''}`),
    )
  const approved = approvePlan(session.db, session.conversationId, {
    planId: drafted.id,
    content: answer.plan,
    by: byHook ? 'hook' : (answer.by ?? 'person'),
    sessionId: session.id,
  })
  if (!approved.ok) return failed(approved.why)
  if (session.mode === 'plan' || answer.acceptEdits) session.mode = answer.acceptEdits ? 'acceptEdits' : 'default'
  session.emit({ type: 'phase', from: 'planning', to: 'implement' })
  if (!byHook) await offer(session, commands)
  const edited = answer.plan === plan ? '' : `\n\n${who} changed it. The plan is now:\n${answer.plan}`
  return said(`${who} approved the plan. Begin to implement it; start with the task list.${edited}`, shown('Approved'))
}

/** The result is written for the model; the screen says the same to the user. */
const shown = (summary: string): Display => ({ kind: 'text', summary })

/** PermissionRequest, as for any other question to the user: its answer stands for theirs. */
async function askHooks(session: Session, plan: string, commands: readonly string[]): Promise<PlanAnswer | undefined> {
  const step: Steps['before_permission'] = { tool: 'ExitPlanMode', decision: 'ask', resolved: null }
  const rules = rulesOf(commands)
  const answer = await session.ask('before_permission', step, () => ({
    name: 'PermissionRequest',
    fields: {
      tool_name: 'ExitPlanMode',
      tool_input: { plan },
      permission_suggestions: rules.length === 0 ? [] : [forSession(rules)],
    },
  }))
  const ended = answer.stop !== null || answer.control.kind === 'break'
  if (ended || answer.decision === 'deny' || step.resolved === false) return { approve: false, feedback: answer.reason }
  if (answer.decision !== 'allow' && step.resolved !== true) return undefined
  if (answer.permissionUpdates.length > 0) await saveUpdates(session, answer.permissionUpdates)
  const changed = answer.updatedInput?.['plan']
  return { approve: true, plan: typeof changed === 'string' ? changed : plan, acceptEdits: false }
}

/** The commands that carrying out the plan needs, for the user to allow to the end of the session. */
async function offer(session: Session, commands: readonly string[]): Promise<void> {
  const rules = rulesOf(commands)
  if (rules.length === 0) return
  const listed = rules.map(({ ruleContent }) => `Bash(${ruleContent})`).join(', ')
  const question = `The plan needs these commands: ${listed}. Allow them for this session?`
  const options = [
    { label: allowThem, description: 'They run without asking until the session ends.' },
    { label: 'Ask each time', description: 'The rules stay as they are.' },
  ]
  const asked = [{ question, header: 'Commands', options, multiSelect: false, closed: true as const }]
  const answers = await session.runtime.user.questions(asked, session.signal)
  if (answers?.[question] === allowThem) await saveUpdates(session, [forSession(rules)])
}
const allowThem = 'Allow them'

type CommandRule = { readonly toolName: 'Bash'; readonly ruleContent: string }

/** Patterns that are no rule, that would allow everything, or that could be read as something else are not offered. */
const rulesOf = (commands: readonly string[]): CommandRule[] =>
  commands
    .filter((command) => /\w/.test(command) && !/[()\p{C}]/u.test(command))
    .filter((command) => readRule(`Bash(${command})`, 'allow').ok)
    .map((ruleContent) => ({ toolName: 'Bash', ruleContent }))

const forSession = (rules: readonly CommandRule[]): PermissionUpdate => ({
  type: 'addRules',
  rules,
  behavior: 'allow',
  destination: 'session',
})
