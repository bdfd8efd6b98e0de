/**
 * Ways in which a guard can fail, all in one session of an agent: one hook that fails as the call says, and a model that makes
 * one call for each. Once with the hooks of a repository, once with an enforced policy.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ProofCase } from '../../src/brains/prove/cases.ts'
import { type ProofResult, proveHost } from '../../src/brains/prove/session.ts'
import type { Host } from '../../src/hosts/host.ts'

/** What the guard does when a call's command has the name in it. */
const failures: Readonly<Record<string, string>> = {
  crash: 'exit 1',
  'exit-3': 'echo broken >&2; exit 3',
  'exit-127': 'exit 127',
  'missing-program': 'exec ./no-such-program',
  'missing-interpreter': 'exec ./no-interpreter',
  garbage: 'echo no JSON at all',
  'half-json': `printf '{"decision":"blo'`,
  'json-list': `echo '[]'`,
  'unknown-decision': `echo '{"decision":"maybe"}'`,
  killed: 'kill -9 $$',
  segfault: 'kill -SEGV $$',
  'huge-output': 'yes | head -c 20000000',
  'time-out': 'sleep 30',
  'silent-refusal': 'exit 2',
}

/** The program of the guard: it passes a call that names no failure. */
const guard = `event=$(cat)
case $event in
${Object.entries(failures)
  .map(([name, does]) => `  *ona-fails-${name}*) ${does} ;;`)
  .join('\n')}
esac
`
const hooks = {
  onTool: [{ command: 'sh fail.sh', timeout: 'PT3S', filter: { what: 'Bash' }, onFailure: 'refuse' }],
}

const attempt = (name: string, expect: ProofCase['expect']): ProofCase => ({
  name,
  tool: 'Bash',
  input: { command: `: ona-fails-${name}; touch ran-${name}` },
  expect,
  mark: `ran-${name}`,
})
const cases = [attempt('nothing', 'went through'), ...Object.keys(failures).map((name) => attempt(name, 'refused'))]

export async function failClosed(
  host: Host,
  program: string,
  ona: string,
  mode: 'synced' | 'enforced',
): Promise<readonly ProofResult[]> {
  const top = realpathSync(mkdtempSync(join(tmpdir(), `ona-fail-closed-${host.slug}-`)))
  try {
    const repo = join(top, 'repo')
    const root = join(top, 'root')
    const put = (path: string, text: string) => {
      mkdirSync(dirname(join(repo, path)), { recursive: true })
      writeFileSync(join(repo, path), text)
    }
    put('fail.sh', guard)
    put('no-interpreter', '#!/no/such/interpreter\n')
    chmodSync(join(repo, 'no-interpreter'), 0o755)
    put('ona.roles.json', JSON.stringify({ repo: 'live', roles: [{ slug: 'watcher', hooks: { onBrain: hooks } }] }))
    mkdirSync(join(top, 'home'))
    const run = (command: string, ...words: string[]) =>
      execFileSync(command, words, { cwd: repo, env: { ...process.env, HOME: join(top, 'home') }, stdio: 'pipe' })
    run('git', 'init', '-q')
    if (mode === 'synced') run(process.execPath, ona, 'init', '--roles', 'watcher', '--hooks', host.slug)
    else run(process.execPath, ona, 'enforce', 'apply', '--role', 'watcher', '--host', host.slug, '--root', root)
    run('git', 'add', '-A')
    run('git', '-c', 'user.name=x', '-c', 'user.email=x@y', 'commit', '-qm', 'hooks')
    return await proveHost(host, program, cases, {
      root: mode === 'synced' ? '/' : root,
      repo,
      timeoutMs: 240_000,
    })
  } finally {
    rmSync(top, { recursive: true, force: true })
  }
}
