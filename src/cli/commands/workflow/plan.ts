/** `ona plan show|approve|list`: the plans of a conversation. */
import type { Session } from '../../../agent/session/session.ts'
import { getPlan, listPlans, type Plan } from '../../../store/plans.ts'
import { criteriaOf } from '../../../workflow/criteria.ts'
import { approvePlan } from '../../../workflow/planning.ts'
import { command, family } from '../../command.ts'
import { openConversation } from '../../conversation.ts'
import { failed, said, saidJson } from '../../print.ts'
import type { Verb } from '../../verbs.ts'

const help = `The plans of a conversation, by default the newest of this folder.

  ona plan list [--conversation ID] [--json]
  ona plan show [PLAN] [--conversation ID] [--json]
  ona plan approve [PLAN] [--conversation ID] [--as NAME] [--json]

Example: ona plan approve 3 --as "Ada Lovelace"
Approving a plan opens the implement phase in the same step.
`

const common = { conversation: 'value', cwd: 'value', json: 'flag' } as const

const list = command('ona plan list', { help, flags: common }, ({ conversation, cwd, json }) =>
  inConversation(conversation, cwd, ({ db, conversationId }) => {
    const plans = listPlans(db, conversationId)
    return json ? saidJson(plans.map(asJson)) : said(listed(plans))
  }),
)

const show = command('ona plan show', { help, flags: common, words: 1 }, ({ conversation, cwd, json }, [number]) =>
  withPlan(conversation, cwd, number, (_, plan) => (json ? saidJson(asJson(plan)) : said(shown(plan)))),
)

const approveFlags = { ...common, as: 'value' } as const

const approve = command('ona plan approve', { help, flags: approveFlags, words: 1 }, (given, [number]) =>
  withPlan(given.conversation, given.cwd, number, (session, { id: planId }) => {
    const by = given.as ?? 'operator'
    const approved = approvePlan(session.db, session.conversationId, { planId, by, sessionId: session.id })
    if (!approved.ok) return failed(approved.why)
    if (given.json) return saidJson({ plan: planId, by, phase: session.phase })
    return said(`plan ${planId} is approved; the phase is ${session.phase}`)
  }),
)

export const run = family<Verb<'plan'>>('ona plan', help, { list, show, approve })

async function inConversation(
  id: string | undefined,
  cwd: string | undefined,
  work: (session: Session) => number,
): Promise<number> {
  const opened = await openConversation(id, cwd)
  if ('problem' in opened) return failed(opened.problem)
  try {
    return work(opened.session)
  } finally {
    await opened.close()
  }
}

/** The plan of that number, or the newest. */
const withPlan = (
  id: string | undefined,
  cwd: string | undefined,
  number: string | undefined,
  work: (session: Session, plan: Plan) => number,
): Promise<number> =>
  inConversation(id, cwd, (session) => {
    const { db, conversationId } = session
    const plan = number === undefined ? listPlans(db, conversationId).at(-1) : getPlan(db, Number(number))
    if (plan?.conversationId === conversationId) return work(session, plan)
    return failed(
      number === undefined
        ? 'there is no plan yet: the agent gives one with ExitPlanMode'
        : `there is no plan ${number} in this conversation`,
    )
  })

const asJson = (plan: Plan) => ({ ...plan, criteria: criteriaOf(plan.content) })

const listed = (plans: readonly Plan[]): string =>
  plans.length === 0
    ? 'no plans\n'
    : plans
        .map(
          ({ id, status, createdAt, content }) =>
            `${String(id).padStart(4)}  ${status.padEnd(10)}  ${createdAt}  ${headline(content)}\n`,
        )
        .join('')

const headline = (content: string): string =>
  (content.split('\n').find((line) => line.trim() !== '') ?? '').replace(/^#+\s*/, '').slice(0, 60)

const shown = (plan: Plan): string =>
  `Plan ${plan.id}, ${plan.status}\n\n${plan.content.trimEnd()}\n\nCriteria as they will be tested:\n${criteriaOf(
    plan.content,
  )
    .map(({ id, text }) => `  ${id}  ${text}\n`)
    .join('')}`
