/**
 * Git without the programs that a repository's own configuration names: monitors, hooks, filters, drivers, pagers, fetch
 * helpers. What ona asks of git before a folder is trusted is listed in docs/threat-model.md.
 */
import { execFile } from 'node:child_process'
import { withoutCredentials } from '../secrets/secret-names.ts'

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
  if (trusted) return call(cwd, args, timeoutMs, {})
  const settings = { ...quiet, ...(await withoutDrivers(cwd)) }
  const [verb = '', ...rest] = args
  return call(cwd, [verb, ...(harmlessOptions[verb] ?? []), ...rest], timeoutMs, asEnv(settings))
}

/** A driver that is set to nothing counts as one all the same; a submodule has a configuration of its own. */
const harmlessOptions: Record<string, readonly string[]> = {
  diff: ['--no-ext-diff', '--no-textconv', '--ignore-submodules=all'],
  status: ['--ignore-submodules=all'],
}

const quiet: Record<string, string> = {
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.pager': 'cat',
  'core.sshCommand': 'false',
  'core.askPass': 'false',
  'credential.helper': '',
  'diff.external': '',
  'protocol.allow': 'never',
  'safe.bareRepository': 'explicit',
  'submodule.recurse': 'false',
}

/** Settings of git whose value is a program, whatever the driver is called. */
const programs = String.raw`^(filter\..*\.(clean|smudge|process)|diff\..*\.(command|textconv)|merge\..*\.driver)$`

async function withoutDrivers(cwd: string): Promise<Record<string, string>> {
  const list = ['config', '--includes', '--name-only', '-z', '--get-regexp', programs]
  const named = await call(cwd, list, 3_000, asEnv(quiet))
  const drivers = named.ok ? named.text.split('\0').filter(Boolean) : []
  return Object.fromEntries(
    drivers.flatMap((name) => [
      [name, ''],
      ...(name.startsWith('filter.') ? [[name.replace(/\.\w+$/, '.required'), 'false']] : []),
    ]),
  )
}

/** As variables: `-c name=value` cannot say a name that holds an equals sign. */
function asEnv(settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    GIT_ALLOW_PROTOCOL: 'none', // the repository's protocol.* cannot overrule it
    GIT_NO_LAZY_FETCH: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_CONFIG_COUNT: String(Object.keys(settings).length),
  }
  for (const [index, [name, value]] of Object.entries(settings).entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = name
    env[`GIT_CONFIG_VALUE_${index}`] = value
  }
  return env
}

/** Variables by which git is pointed at another repository or program. */
const foreign =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|CONFIG.*|EXTERNAL_DIFF|EXEC_PATH|SSH.*|PROXY_COMMAND|TEMPLATE_DIR)$/

function call(cwd: string, args: readonly string[], timeoutMs: number, more: NodeJS.ProcessEnv): Promise<Answer> {
  const own = Object.entries(withoutCredentials(process.env)).filter(([name]) => !foreign.test(name))
  const env = { ...Object.fromEntries(own), ...more }
  return new Promise((done) => {
    execFile('git', args, { cwd, env, maxBuffer: 64 << 20, timeout: timeoutMs }, (failure, stdout, stderr) =>
      done({ ok: failure === null, text: failure ? stderr || failure.message : stdout }),
    )
  })
}
