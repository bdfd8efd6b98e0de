/** What the handlers of a round are shown. */
import { claudeInput } from '../claude/contract.ts'
import type { JsonObject } from '../shape.ts'
import { eventInput, stepInput } from '../wire/messages.ts'
import { isAtStep, note, type Prepared, type Round, type Shown } from './state.ts'

/** Made once for all handlers that are shown the same: the input of a call may be megabytes long. */
export function show(round: Round, handler: Prepared): Shown {
  const { subject, scope, fields, settled, lastShown } = round
  if (isAtStep(round, handler)) return shownAs(round, stepInput(subject.step!.name, subject.step!.state, scope))
  const { profile } = handler
  const isClaude = profile === 'claude'
  const session = isClaude ? settled.claude?.sessionOf(scope) : undefined
  if (session?.problem) note(round, handler, 'warned', session.problem)
  if (lastShown && lastShown.profile === profile) return lastShown.shown
  const shown = shownAs(
    round,
    isClaude ? claudeInput(subject.event!, fields, scope, session) : eventInput(subject.event!.name, fields, scope),
  )
  round.lastShown = { profile, shown }
  return shown
}

function shownAs({ settled }: Round, input: JsonObject): Shown {
  const whole = JSON.stringify(input)
  const json = settled.withhold?.(whole) ?? whole
  let kept: string | undefined
  return {
    input,
    json,
    get kept() {
      kept ??= settled.redact(json, 'json')
      return kept
    },
  }
}
