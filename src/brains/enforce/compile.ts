/** A policy as files: the programs that apply it, and each agent's managed configuration. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Problem } from '../../files/problem.ts'
import { guardMs } from '../../hosts/config/managed-hooks.ts'
import { durationMs } from '../../hosts/duration.ts'
import { type BrainHook, momentOf, refusesOnFailure } from '../../hosts/hook.ts'
import type { Host } from '../../hosts/host.ts'
import { type ManagedFile, ownFile, type Policy, type PolicyPlace, type PolicyRule } from '../../hosts/managed.ts'
import { pluginText } from '../../hosts/opencode/plugin-text.ts'
import { opencodeTools } from '../../hosts/opencode/tools.ts'
import { orRefuse, shimFilter, shimWords } from '../../hosts/shim/command-text.ts'
import { shimText } from '../../hosts/shim/shim.ts'
import { packageRoot } from '../../package-root.ts'
import { filesNamed } from '../plugin.ts'
import { digestOf } from './policy.ts'

export interface CompileOptions {
  readonly hosts: readonly Host[]
  /** The repository that role hooks come from; their files are copied. */
  readonly repo: string
  /** The Node that runs the hooks, absolute. */
  readonly node: string
  readonly platform: 'linux' | 'darwin'
}

export interface Compiled {
  readonly digest: string
  /** Files by host; those of the policy itself come first, under "". */
  readonly files: ReadonlyMap<string, readonly ManagedFile[]>
}

const policyDir = { linux: '/etc/ona/policy', darwin: '/Library/Application Support/Ona/policy' }

/** Nothing of the user's environment reaches a hook but the home folder: NODE_OPTIONS alone would be enough to get past it. */
const cleanEnv =
  '/usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME="$HOME"'

export function compilePolicy(policy: Policy, options: CompileOptions): Compiled {
  const { hosts, repo, node, platform } = options
  const place = placeOf(node, platform)
  const tree = treeFiles(policy.hooks, repo)
  const own: ManagedFile[] = [
    ownFile(`${place.dir}/policy.json`, `${JSON.stringify(guardRules(policy.rules, hosts), null, 2)}\n`),
    ownFile(`${place.dir}/guard.cjs`, guardText()),
    ...hosts.map((host) =>
      ownFile(`${place.dir}/hook-${host.slug}.cjs`, shimText({ ...host.shim, policy: host.slug, cwd: '/tree' })),
    ),
    ownFile(`${place.dir}/tree/README`, 'Files of hooks that a policy runs. Written by ona enforce.\n'),
    ...tree.map(({ path, text }) => ownFile(`${place.dir}/tree/${path}`, text)),
  ]
  if (hosts.some(({ slug }) => slug === 'opencode'))
    own.push(ownFile(`${place.dir}/opencode-policy.ts`, pluginFor(policy, place, node)))
  const files = new Map<string, readonly ManagedFile[]>([['', own]])
  for (const host of hosts) files.set(host.slug, host.managed.files(policy, place))
  const texts = [...files.values()].flat().map((file) => [file.path, file.merge(null)])
  return { digest: digestOf([policy, texts]), files }
}

function placeOf(node: string, platform: 'linux' | 'darwin'): PolicyPlace {
  const dir = policyDir[platform]
  return {
    dir,
    platform,
    command(host, hook) {
      const shim = `${cleanEnv} '${node}' '${dir}/hook-${host}.cjs'`
      // the guard waits for nothing, so that a limit on its CPU time is a time limit
      if (!hook) return `ulimit -S -t ${guardMs / 1000}; ${shim} --policy${orRefuse}`
      return `${shim} ${shimWords(hook)}${refusesOnFailure(hook) ? orRefuse : ''}`
    },
  }
}

const guardCommand = (node: string, dir: string, host: string) => `'${node}' '${dir}/guard.cjs' ${host}`

function guardText(): string {
  const path = join(packageRoot, 'dist/guard.cjs')
  if (!existsSync(path)) throw new Problem(`${path} is not built; run npm run build`)
  return readFileSync(path, 'utf8')
}

/** What the guard reads: the rules that refuse and ask, and how each host names the MCP tools in them. */
function guardRules(rules: readonly PolicyRule[], hosts: readonly Host[]) {
  const of = (behavior: 'deny' | 'ask') => rules.filter((rule) => rule.behavior === behavior).map(({ text }) => text)
  const mcp = hosts.map(({ slug, dialect }) => [
    slug,
    rules.flatMap(({ mcp: named, tool }) => {
      if (!named || !dialect.mcp) return []
      const native = dialect.mcp(named.server, named.tool ?? '')
      // an agent that names a tool without its server cannot be held to a rule about the whole server
      if (!named.tool && !native.includes(named.server)) return []
      return [[named.tool ? native : `${native}*`, named.tool ? tool : `mcp__${named.server}__any`]]
    }),
  ])
  return { permissions: { deny: of('deny'), ask: of('ask') }, mcp: Object.fromEntries(mcp) }
}

/** The files that the hooks' commands name, with the folders they lie in: a workspace's copy could be changed by its user. */
function treeFiles(hooks: readonly BrainHook[], repo: string): { path: string; text: string }[] {
  const found = new Set<string>()
  for (const path of filesNamed(hooks, repo)) {
    const folder = path.includes('/') ? dirname(path) : null
    const beside = folder ? globSync('**/*', { cwd: join(repo, folder) }).map((name) => join(folder, name)) : [path]
    if (beside.length > 500)
      throw new Problem(`${folder} has ${beside.length} files; put the program of a hook into a folder of its own`)
    for (const file of beside) if (statSync(join(repo, file), { throwIfNoEntry: false })?.isFile()) found.add(file)
  }
  return [...found].sort().map((path) => ({ path, text: readFileSync(join(repo, path), 'utf8') }))
}

function pluginFor({ hooks }: Policy, place: PolicyPlace, node: string): string {
  const line = (hook: BrainHook) =>
    JSON.stringify({
      author: hook.author,
      moment: momentOf(hook),
      what: shimFilter(hook),
      command: `${cleanEnv} ${hook.command}`,
      timeoutMs: durationMs(hook.timeout),
      ...(refusesOnFailure(hook) && { refuse: true }),
    })
  const guard: BrainHook = {
    author: 'policy',
    event: 'onTool',
    command: guardCommand(node, place.dir, 'opencode'),
    timeout: { milliseconds: guardMs },
    onFailure: 'refuse',
  }
  const roles = hooks.map((hook) => ({ ...hook, command: `sh -c '${hook.command.replaceAll("'", "'\\''")}'` }))
  const parts = { tools: opencodeTools, begin: '// hooks begin', end: '// hooks end', root: './tree' }
  return pluginText({ ...parts, lines: [guard, ...roles].map(line) })
}
