/** What a hook said, read from its row: one word for it, and why. */

import { isEventName } from '../../hooks/events.ts'
import { textBeforeJson } from '../../hooks/round/invocation.ts'
import { redact } from '../../hooks/secrets/redact.ts'
import { isObject } from '../../hooks/shape.ts'
import { readJson } from '../../hooks/text/json-text.ts'

export interface HookAnswer {
  readonly event: string
  readonly ordinal: number
  readonly hook: string
  readonly at: string
  readonly ms: number | null
  readonly says: 'allow' | 'ask' | 'deny' | 'changed' | 'answered' | 'no opinion' | 'failed' | 'not asked'
  readonly why: string
}

export interface HookRow {
  readonly id: number
  readonly event: string
  readonly ordinal: number
  readonly command: string
  readonly toolUseId: string | null
  readonly toolName: string | null
  readonly exitCode: number | null
  readonly stdout: string | null
  readonly stderr: string | null
  readonly startedAt: string
  readonly completedAt: string | null
  readonly skipped: string | null
}

export const hookColumns = `id, hook_event AS event, hook_ordinal AS ordinal, command, tool_use_id AS toolUseId,
  tool_name AS toolName, exit_code AS exitCode, stdout_text AS stdout, stderr_text AS stderr, started_at AS startedAt,
  completed_at AS completedAt, skipped_reason AS skipped`

export function hookAnswer(row: HookRow): HookAnswer {
  const { event, ordinal, command, startedAt, completedAt } = row
  const ms = completedAt === null ? null : Date.parse(completedAt) - Date.parse(startedAt)
  const { says, why } = hookSays(row)
  return { event, ordinal, hook: redact(command.trim()), at: second(startedAt), ms, says, why: redact(why.trim()) }
}

/** `2026-11-15T08:23:00.246Z` as the other tables write it. */
export const second = (iso: string): string => iso.slice(0, 19).replace('T', ' ')

type Said = Pick<HookRow, 'event' | 'exitCode' | 'stdout' | 'stderr' | 'skipped'>

/** Not redacted. */
export function hookSays(row: Said): Pick<HookAnswer, 'says' | 'why'> {
  const { exitCode, stdout, stderr, skipped } = row
  if (skipped !== null) return { says: 'not asked', why: reasons[skipped] ?? skipped }
  if (exitCode === 2) return { says: 'deny', why: unmarked(stderr ?? '') }
  if (exitCode !== null && exitCode !== 0) return { says: 'failed', why: `exit ${exitCode} ${stderr ?? ''}` }
  const fault = faultIn(row)
  const text = stdout?.trim() ?? ''
  if (text === '') return fault === undefined ? { says: 'no opinion', why: '' } : { says: 'failed', why: stderr! }
  const read = text.startsWith('{') ? readJson(text) : undefined
  const output = read?.ok && isObject(read.value) ? read.value : undefined
  const answer = output ? answered(output, text) : ({ says: 'answered', why: text } as const)
  const refuses = answer.says === 'deny' || answer.says === 'ask'
  const isWarning = fault?.startsWith(textBeforeJson) || (output !== undefined && !isEventName(row.event)) // at a step
  return fault === undefined || refuses || isWarning ? answer : { says: 'failed', why: fault }
}

/** A time-out denies as well, and the plane writes why. */
const unmarked = (stderr: string): string => stderr.replaceAll(/^\[SDLC_HOOK\] /gm, '')

/** What stands below what the hook printed itself. Without an exit code nothing else comes to stderr. */
function faultIn({ exitCode, stderr }: Said): string | undefined {
  if (!stderr) return undefined
  return stderr.split(/^\[SDLC_HOOK\] /m).at(1) ?? (exitCode === null ? stderr : undefined)
}

const reasons: Record<string, string> = {
  prior_block_or_deny: 'another hook had refused already',
  untrusted_workspace: 'the folder is not trusted',
  untrusted_plugin: 'the plugin is not trusted',
  hooks_disabled: 'hooks were switched off',
  interrupted: 'the turn was interrupted',
}

/** The wire's words for one thing, whichever form the answer has: an event's, a step's or the dispatcher's. */
function answered(output: Record<string, unknown>, text: string): Pick<HookAnswer, 'says' | 'why'> {
  const specific = isObject(output['hookSpecificOutput']) ? output['hookSpecificOutput'] : {}
  const nested = isObject(specific['decision']) ? specific['decision'] : {}
  const word = [specific['permissionDecision'], nested['behavior'], output['decision'], output['control']].find(
    (each) => typeof each === 'string',
  ) as string | undefined
  const why = [
    specific['permissionDecisionReason'],
    nested['message'],
    output['reason'],
    output['denyReason'],
    output['stopReason'],
    specific['additionalContext'],
    output['systemMessage'],
  ].filter((each) => typeof each === 'string')
  const changed = 'updatedInput' in specific || 'args' in output || 'result' in output
  const says = (word !== undefined && words[word]) || (changed ? 'changed' : 'answered')
  return { says, why: why.length > 0 ? why.join('\n') : says === 'answered' || says === 'changed' ? text : '' }
}

const words: Record<string, HookAnswer['says']> = {
  ...{ allow: 'allow', approve: 'allow', ask: 'ask', deny: 'deny', block: 'deny', veto: 'deny', break: 'deny' },
}
