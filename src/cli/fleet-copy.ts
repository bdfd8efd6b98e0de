/** `--from postgres://…`: the record of a fleet as a file of one's own, for commands that read a record. */

import type { Copied } from '../fleet/copy.ts'
import { counted } from '../hooks/text/counted.ts'
import { noted } from './print.ts'

export async function copyOfFleet(
  url: string,
  purpose: string,
  { conversation, since }: { conversation?: string | undefined; since?: Date | undefined },
): Promise<Copied> {
  const { copyFleet } = await import('../fleet/copy.ts')
  const { stderr } = process
  const copied = await copyFleet(url, {
    purpose,
    ...(conversation !== undefined && { conversation }),
    ...(since && { since }),
    onProgress: (rows) => stderr.isTTY && stderr.write(`\r${rows.toLocaleString('en')} rows\u001b[K`),
  })
  if (stderr.isTTY) stderr.write('\r\u001b[K')
  noted(`${counted(copied.rows, 'row')} read from the fleet`)
  return copied
}
