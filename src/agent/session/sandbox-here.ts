/** The sandbox of a folder, for commands that start no session. */
import { homedir } from 'node:os'
import { dirname } from 'node:path'
import { packageRoot } from '../../package-root.ts'
import type { Fence } from '../../sandbox/fence.ts'
import { dbPath } from '../../store/open.ts'
import type { LoadedSettings } from '../../store/settings/settings.ts'

/** As a session there would have it; also where no setting enables it. */
export async function fenceHere(cwd: string, env: NodeJS.ProcessEnv, { settings }: LoadedSettings): Promise<Fence> {
  const { Fence } = await import('../../sandbox/fence.ts')
  return new Fence({
    settings: settings.sandbox ?? {},
    projectDir: cwd,
    home: env['HOME'] || homedir(),
    env,
    database: dbPath(env),
    programs: [dirname(dirname(process.execPath)), packageRoot],
  })
}
