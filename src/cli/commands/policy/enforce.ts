/** `ona enforce`: one policy into every agent's machine-wide configuration, which its user cannot change. */

import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import {
  applyPolicy,
  type FileStatus,
  planApply,
  readApplied,
  removePolicy,
  statusOf,
} from '../../../brains/enforce/apply.ts'
import { type Compiled, compilePolicy } from '../../../brains/enforce/compile.ts'
import { debianControl, packedFiles, tarOf } from '../../../brains/enforce/package.ts'
import { makePolicy, readPolicyFile } from '../../../brains/enforce/policy.ts'
import { findRoles, roleNamed } from '../../../brains/roles/find.ts'
import { repositoryOf } from '../../../brains/targets.ts'
import { writeAtomic } from '../../../files/atomic-write.ts'
import { readText } from '../../../files/file-edits.ts'
import { Problem } from '../../../files/problem.ts'
import { counted } from '../../../hooks/text/counted.ts'
import type { Host } from '../../../hosts/host.ts'
import type { Policy, Surroundings } from '../../../hosts/managed.ts'
import { requireOperator } from '../../../store/operator.ts'
import type { FlagsOf } from '../../args.ts'
import { command, family } from '../../command.ts'
import { failed, noted, paint, said, saidJson, table, warned, wrong } from '../../print.ts'
import type { Verb } from '../../verbs.ts'
import { writePage } from '../../write-page.ts'

const help = `ona enforce: write one policy into the machine-wide configuration of every agent.

  ona enforce plan --rules policy.yaml                what each agent can enforce of each rule; writes nothing
  sudo ona enforce apply --rules policy.yaml --role guardian
  ona enforce status                                  per agent: applied, drifted, overridden
  sudo ona enforce remove                             restore every file as it was
  ona enforce apply --rules policy.yaml --root ./payload      write the tree under a folder, for a package or an image
  ona enforce plan --rules policy.yaml --format tar --out policy.tar

  --rules FILE    YAML or JSON: permissions (deny, ask, allow) and managedHooksOnly; may be given again
  --role R...     also enforce the hooks of these roles; their files are copied
  --host H...     agents: claudecode, codex, gemini, opencode, copilot, cursor, vscode, ona; all by default
  --root DIR      write under DIR instead of /
  --node PATH     the Node that runs the hooks; by default this one
  --platform P    linux or darwin: whose paths are used; by default this machine's
  --strict        exit 1 where an agent cannot enforce a rule
  --force         apply, remove: overwrite what was changed since
  --format F      plan: json, tar or deb-tree, written to --out
  --out PATH      where --format writes to
  --json          as JSON
`

const flags = {
  rules: 'each',
  role: { kind: 'list', split: (word: string) => word.split(',').filter(Boolean) },
  host: { kind: 'list', split: (word: string) => word.split(',').filter(Boolean) },
  root: 'value',
  node: 'value',
  platform: { kind: 'value', oneOf: ['linux', 'darwin'] },
  strict: 'flag',
  force: 'flag',
  format: { kind: 'value', oneOf: ['json', 'tar', 'deb-tree'] },
  out: 'value',
  json: 'flag',
} as const
type Flags = FlagsOf<typeof flags>

interface Prepared {
  readonly policy: Policy
  readonly hosts: readonly Host[]
  readonly compiled: Compiled
  readonly root: string
}

async function prepare(flags: Flags): Promise<Prepared> {
  const repo = repositoryOf(process.cwd())
  const files = await Promise.all((flags.rules ?? []).map(readPolicyFile))
  const found = flags.role ? await findRoles(repo, { runCode: true }) : undefined
  const roles = (flags.role ?? []).map((word) => roleNamed(word, found!).role)
  const policy = makePolicy(files, roles)
  const hosts = await hostsNamed(flags.host)
  const platform = flags.platform ?? (process.platform === 'darwin' ? 'darwin' : 'linux')
  const compiled = compilePolicy(policy, { hosts, repo, node: flags.node ?? process.execPath, platform })
  return { policy, hosts, compiled, root: resolve(flags.root ?? '/') }
}

