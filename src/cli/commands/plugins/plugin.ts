/** `ona plugin`: plugins of Claude Code's layout and Agent Plugins, and the marketplaces they come from. */
import { resolve } from 'node:path'
import { settingsHere } from '../../../agent/session/folder-settings.ts'
import { statOf } from '../../../files/plain-file.ts'
import type { Installation } from '../../../plugins/install.ts'
import {
  type Managing,
  managing,
  type Scope,
  scopes,
  setEnabled,
  stateOf,
  statusOf,
  statusOfAll,
} from '../../../plugins/manage.ts'
import type { Plugin } from '../../../plugins/read-plugin.ts'
import { saySource, sourceOfWord } from '../../../plugins/source.ts'
import { summaryOf } from '../../../plugins/summary.ts'
import { command, family } from '../../command.ts'
import { failed, noted, paint, said, saidJson, table, warned, wrong } from '../../print.ts'
import type { Verb } from '../../verbs.ts'
import { build } from './build.ts'
import { marketplace } from './marketplace.ts'
import { validate } from './validate.ts'

const help = `ona plugin installs and manages plugins: hooks, commands, skills, agents, MCP servers and output styles in one folder.

  ona plugin marketplace add anthropics/claude-plugins-official
  ona plugin add code-review@claude-plugins-official
  ona plugin add ./my-plugin
  ona plugin add https://example.com/team/plugin.git#v2
  ona plugin list

  list [--json]                    what is installed, Claude Code's plugins included, and its state
  add SOURCE|NAME@MARKETPLACE      install and enable it; shows what it runs and prompts for trust
  info NAME                        what it runs and offers, and where it lies
  trust NAME                       trust it as it is now; changed content needs trust again
  enable NAME, disable NAME        in the settings of --scope user (default), project or local
  update [NAME…]                   from where it came; all without a name
  remove NAME [--keep-data]
  validate PATH                    check a plugin or a marketplace, for authors
  marketplace add SOURCE | list | update [NAME] | remove NAME
  build ROLE --host H --out DIR    make a role a plugin of another agent

  --scope S    whose settings: user, project or local
  --trust      trust it without a prompt
  --json       one line of JSON
`

const scope = { kind: 'value', short: 's', oneOf: scopes } as const
const json = 'flag'

export const here = (): Managing => managing(settingsHere(), process.env)

const list = command('ona plugin list', { help, flags: { json } }, (given) => {
  const all = statusOfAll(here())
  if (given.json)
    return saidJson(
      all.map((each) => ({
        id: each.id,
        version: each.version ?? null,
        state: stateOf(each),
        enabled: each.enabled,
        trust: each.trust ?? null,
        installed_by: each.installed?.by ?? null,
        path: each.installed?.root ?? null,
        problem: each.problem ?? null,
      })),
    )
  if (all.length === 0) return said('no plugin is installed; ona plugin --help shows how to add one')
  const rows = all.map((each) => [each.id, each.version ?? '', each.installed?.by ?? '', stateOf(each)])
  said(table(['plugin', 'version', 'from', 'state'], rows))
  for (const { id, problem } of all) if (problem) warned(`${id}: ${problem}`)
  return 0
})

const add = command(
  'ona plugin add',
  { help, flags: { scope, trust: 'flag', json }, words: 1 },
  async (given, [word]) => {
    if (word === undefined)
      return wrong('ona plugin add', 'name a plugin, as in ona plugin add NAME@MARKETPLACE, or a folder or git URL')
    const at = here()
    const { installFrom, installNamed } = await import('../../../plugins/install.ts')
    const isNamed = /^[\w.-]+@[\w.-]+$/.test(word) && !isFolder(word)
    const read = isNamed ? undefined : sourceOfWord(word, at.cwd, isFolder)
    if (read && 'problem' in read) return wrong('ona plugin add', read.problem)
    const installation = read ? await installFrom(at, read.source) : await installNamed(at, word)
    const { id, plugin, unchanged } = installation
    const edited = await setEnabled(at, id, true, given.scope ?? 'user')
    if (!edited.ok) return failed(`${edited.file}: ${edited.why}`)
    const trusted = await settleTrust(at, installation, given.trust === true)
    if (given.json)
      return saidJson({ id, version: plugin.version ?? null, path: plugin.root, trusted, settings: edited.file })
    said(
      `${unchanged ? 'already installed' : 'installed'} ${id}${plugin.version ? ` ${plugin.version}` : ''}; enabled in ${edited.file}`,
    )
    tellTakeOver(edited)
    for (const warning of plugin.warnings) warned(warning)
    if (!trusted) warned(`${id} is not trusted, so nothing of it is used; ona plugin trust ${id}`)
    return 0
  },
)

