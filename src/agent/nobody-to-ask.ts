/** Why a call that needs a prompt is denied where there is no user, and only such advice as would have allowed it. */
import { decide } from '../permissions/decide.ts'
import type { PermissionQuestion, Ruling } from '../permissions/question.ts'
import type { Call } from './call.ts'
import { questionOf } from './permission-question.ts'

export async function nobodyToAsk({ session, tool, input, hook }: Call, { reason }: Ruling): Promise<string> {
  if (tool.changed)
    return `${tool.name} needs permission and there is no user to ask: ${reason}. ${tool.changed.remedy} accepts the tools of this server as they are now.`
  const question: PermissionQuestion = { ...questionOf(session), tool: tool.name, input, hook }
  const { settings } = question
  const allows = async (changed: Partial<PermissionQuestion>) =>
    (await decide({ ...question, ...changed })).decision === 'allow'
  const ways = [
    ...((await allows({ settings: { ...settings, allow: [...(settings.allow ?? []), tool.name] } }))
      ? [`an allow rule (permissions.allow in the settings, or --allowed-tools "${tool.name}")`]
      : []),
    ...((await allows({ mode: 'acceptEdits' })) ? ['--permission-mode acceptEdits'] : []),
    ...((await allows({ mode: 'bypassPermissions' })) ? ['--permission-mode bypassPermissions'] : []),
  ]
  const [first, ...others] = ways
  const advice = first
    ? `${[first[0]!.toUpperCase() + first.slice(1), ...others].join(' or ')} would allow it.`
    : 'No allow rule or mode answers that prompt: run it where a user can, or set "approvals" in the settings to decide it later with ona approvals.'
  return `${tool.name} needs permission and there is no user to ask: ${reason.replace(/[.\s]+$/, '')}. ${advice}`
}
