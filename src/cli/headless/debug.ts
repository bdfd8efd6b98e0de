/** `--debug`: what happens, a line each, on stderr. */
import type { AgentEvent } from '../../agent/events.ts'
import { redact } from '../../hooks/redact.ts'
import { storable } from '../../store/secrets.ts'

const longest = 500

export function debugLine(event: AgentEvent): void {
  const { type, ...rest } = event
  const told = storable(redact(JSON.stringify(rest)))
  const shown = told.length > longest ? `${told.slice(0, longest)}…` : told
  process.stderr.write(`${new Date().toISOString()} ${type} ${shown}\n`)
}