const trust = command('ona plugin trust', { help, flags: { json }, words: 1 }, async (given, [word]) => {
  if (word === undefined) return wrong('ona plugin trust', 'name a plugin; ona plugin list shows them')
  const at = here()
  const { findInstalled } = await import('../../../plugins/install.ts')
  const installed = findInstalled(at, word, at.cwd)
  const { plugin, problem } = statusOf(at, installed.id, installed)
  if (!plugin) return failed(`${installed.id}: ${problem}`)
  if (!given.json) noted(described(plugin))
  ;(await import('../../../plugins/manage.ts')).trust(at, installed)
  return given.json ? saidJson({ id: installed.id, trusted: true }) : said(`${installed.id} is trusted as it is now`)
})

const info = command('ona plugin info', { help, flags: { json }, words: 1 }, async (given, [word]) => {
  if (word === undefined) return wrong('ona plugin info', 'name a plugin; ona plugin list shows them')
  const at = here()
  const { findInstalled } = await import('../../../plugins/install.ts')
  const installed = findInstalled(at, word, at.cwd)
  const status = statusOf(at, installed.id, installed)
  const { plugin } = status
  const source = installed.source ? saySource(installed.source) : null
  const summary = plugin ? summaryOf(plugin) : { runs: [], offers: [] }
  const warnings = plugin?.warnings ?? []
  if (given.json)
    return saidJson({
      id: installed.id,
      version: status.version ?? null,
      state: stateOf(status),
      path: installed.root,
      source,
      ...summary,
      warnings,
      problem: status.problem ?? null,
    })
  said(`${paint('bold', installed.id)} ${status.version ?? ''}\n${plugin?.description ?? ''}`.trimEnd())
  said(`state: ${stateOf(status)}\npath: ${installed.root}${source ? `\nfrom: ${source}` : ''}`)
  if (plugin) said(described(plugin))
  for (const warning of warnings) warned(warning)
  return status.problem ? failed(status.problem) : 0
})

const toggle = (verb: 'enable' | 'disable') =>
  command(`ona plugin ${verb}`, { help, flags: { scope, json }, words: 1 }, async (given, [word]) => {
    if (word === undefined) return wrong(`ona plugin ${verb}`, 'name a plugin; ona plugin list shows them')
    const at = here()
    const known = statusOfAll(at).filter(({ id }) => id === word || id.startsWith(`${word}@`))
    if (known.length !== 1)
      return failed(
        known.length > 1
          ? `"${word}" is ${known.map(({ id }) => id).join(' or ')}; say which`
          : `there is no plugin "${word}"; ona plugin list`,
      )
    const { id, required, trust: state } = known[0]!
    if (required && verb === 'disable') return failed(`${id} is enabled by managed settings and stays so`)
    const edited = await setEnabled(at, id, verb === 'enable', given.scope ?? 'user')
    if (!edited.ok) return failed(`${edited.file}: ${edited.why}`)
    if (given.json) return saidJson({ id, enabled: verb === 'enable', settings: edited.file })
    said(`${verb}d ${id} in ${edited.file}; it counts from the next start on`)
    tellTakeOver(edited)
    if (verb === 'enable' && state !== 'trusted')
      warned(`${id} is not trusted, so nothing of it is used; ona plugin trust ${id}`)
    return 0
  })

