/** Git, asked without running what a repository's own settings name: monitors, hooks, filters, drivers, pagers. */
import { execFile } from 'node:child_process'

export interface Answer {
  readonly ok: boolean
  readonly text: string
}

export interface GitOptions {
  readonly timeoutMs?: number
  /** The user trusts the repository: its hooks and filters may run. */
  readonly trusted?: boolean
}

export async function git(cwd: string, args: readonly string[], options: GitOptions = {}): Promise<Answer> {
  const { timeoutMs = 10_000, trusted = false } = options
  const quiet = trusted ? [] : await withoutPrograms(cwd)
  const safe = !trusted && args[0] === 'diff' ? ['diff', ...harmlessDiff, ...args.slice(1)] : args
  return call(cwd, [...quiet, ...safe], timeoutMs)
}

/** A driver that is set to nothing counts as one all the same, so that these flags are needed beside the settings. */
const harmlessDiff = ['--no-ext-diff', '--no-textconv', '--ignore-submodules=all']

/** Settings of git whose value is a program, whatever else they are called. */
const programs = String.raw`^(filter\..*\.(clean|smudge|process)|diff\..*\.(command|textconv)|merge\..*\.driver)$`

async function withoutPrograms(cwd: string): Promise<string[]> {
  const named = await call(cwd, ['config', '--includes', '--name-only', '-z', '--get-regexp', programs], 3_000)
  const drivers = named.ok ? named.text.split('\0').filter(Boolean) : []
  const settings = [
    'core.fsmonitor=false',
    'core.hooksPath=/dev/null',
    'core.pager=cat',
    'core.sshCommand=false',
    'protocol.allow=never',
    ...drivers.map((name) => `${name}=`),
    ...drivers.filter((name) => name.startsWith('filter.')).map((name) => name.replace(/\.\w+$/, '.required=false')),
  ]
  return settings.flatMap((setting) => ['-c', setting])
}

const call = (cwd: string, args: readonly string[], timeoutMs: number): Promise<Answer> =>
  new Promise((done) => {
    execFile('git', args, { cwd, maxBuffer: 64 << 20, timeout: timeoutMs }, (failure, stdout, stderr) =>
      done({ ok: failure === null, text: failure ? stderr || failure.message : stdout }),
    )
  })
