/** `ona plan show|approve|list`: the plans of a conversation. */
import { getPlan, listPlans, type Plan } from '../../store/plans.ts'
import { criteriaOf } from '../../workflow/criteria.ts'
import { approvePlan } from '../../workflow/planning.ts'
import { readArgs } from '../args.ts'
import { openConversation } from '../conversation.ts'

const usage = `The plans of a conversation, by default the newest of this folder.

  ona plan list [--conversation ID] [--json]
  ona plan show [PLAN] [--conversation ID] [--json]
  ona plan approve [PLAN] [--conversation ID] [--as NAME]

Example: ona plan approve 3 --as "Ada Lovelace"
Approving a plan opens the implement phase in the same step.
`

export async function run(words: string[]): Promise<number> {
  const [what = '--help', ...rest] = words
  if (what === '--help' || rest.includes('--help')) return say(usage)
  const args = readArgs(rest, { values: ['conversation', 'as', 'cwd'], flags: ['json'] })
  if (!args.ok) return wrong(args.why)
  if (!['list', 'show', 'approve'].includes(what)) return wrong(`there is no "ona plan ${what}"`)
  const opened = await openConversation(args.value('conversation'), args.value('cwd'))
  if ('problem' in opened) return failed(opened.problem)
  const { session, close } = opened
  try {
    const { db, conversationId } = session
    const plans = listPlans(db, conversationId)
    if (what === 'list') return say(args.has('json') ? `${JSON.stringify(plans.map(asJson))}\n` : listed(plans))
    const number = args.words[0]
    const plan = number === undefined ? plans.at(-1) : getPlan(db, Number(number))
    if (!plan || plan.conversationId !== conversationId) {
      return failed(
        number === undefined
          ? 'there is no plan yet: the agent gives one with ExitPlanMode'
          : `there is no plan ${number} in this conversation`,
      )
    }
    if (what === 'show') return say(args.has('json') ? `${JSON.stringify(asJson(plan))}\n` : shown(plan))
    const approved = approvePlan(db, conversationId, {
      planId: plan.id,
      by: args.value('as') ?? 'operator',
      sessionId: session.id,
    })
    return approved.ok ? say(`plan ${plan.id} is approved; the phase is ${session.phase}\n`) : failed(approved.why)
  } finally {
    await close()
  }
}

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

function say(text: string): number {
  process.stdout.write(text)
  return 0
}

function failed(why: string): number {
  process.stderr.write(`ona: ${why}\n`)
  return 1
}

function wrong(why: string): number {
  process.stderr.write(`ona plan: ${why}; ona plan --help shows how\n`)
  return 2
}