async function hostsNamed(words: readonly string[] | undefined): Promise<readonly Host[]> {
  const { hostOf, hosts } = await import('../../../hosts/index.ts')
  return (
    words?.map((word) => {
      const host = hostOf(word)
      if (!host) throw new Problem(`unknown agent "${word}"; there are ${hosts.map(({ slug }) => slug).join(', ')}`)
      return host
    }) ?? hosts
  )
}

const plan = command('ona enforce plan', { help, flags }, async (given) => {
  const { policy, hosts, compiled, root } = await prepare(given)
  if (given.format) return distribute(compiled, given)
  const support = policy.rules.map((rule) => ({
    rule: `${rule.behavior} ${rule.text}`,
    hosts: Object.fromEntries(hosts.map(({ slug, managed }) => [slug, managed.support(rule)])),
  }))
  const { edits } = planApply(compiled, { root, force: true })
  if (given.json)
    saidJson({
      digest: compiled.digest,
      rules: support,
      hooks: policy.hooks,
      holds: Object.fromEntries(hosts.map(({ slug, managed }) => [slug, managed.holds])),
      files: edits.map(({ path, before, after }) => ({
        path,
        change: before === null ? 'create' : after === null ? 'delete' : 'update',
      })),
    })
  else {
    said(
      table(
        ['rule', ...hosts.map(({ slug }) => slug)],
        support.map(({ rule, hosts: by }) => [rule, ...Object.values(by).map(({ how }) => how)]),
      ),
    )
    for (const [why, rules] of reasonsIn(support))
      said(`  ${why} (${rules.length === support.length ? 'every rule' : rules.join(', ')})`)
    said('')
    for (const { slug, managed } of hosts) said(`  ${paint('bold', slug)}: ${managed.holds}`)
    said('')
    for (const { path, before, after } of edits) said(`  ${before === null ? '+' : after === null ? '-' : '~'} ${path}`)
  }
  const cannot = support.flatMap(({ hosts: by }) => Object.values(by)).filter(({ how }) => how === 'cannot').length
  return given.strict && cannot > 0 ? failed(`--strict: ${counted(cannot, 'rule')} cannot be enforced in an agent`) : 0
})

/** Each reason once, with the rules it applies to. */
function reasonsIn(
  support: readonly { rule: string; hosts: Record<string, { how: string; why?: string }> }[],
): Map<string, string[]> {
  const reasons = new Map<string, string[]>()
  for (const { rule, hosts } of support)
    for (const [slug, { how, why }] of Object.entries(hosts))
      if (why) reasons.set(`${slug}: ${how}: ${why}`, [...(reasons.get(`${slug}: ${how}: ${why}`) ?? []), rule])
  return reasons
}

function distribute(compiled: Compiled, { format, out }: Flags): number {
  if (!out) return wrong('ona enforce plan', '--format needs --out PATH')
  const files = [...packedFiles(compiled), ...(format === 'deb-tree' ? [debianControl(compiled.digest)] : [])]
  if (format === 'deb-tree') {
    for (const { path, text } of files) {
      mkdirSync(dirname(join(out, path)), { recursive: true })
      writeAtomic(join(out, path), text)
    }
  } else {
    const data = format === 'tar' ? tarOf(files) : `${JSON.stringify({ digest: compiled.digest, files }, null, 2)}\n`
    const why = writePage(out, data, 0o644)
    if (why) return failed(why)
  }
  noted(`${out}: policy ${compiled.digest}, ${counted(files.length, 'file')}`) // --out may be /dev/stdout
  return 0
}

const apply = command('ona enforce apply', { help, flags }, async (given) => {
  const { policy, hosts, compiled, root } = await prepare(given)
  if (root === '/' && process.getuid?.() !== 0)
    return failed(
      'applying a policy to this machine needs root: sudo ona enforce apply …; or write it elsewhere with --root DIR',
    )
  requireOperator('applying a policy', actedOn(root))
  const cannot = policy.rules.flatMap((rule) => hosts.filter(({ managed }) => managed.support(rule).how === 'cannot'))
  if (given.strict && cannot.length > 0)
    return failed(
      `--strict: ${counted(cannot.length, 'rule')} cannot be enforced in an agent; nothing was written (ona enforce plan shows them)`,
    )
  const { changed } = await applyPolicy(compiled, { root, force: given.force === true })
  if (given.json) return saidJson({ digest: compiled.digest, changed })
  for (const path of changed) said(`  ${path}`)
  return said(`policy ${compiled.digest}: ${counted(changed.length, 'file')} written; ona prove shows that it holds`)
})