const update = command(
  'ona plugin update',
  { help, flags: { trust: 'flag', json }, words: 100 },
  async (given, words) => {
    const at = here()
    const { updatePlugin } = await import('../../../plugins/install.ts')
    const { installedPlugins } = await import('../../../plugins/registry.ts')
    const ids = words.length > 0 ? words : installedPlugins(at).flatMap(({ id, by }) => (by === 'ona' ? [id] : []))
    const updated: object[] = []
    for (const word of ids) {
      const installation = await updatePlugin(at, word)
      const { id, plugin, unchanged } = installation
      const trusted = await settleTrust(at, installation, given.trust === true)
      updated.push({ id, version: plugin.version ?? null, changed: !unchanged, trusted })
      if (given.json) continue
      said(`${id}${plugin.version ? ` ${plugin.version}` : ''}: ${unchanged ? 'up to date' : 'updated'}`)
      if (!trusted) warned(`${id} has changed and is not trusted, so nothing of it is used; ona plugin trust ${id}`)
    }
    return given.json ? saidJson(updated) : 0
  },
)

const remove = command(
  'ona plugin remove',
  { help, flags: { 'keep-data': 'flag', json }, words: 1 },
  async (given, [word]) => {
    if (word === undefined) return wrong('ona plugin remove', 'name a plugin; ona plugin list shows them')
    const at = here()
    const { removePlugin } = await import('../../../plugins/install.ts')
    const id = removePlugin(at, word, { keepData: given['keep-data'] === true })
    const files: string[] = []
    for (const each of scopes)
      if (await isNamedIn(at, id, each)) files.push((await setEnabled(at, id, undefined, each)).file)
    return given.json
      ? saidJson({ id, settings: files })
      : said(`removed ${id}${files.length > 0 ? `, also from ${files.join(', ')}` : ''}`)
  },
)

/** Whether ona's own file of the scope mentions it; Claude Code's is not changed. */
async function isNamedIn(at: Managing, id: string, scope: Scope): Promise<boolean> {
  const { readLayers } = await import('../../../store/settings/settings-files.ts')
  const { layers } = readLayers({ cwd: at.cwd, home: at.home, env: at.env })
  const layer = layers.find((each) => each.level === scope && !each.foreign)
  const enabled = layer?.settings['enabledPlugins']
  return typeof enabled === 'object' && enabled !== null && id in enabled
}

/** Asked at a terminal; elsewhere `--trust` answers. True where it is trusted already. */
async function settleTrust(
  at: Managing,
  { id, plugin, hash, trust: state }: Installation,
  always: boolean,
): Promise<boolean> {
  const { trustPlugin } = await import('../../../plugins/trust.ts')
  if (state === 'trusted') return true
  if (!always) {
    if (!process.stdin.isTTY || !process.stderr.isTTY) return false
    noted(described(plugin))
    const { createInterface } = process.getBuiltinModule('node:readline/promises')
    const terminal = createInterface({ input: process.stdin, output: process.stderr })
    const answer = await terminal.question(`Trust ${id}, as it is now? [y/N] `)
    terminal.close()
    if (!/^y(es)?$/i.test(answer.trim())) return false
  }
  trustPlugin(at.home, id, hash)
  return true
}

function described(plugin: Plugin): string {
  const { runs, offers } = summaryOf(plugin)
  const lines = (items: readonly string[]) => items.map((each) => `  ${each}\n`).join('')
  const runsText = runs.length > 0 ? `It runs, without a prompt:\n${lines(runs)}` : 'It runs nothing by itself.\n'
  return `${runsText}${offers.length > 0 ? `It offers:\n${lines(offers)}` : ''}`.trimEnd()
}

function tellTakeOver({ file, tookOver }: { file: string; tookOver?: string }): void {
  if (tookOver) noted(`${file} now holds what ${tookOver} says; later changes to that file do not count in ona`)
}

const isFolder = (path: string): boolean => statOf(resolve(path))?.isDirectory() === true

export const run = family<Verb<'plugin'>>('ona plugin', help, {
  list,
  add,
  info,
  trust,
  enable: toggle('enable'),
  disable: toggle('disable'),
  update,
  remove,
  validate,
  marketplace,
  build,
})
