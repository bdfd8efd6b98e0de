/** The sandbox's part in a call: where a Bash command runs, whether that answers the prompt, and what the record says. */
import { judge } from '../permissions/decide.ts'
import type { PermissionQuestion, Ruling } from '../permissions/question.ts'
import type { Place, PlaceRequest } from '../sandbox/place.ts'
import type { Call } from './call.ts'
import { questionOf } from './permission-question.ts'
import type { Session } from './session/session.ts'

/** Undefined for other tools, and where no sandbox is enabled. */
export async function placeFor(call: Call): Promise<Place | undefined> {
  const { session, tool, input } = call
  if (tool.name !== 'Bash' || !session.runtime.sandbox) return undefined
  const { placeOf } = await import('../sandbox/place.ts')
  return placeOf(await session.runtime.sandbox(), {
    ...requestOf(call),
    command: String(input['command'] ?? ''),
    disable: input['dangerouslyDisableSandbox'] === true,
  })
}

/** While the model answers: the first command of a turn finds its sandbox made. A command that does not says why not. */
export async function prepareSandbox(session: Session): Promise<void> {
  try {
    const fence = await session.runtime.sandbox!()
    if (!fence.availability.ok) return
    const { permissions, projectDir, cwd, env, protect } = requestOf({ session })
    const cell = await fence.cell({ permissions, projectDir, cwd, env, approved: false, protect })
    cell.prepareSpare('now')
  } catch {
    // the session has ended, or no sandbox can be made of these rules: the command is told
  }
}

/** The user approved the call: what only a prompt stood in front of is open to it. */
export async function approvedPlace(call: Call): Promise<Place | undefined> {
  const { place, session } = call
  if (place?.in !== 'sandbox') return place
  const { insideOf } = await import('../sandbox/place.ts')
  return insideOf(await session.runtime.sandbox!(), requestOf(call), true)
}

const requestOf = ({ session }: Pick<Call, 'session'>): Omit<PlaceRequest, 'command' | 'disable'> => ({
  protect: questionOf(session).protect,
  permissions: session.rules,
  cwd: session.cwd,
  projectDir: session.projectDir,
  home: session.runtime.home,
  env: session.runtime.childEnv,
})

/**
 * A sandboxed command needs no prompt (`autoAllowBashIfSandboxed`) unless a rule asks for one, or a rule on commands may be
 * meant: rules on files the sandbox enforces itself. A command that asked to run outside is always prompted for.
 */
export async function withSandbox(call: Call, question: PermissionQuestion, ruling: Ruling): Promise<Ruling> {
  const { place } = call
  // no rule answers it for the next time
  if (place?.in === 'open' && place.mustAsk && ruling.decision !== 'deny')
    return { ...ruling, decision: 'ask', reason: `${place.why}; ${ruling.reason}`, suggestions: [] }
  const unanswered = ruling.decision === 'ask' || (question.mode === 'dontAsk' && ruling.rule === undefined)
  if (place?.in !== 'sandbox' || ruling.decision === 'allow' || !unanswered) return ruling
  const { autoAllowBashIfSandboxed = true } = (await call.session.runtime.sandbox!()).settings
  if (!autoAllowBashIfSandboxed) return ruling
  if (certainlyAsked.test(ruling.reason)) return ruling
  const [prompt] = place.cell.plan.prompts
  if (prompt !== undefined)
    return { ...ruling, reason: `${ruling.reason}; the sandbox cannot express a rule: ${prompt}` }
  const hook = question.hook === 'none' ? 'allow' : question.hook
  const { ruling: inside } = await judge({
    ...question,
    hook,
    fenced: true,
    settings: withoutFileRules(question.settings),
  })
  if (inside.decision !== 'allow') return ruling
  return { decision: 'allow', reason: 'the command is sandboxed (autoAllowBashIfSandboxed)', suggestions: [] }
}

/** A rule of the user's that names this very call. */
const certainlyAsked = /^the ask rule "/

const withoutFileRules = (settings: PermissionQuestion['settings']): PermissionQuestion['settings'] => ({
  ...settings,
  deny: settings.deny?.filter((rule) => !fileRule.test(rule)),
  ask: settings.ask?.filter((rule) => !fileRule.test(rule)),
})
const fileRule = /^(?:Read|Edit|Write|NotebookEdit|Glob|Grep)\(/

/** What the event `tool_start` says of a Bash command. */
export function placeRecord({ tool, place }: Call): Record<string, unknown> {
  if (tool.name !== 'Bash') return {}
  if (place?.in === 'sandbox') return { sandboxed: true, sandbox_profile: place.cell.digest }
  return { sandboxed: false, ...(place && { sandbox_reason: place.why }) }
}
