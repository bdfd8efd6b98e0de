import { redact } from '../../hooks/secrets/redact.ts'
import type { RecordedCall } from '../replay/recorded-calls.ts'

/** A recorded call in one short line. */
export function shownCall({ tool, input: { command, file_path, url, ...rest } }: RecordedCall): string {
  const main = [command, file_path, url].find((each) => typeof each === 'string') as string | undefined
  return redact(`${tool} ${main ?? JSON.stringify(rest)}`.replaceAll(/\s+/g, ' ')).slice(0, 120)
}
