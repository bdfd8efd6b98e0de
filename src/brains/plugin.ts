/** A role as an installable plugin of an agent: its hooks, its skills and the shim, in the folder layout that the agent reads. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Problem } from '../files/problem.ts'
import { claudeEvents } from '../hosts/claudecode/events.ts'
import { cursorEvents } from '../hosts/cursor/events.ts'
import { durationMs } from '../hosts/duration.ts'
import { geminiEvents } from '../hosts/gemini/events.ts'
import { type BrainHook, type Moment, momentOf, refusesOnFailure } from '../hosts/hook.ts'
import { hostOf } from '../hosts/index.ts'
import { orRefuse, refusalMarginMs, shimWords } from '../hosts/shim/command-text.ts'
import { shimText } from '../hosts/shim/shim.ts'
import { dirsOf, hooksOf, type Role } from './role.ts'

export const pluginHosts = ['claudecode', 'codex', 'gemini', 'cursor', 'copilot'] as const
export type PluginHost = (typeof pluginHosts)[number]

interface Format {
  /** The plugin's manifest, from its root. */
  readonly manifest: string
  /** The hooks file. */
  readonly hooks: string
  /** How a command names the plugin's own folder. */
  readonly root: string
  readonly events: Readonly<Record<Moment, string>>
  readonly unitMs: number
  /** Event, group, handlers; or event, entries. */
  readonly groups: boolean
  readonly skeleton?: object
  /** The file that makes the folder a marketplace with this one plugin, and the source that names the folder itself. */
  readonly marketplace?: { readonly file: string; readonly source: unknown }
  readonly install: string
}

const formats: Readonly<Record<PluginHost, Format>> = {
  claudecode: {
    manifest: '.claude-plugin/plugin.json',
    hooks: 'hooks/hooks.json',
    root: '${CLAUDE_PLUGIN_ROOT}',
    events: claudeEvents,
    unitMs: 1000,
    groups: true,
    marketplace: { file: '.claude-plugin/marketplace.json', source: './' },
    install: 'claude --plugin-dir DIR; or claude plugin marketplace add DIR, claude plugin install NAME@NAME',
  },
  codex: {
    manifest: '.codex-plugin/plugin.json',
    hooks: 'hooks/hooks.json',
    root: '${PLUGIN_ROOT}',
    events: claudeEvents,
    unitMs: 1000,
    groups: true,
    marketplace: { file: '.agents/plugins/marketplace.json', source: { source: 'local', path: './' } },
    install: 'codex plugin marketplace add DIR; codex plugin add NAME@NAME; its hooks must be trusted once in /hooks',
  },
  gemini: {
    manifest: 'gemini-extension.json',
    hooks: 'hooks/hooks.json',
    root: '${extensionPath}',
    events: geminiEvents,
    unitMs: 1,
    groups: true,
    install: 'gemini extensions install DIR',
  },
  cursor: {
    manifest: '.cursor-plugin/plugin.json',
    hooks: 'hooks/hooks.json',
    root: '${CURSOR_PLUGIN_ROOT:-.}',
    events: cursorEvents,
    unitMs: 1000,
    groups: false,
    skeleton: { version: 1 },
    install: 'through a Cursor marketplace; from its documentation, not tried',
  },
  copilot: {
    manifest: 'plugin.json',
    hooks: 'com.github.copilot/hooks/hooks.json',
    root: '${PLUGIN_ROOT}',
    events: claudeEvents,
    unitMs: 1000,
    groups: false,
    skeleton: { version: 1 },
    install: 'copilot --plugin-dir DIR',
  },
}

export interface BuiltPlugin {
  readonly files: readonly string[]
  readonly install: string
  /** What the agent cannot express of a hook. */
  readonly limits: readonly string[]
}