const status = command('ona enforce status', { help, flags }, async (given) => {
  const root = resolve(given.root ?? '/')
  const applied = readApplied(root)
  if (!applied) return failed(`no policy is applied in ${root}`)
  const hosts = await hostsNamed(undefined)
  const files = statusOf(root, applied)
  const seen = surroundings(root)
  const rows = [...files].map(([slug, list]) => {
    const host = hosts.find((one) => one.slug === slug)
    const wrongFiles = list.filter(({ state }) => state !== 'applied')
    return {
      host: slug || 'policy',
      files: list,
      wrong: wrongFiles,
      overridden: host?.managed.overrides?.(seen) ?? [],
      holds: host?.managed.holds,
    }
  })
  const problems = rows.flatMap(({ host, wrong: bad, overridden }) => [
    ...bad.map((file) => `${host}: ${fileProblem(file)}`),
    ...overridden.map((why) => `${host}: ${why}`),
  ])
  problems.push(...interpreterProblems(root, applied.files))
  if (given.json) saidJson({ digest: applied.digest, hosts: rows.map(({ wrong: _, ...row }) => row), problems })
  else {
    said(`policy ${applied.digest}`)
    for (const { host, files: list, wrong: bad, overridden, holds } of rows)
      said(
        `  ${host.padEnd(11)} ${list.length === 0 ? 'not enforced' : bad.length > 0 ? 'drifted' : overridden.length > 0 ? 'overridden' : 'applied'}, ${counted(list.length, 'file')}${holds ? paint('dim', `  ${holds}`) : ''}`,
      )
  }
  for (const problem of problems) warned(problem)
  return problems.length > 0 ? 1 : 0
})

function surroundings(root: string): Surroundings {
  const repo = repositoryOf(process.cwd())
  const stat = (path: string) => statSync(join(root, path), { throwIfNoEntry: false })
  return {
    platform: process.platform === 'darwin' ? 'darwin' : 'linux',
    env: process.env,
    home: (path) => readable(join(homedir(), path)),
    repo: (path) => readable(join(repo, path)),
    machine: (path) => readable(join(root, path)),
    list: (folder) => (stat(folder)?.isDirectory() ? readdirSync(join(root, folder)).sort() : []),
    owner: (path) => (stat(path)?.uid === statSync(root).uid ? 0 : (stat(path)?.uid ?? null)),
  }
}

/** What cannot be read has no say in an agent of this user's either. */
function readable(path: string): string | null {
  try {
    return readText(path)
  } catch {
    return null
  }
}

export const fileProblem = ({ path, state, why }: FileStatus): string => `${path} is ${state}${why ? `: ${why}` : ''}`

/** A hook whose interpreter is gone refuses every call, or lets it pass, by the agent. */
export function interpreterProblems(root: string, files: Readonly<Record<string, unknown>>): string[] {
  const nodes = new Set<string>()
  for (const path of Object.keys(files))
    for (const [, node] of (readable(join(root, path)) ?? '').matchAll(/HOME=\\?"\$HOME\\?" '([^']+)'/g))
      nodes.add(node!)
  return [...nodes].filter((node) => !existsSync(node)).map((node) => `${node}, which runs the hooks, is not there`)
}

/** A tree under another folder governs nobody yet. */
const actedOn = (root: string) => ({ folder: root, ...(root === '/' && { home: homedir() }) })

const remove = command('ona enforce remove', { help, flags }, async (given) => {
  const root = resolve(given.root ?? '/')
  requireOperator('removing a policy', actedOn(root))
  const { removed } = await removePolicy({ root, force: given.force === true })
  if (given.json) return saidJson({ removed })
  for (const path of removed) said(`  ${path}`)
  return said('every file is as it was before the policy')
})

export const run = family<Verb<'enforce'>>('ona enforce', help, { plan, apply, status, remove })
