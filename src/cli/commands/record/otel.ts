/** `ona otel ship`: the record to an OpenTelemetry collector. */

import { settingsHere } from '../../../agent/session/folder-settings.ts'
import { counted } from '../../../hooks/text/counted.ts'
import { dbPath, openDb } from '../../../store/open.ts'
import { environment } from '../../../store/settings/environment.ts'
import { sendsTelemetry } from '../../../store/telemetry.ts'
import { command, family } from '../../command.ts'
import { failed, noted, said, saidJson, warned } from '../../print.ts'
import { endingSignals } from '../../signals.ts'
import type { Verb } from '../../verbs.ts'

const help = `ona otel ship sends what is on record, and was not sent yet, to an OpenTelemetry collector over OTLP/HTTP: spans and token
metrics by the GenAI semantic conventions, and events for approvals and hook verdicts. A collector that is down costs
nothing and loses nothing: the rest is sent the next time.

  OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 ona otel ship
  ona otel ship --watch             keep sending until Ctrl-C

  OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS, OTEL_EXPORTER_OTLP_PROTOCOL (http/protobuf or http/json),
  OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME   as OpenTelemetry defines them

  --content        inputs and outputs too; secrets are redacted (also ONA_OTEL_CONTENT=1)
  --claude-names   the event names of Claude Code's telemetry (claude_code.*) beside ours
                   (also ONA_OTEL_CLAUDE_NAMES=1)
  --json           print the counts as JSON
`

const flags = { watch: 'flag', content: 'flag', 'claude-names': 'flag', json: 'flag' } as const

const shipping = command(
  'ona otel ship',
  { help, flags },
  async ({ watch, content, json, 'claude-names': claudeNames }) => {
    const env = environment(process.env, settingsHere({ lookOnly: true }))
    if (!sendsTelemetry(env))
      return failed('no collector is named; set OTEL_EXPORTER_OTLP_ENDPOINT, such as http://127.0.0.1:4318')
    const { contentChoice, ship } = await import('../../../audit/otel/ship.ts')
    const db = openDb(dbPath())
    const stop = new AbortController()
    const chosen = contentChoice(env)
    const options = {
      content: content === true || chosen.content,
      claudeNames: claudeNames === true || chosen.claudeNames,
      signal: stop.signal,
    }
    try {
      const { problem, ...sent } = await ship(db, env, options)
      if (json) saidJson({ ...sent, ...(problem !== undefined && { problem }) })
      else
        said(
          `${counted(sent.spans, 'span')}, ${counted(sent.logs, 'event')}, ${counted(sent.metrics, 'metric point')} sent`,
        )
      if (problem !== undefined) warned(`the collector took no more: ${problem}; the rest is sent the next time`)
      if (!watch) return problem === undefined ? 0 : 1
      noted('sending what is new; Ctrl-C ends it')
      for (const signal of endingSignals) process.once(signal, () => stop.abort())
      const { setTimeout: sleep } = await import('node:timers/promises')
      while (!stop.signal.aborted) {
        await sleep(2000, undefined, { signal: stop.signal }).catch(() => {})
        const again = await ship(db, env, options)
        if (again.spans + again.logs > 0) said(`${counted(again.spans, 'span')}, ${counted(again.logs, 'event')} sent`)
      }
      return 0
    } finally {
      db.close()
    }
  },
)

export const run = family<Verb<'otel'>>('ona otel', help, { ship: shipping })
