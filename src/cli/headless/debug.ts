/** `--debug` and `--debug-file`: every event, a line each. */
import { appendFileSync } from 'node:fs'
import type { AgentEvent } from '../../agent/events.ts'
import { redact } from '../../hooks/secrets/redact.ts'
import { storable } from '../../store/secrets.ts'

const longest = 500

/** To a file that only its owner can read, or to stderr. */
export function debugLog(file?: string): (event: AgentEvent) => void {
  const write = (line: string) => {
    if (file === undefined) process.stderr.write(line)
    else appendFileSync(file, line, { mode: 0o600 })
  }
  return ({ type, ...rest }) => {
    const text = storable(redact(JSON.stringify(rest), 'json'))
    const shown = text.length > longest ? `${text.slice(0, longest)}…` : text
    write(`${new Date().toISOString()} ${type} ${shown}\n`)
  }
}
