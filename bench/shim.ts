/**
 * What stands between another agent and a role's hook, in CPU time (user and system, children included), each command against
 * another in pairs: `node bench/shim.ts [ROUNDS]`.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { applyPolicy } from '../src/brains/enforce/apply.ts'
import { compilePolicy } from '../src/brains/enforce/compile.ts'
import { makePolicy } from '../src/brains/enforce/policy.ts'
import type { BrainHook } from '../src/hosts/hook.ts'
import type { Host } from '../src/hosts/host.ts'
import { hostOf } from '../src/hosts/index.ts'
import { median } from './lib/processes.ts'
import { report } from './lib/report.ts'

const rounds = Number(process.argv[2] ?? 31)
const root = mkdtempSync(join(tmpdir(), 'ona-bench-shim-'))
const put = (path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}
put('guard.mjs', "import { readFileSync } from 'node:fs'\nJSON.parse(readFileSync(0, 'utf8'))\n")
put('empty.cjs', '')
put(
  'event.json',
  JSON.stringify({ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'npm test' }, cwd: root }),
)
const node = `'${process.execPath}'`
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, CLAUDE_PROJECT_DIR: root }

/** The command as it is in the agent's config, with the files that it needs. */
function written(host: Host, hook: BrainHook): string {
  for (const { path, text } of host.helpers ?? []) if (text !== null) put(path, text)
  const { hooks } = JSON.parse(host.write(null, [hook], host.config)!)
  return (Object.values(hooks)[0] as { hooks: { command: string }[] }[])[0]!.hooks[0]!.command.replaceAll(
    '$GEMINI_PROJECT_DIR',
    root,
  )
}
const hook = (command: string, onFailure: 'refuse' | 'pass'): BrainHook => ({
  author: 'repo=a/role=b',
  event: 'onTool',
  command,
  timeout: 'PT60S',
  filter: { what: 'Bash' },
  onFailure,
})

/** ms of CPU time; bash's `times` tells those of its children in its second line. */
function cpu(command: string): number {
  const script = `{ ${command}\n} <event.json >/dev/null 2>&1; times`
  const { stdout } = spawnSync('bash', ['-c', script], { cwd: root, env, encoding: 'utf8' })
  const [, minutes, seconds, more, rest] = /\n(\d+)m([\d.]+)s (\d+)m([\d.]+)s/.exec(stdout)!
  return (Number(minutes) * 60 + Number(seconds) + Number(more) * 60 + Number(rest)) * 1000
}

function ratio(command: string, against: string): number {
  const ratios: number[] = []
  for (let round = -1; round < rounds; round++) {
    const before = cpu(against)
    const took = cpu(command)
    const after = cpu(against)
    if (round >= 0) ratios.push(took / ((before + after) / 2))
  }
  return median(ratios)
}

const policy = makePolicy([{ permissions: { deny: ['Bash(rm -rf *)', 'Read(**/.env)'] } }], [])
const hosts = [hostOf('claudecode')!]
await applyPolicy(compilePolicy(policy, { hosts, repo: root, node: process.execPath, platform: 'linux' }), {
  root: join(root, 'machine'),
  force: false,
})
const [claude, gemini] = [hostOf('claudecode')!, hostOf('gemini')!]
const bare = 'node guard.mjs'
const shim = (host: Host, onFailure: 'refuse' | 'pass') => written(host, hook(bare, onFailure))
const policyCall = `${node} machine/etc/ona/policy/hook-claudecode.cjs --policy`
const viaGuard = `sh .claude/hooks/rhachet-guard.sh`
shim(claude, 'refuse')

const lines = [
  { what: 'Claude Code, fail-closed Node hook × bare', value: ratio(shim(claude, 'refuse'), bare), atMost: 1.2 },
  {
    what: 'fail-closed shell hook × through the Node shim',
    value: ratio(`${viaGuard} true 60000`, `node .claude/hooks/rhachet-hook.cjs '*' true 60000 refuse`),
    atMost: 0.4,
  },
  { what: 'the Node shim, fail-closed × not', value: ratio(shim(gemini, 'refuse'), shim(gemini, 'pass')), atMost: 1.1 },
  { what: 'Gemini CLI, Node hook × bare', value: ratio(shim(gemini, 'pass'), bare) },
  { what: 'one call judged by a policy × an empty .cjs', value: ratio(policyCall, `${node} empty.cjs`), atMost: 2.2 },
]
rmSync(root, { recursive: true })
report(
  'What runs between another agent and a hook: CPU time, children included, in pairs. Bare: the command as the agent would run it.',
  lines,
)