/** Writes the plugin into an empty or new folder. `base`: where the role's own paths start; `repo`: where its commands run today. */
export function buildPlugin(
  role: Role,
  host: PluginHost,
  { out, base, repo }: { out: string; base: string; repo: string },
): BuiltPlugin {
  if (existsSync(out) && readdirSync(out).length > 0)
    throw new Problem(`${out} is not empty; name a new folder with --out`)
  const format = formats[host]
  const agent = hostOf(host)!
  const hooks = hooksOf(role)
  const limits = hooks.flatMap((hook) => agent.limits(hook))
  const kept = hooks.filter((hook) => !limits.some((limit) => limit.hook === hook && limit.dropped))
  const files: string[] = []
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(out, path)), { recursive: true })
    writeFileSync(join(out, path), text)
    files.push(path)
  }
  const manifest = manifestOf(role, host)
  const { name } = manifest
  put(format.manifest, `${JSON.stringify(manifest, null, 2)}\n`)
  put('README.md', readmeOf(role, manifest, kept))
  if (format.marketplace) {
    const { file, source } = format.marketplace
    const plugins = [{ name, description: manifest.description, source }]
    put(
      file,
      `${JSON.stringify({ name, description: manifest.description, owner: { name: role.repo ?? name }, plugins }, null, 2)}\n`,
    )
  }
  const lists = hooksFile(kept, format)
  put(format.hooks, `${JSON.stringify({ ...format.skeleton, hooks: lists }, null, 2)}\n`)
  put('bin/rhachet-hook.cjs', shimText({ ...agent.shim, cwd: '/../files' }))
  put('files/README', `Files of the role ${role.slug} that its hooks name.\n`)
  for (const path of filesNamed(kept, repo)) put(`files/${path}`, readFileSync(join(repo, path), 'utf8'))
  for (const dir of dirsOf(role.skills)) {
    cpSync(resolve(base, dir), join(out, 'skills'), { recursive: true })
    files.push('skills/')
  }
  return {
    files,
    install: format.install.replaceAll('DIR', out).replaceAll('NAME', name),
    limits: limits.map(
      ({ hook, why, dropped }) => `${hook.event}: ${hook.command}: ${why}${dropped ? '; left out' : ''}`,
    ),
  }
}

interface PluginManifest {
  readonly name: string
  readonly description: string
  readonly [key: string]: unknown
}

const readmeOf = (role: Role, { name, description }: PluginManifest, hooks: readonly BrainHook[]): string =>
  `# ${name}\n\n${description}\n\nBuilt from the role ${role.slug} with \`ona plugin build\`. Its hooks run these commands:\n\n${hooks
    .map(({ event, command }) => `- ${event}: \`${command}\`\n`)
    .join(
      '',
    )}\nThey need Node on the PATH. Files that the commands name are in files/. To change the plugin, change the role and build it again.\n`

function manifestOf({ slug, repo, purpose }: Role, host: PluginHost): PluginManifest {
  const name = `${repo && repo !== '.this' ? `${repo}-` : ''}${slug}`.toLowerCase().replaceAll(/[^a-z0-9.-]/g, '-')
  const common = { name, version: '1.0.0', description: purpose ?? `hooks of the role ${slug}` }
  if (host === 'copilot') return { $schema: 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json', ...common }
  return host === 'claudecode' || host === 'codex'
    ? { ...common, author: { name: repo && repo !== '.this' ? repo : slug } }
    : common
}

function hooksFile(hooks: readonly BrainHook[], { events, unitMs, groups, root }: Format): Record<string, object[]> {
  const lists: Record<string, object[]> = {}
  for (const hook of hooks) {
    const refuses = refusesOnFailure(hook)
    const handler = {
      type: 'command',
      command: `node "${root}/bin/rhachet-hook.cjs" ${shimWords(hook)}${refuses ? orRefuse : ''}`,
      timeout: Math.ceil((durationMs(hook.timeout) + (refuses ? refusalMarginMs : 0)) / unitMs),
    }
    const event = events[momentOf(hook)]
    lists[event] = [...(lists[event] ?? []), groups ? { hooks: [handler] } : handler]
  }
  return lists
}

/** The files that the commands name, from the root of the repository. */
export function filesNamed(hooks: readonly BrainHook[], repo: string): string[] {
  const words = hooks.flatMap(({ command }) => command.split(/[\s'"=;|&<>()]+/))
  const isFile = (path: string) => statSync(join(repo, path), { throwIfNoEntry: false })?.isFile() === true
  return [...new Set(words.filter((word) => word !== '' && !/^[/-]|^\.\./.test(word) && isFile(word)))].map((path) =>
    path.replace(/^\.\//, ''),
  )
}
