import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../../package-root.ts'
import { recentFailures } from '../../../store/reports.ts'
import type { Ui } from '../../session/command-context.ts'

/** What a report needs, to be copied: nothing is sent from here. */
export async function run(args: string, { front, session, version }: Ui): Promise<void> {
  const { bugs, repository } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    bugs?: { url?: string }
    repository?: { url?: string }
  }
  const where = bugs?.url ?? repository?.url
  const failed = recentFailures(session.db, session.id)
  front.print(
    where ? `Report it at ${where} with this:` : 'Put this into your report:',
    '',
    `ona ${version}, Node ${process.version}, ${process.platform} ${process.arch}, terminal ${session.runtime.env['TERM'] ?? '?'}`,
    `model ${session.model.wireModel} (${session.model.providerName}), mode ${session.mode}, phase ${session.phase}`,
    `session ${session.id} (ona --resume ${session.id} shows it; look through it before you share it)`,
    ...failed.map(({ type, detail }) => `${type}: ${detail ?? ''}`),
    ...(args ? ['', args] : []),
  )
}
