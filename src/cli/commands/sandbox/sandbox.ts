/** `ona sandbox`: run one command in the sandbox of a folder, or explain what it would let a command do. */
import { spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { protectedBy } from '../../../agent/permission-question.ts'
import { settingsHere } from '../../../agent/session/folder-settings.ts'
import { fenceHere } from '../../../agent/session/sandbox-here.ts'
import { withoutSecrets } from '../../../auth/child-env.ts'
import type { ProtectedPath } from '../../../permissions/protected-paths.ts'
import type { PermissionSettings } from '../../../permissions/question.ts'
import type { Fence } from '../../../sandbox/fence.ts'
import { placeOf } from '../../../sandbox/place.ts'
import { summaryOf, summaryText } from '../../../sandbox/summary.ts'
import { dbPath } from '../../../store/open.ts'
import { command, family } from '../../command.ts'
import { failed, said, saidJson, warned, wrong } from '../../print.ts'
import type { Verb } from '../../verbs.ts'

const help = `ona sandbox runs a command as a sandboxed Bash call of this folder would run, or explains what it could read, write and reach.
The settings need not enable the sandbox.

  ona sandbox run -- npm test
  ona sandbox run --cwd ../service -- sh -c 'cat ~/.ssh/id_rsa'
  ona sandbox explain
  ona sandbox explain 'docker ps'       whether a command runs inside, and why not
  ona sandbox explain --json

Exit code: run gives the command's own, or 1 when the sandbox cannot be made. explain: 0 done, 1 not available, 2 wrong usage.
`

interface Here {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly permissions: PermissionSettings
  readonly fence: Fence
  readonly protect: readonly ProtectedPath[]
}

async function open(folder: string): Promise<Here | string> {
  const cwd = realpathSync(resolve(folder))
  const loaded = settingsHere({ cwd, lookOnly: true })
  if (loaded.problems.length > 0) return loaded.problems.map(({ file, why }) => `${file}: ${why}`).join('\n')
  const fence = await fenceHere(cwd, process.env, loaded)
  const permissions = (loaded.settings.permissions ?? {}) as PermissionSettings
  const home = process.env['HOME'] || homedir()
  const protect = protectedBy({ settings: loaded.settings, db: { path: dbPath(process.env) }, home }, cwd)
  if (fence.availability.ok) return { cwd, env: withoutSecrets(process.env), permissions, fence, protect }
  fence.close()
  return `the sandbox is not available: ${fence.availability.why}`
}

const runOne = command(
  'ona sandbox run',
  { help, flags: { cwd: 'value' }, words: Number.POSITIVE_INFINITY, upToWord: true },
  async ({ cwd: folder = '.' }, words) => {
    if (words.length === 0) return wrong('ona sandbox run', 'name a command, as in: ona sandbox run -- npm test')
    const here = await open(folder)
    if (typeof here === 'string') return failed(here)
    const { cwd, env, permissions, fence, protect } = here
    try {
      const cell = await fence.cell({ permissions, projectDir: cwd, cwd, env, protect })
      const [program, ...rest] = cell.argv(words)
      const breaches: string[] = []
      const code = await new Promise<number>((done) => {
        const child = spawn(program!, rest, { cwd, env: cell.env, stdio: 'inherit' })
        const unwatch = cell.watch(() => {
          breaches.push(...cell.breaches())
          if (breaches.length > 0) child.kill('SIGKILL')
        })
        child.on('error', (error) => done(failed(error.message)))
        child.on('exit', (exitCode) => {
          unwatch()
          done(exitCode ?? 1)
        })
      })
      breaches.push(...cell.breaches())
      for (const text of [...breaches, ...new Set(cell.refusals())]) warned(text)
      return breaches.length > 0 ? code || 1 : code
    } catch (error) {
      return failed((error as Error).message)
    } finally {
      fence.close()
    }
  },
)

const explain = command(
  'ona sandbox explain',
  { help, flags: { cwd: 'value', json: 'flag' }, words: 1 },
  async ({ cwd: folder = '.', json }, [line]) => {
    const here = await open(folder)
    if (typeof here === 'string') return failed(here)
    const { cwd, env, permissions, fence, protect } = here
    try {
      const home = env['HOME'] || homedir()
      const request = { command: line ?? '', disable: false, permissions, cwd, projectDir: cwd, home, env, protect }
      const place = await placeOf(fence, request)
      if (place.in === 'nowhere') return failed(place.why)
      if (place.in === 'open')
        return json ? saidJson({ sandboxed: false, why: place.why }) : said(`outside the sandbox: ${place.why}`)
      const summary = summaryOf(place.cell)
      if (json) return saidJson({ sandboxed: true, ...summary })
      return said(`${line === undefined ? '' : 'inside the sandbox\n'}${summaryText(summary)}`)
    } finally {
      fence.close()
    }
  },
)

export const run = family<Verb<'sandbox'>>('ona sandbox', help, { run: runOne, explain })
