/** Installs, updates and removes plugins. A plugin is checked in a temporary copy, and appears under its hash or not at all. */
import { existsSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { leadsOut } from '../files/leads-out.ts'
import { Problem } from '../files/problem.ts'
import type { JsonObject } from '../hooks/shape.ts'
import { requireOperator } from '../store/operator.ts'
import { fetchSource } from './fetch.ts'
import { type Market, openMarketplace, replaceFolder } from './marketplaces.ts'
import { sourceRefused } from './policy.ts'
import { type Plugin, readPlugin } from './read-plugin.ts'
import { dataFolder, type Installed, installedPlugins, marketplaceFile, ownFolder, rememberPlugin } from './registry.ts'
import { type Source, saySource } from './source.ts'
import { contentHash, type Trust, trustOf, trustPlugin } from './trust.ts'

export interface Installation {
  readonly plugin: Plugin
  readonly id: string
  readonly hash: string
  readonly trust: Trust
  /** Nothing was copied: this very content is installed. */
  readonly unchanged: boolean
}

/** Plugins of no marketplace: from a folder or a repository. */
export const noMarketplace = 'local'

export async function installFrom(market: Market, source: Source): Promise<Installation> {
  requireOperator('installing a plugin', { home: market.home })
  const refused = sourceRefused(source, market.policy)
  if (refused) throw new Problem(refused)
  const fetched = await fetchSource(source, join(ownFolder(market), 'tmp'))
  try {
    if (existsSync(marketplaceFile(fetched.folder)) && !existsSync(join(fetched.folder, '.claude-plugin/plugin.json')))
      throw new Problem(
        `${saySource(source)} is a marketplace; ona plugin marketplace add ${saySource(source)}, then ona plugin add NAME@MARKETPLACE`,
      )
    return put(market, fetched.folder, { marketplace: noMarketplace, source, name: nameOf(source) })
  } finally {
    fetched.clean()
  }
}

/** `name@marketplace`. */
export async function installNamed(market: Market, id: string): Promise<Installation> {
  requireOperator('installing a plugin', { home: market.home })
  const [name, marketplace] = split(id)
  const { known, marketplace: list } = await openMarketplace(market, marketplace)
  const entry = list.plugins.find((each) => each.name === name)
  if (!entry) {
    const names = list.plugins.map((each) => each.name).join(', ')
    throw new Problem(`${marketplace} has no plugin "${name}"; it has ${names || 'none'}`)
  }
  const about = { marketplace, name, entry: entry.parts, version: entry.version }
  if (typeof entry.source === 'string') {
    const root = known.location.endsWith('.json') ? dirname(known.location) : known.location
    const folder = join(root, entry.source)
    if (leadsOut(root, folder) || !existsSync(folder))
      throw new Problem(
        `${marketplace}: "${name}" lies in ${entry.source}, and there is no such folder in the marketplace`,
      )
    return put(market, folder, { ...about, source: known.source })
  }
  const fetched = await fetchSource(entry.source, join(ownFolder(market), 'tmp'))
  try {
    return put(market, fetched.folder, { ...about, source: entry.source })
  } finally {
    fetched.clean()
  }
}

/** What a plugin without a manifest is called. */
function nameOf(source: Source): string {
  if ('path' in source && source.path) return basename(source.path)
  return basename('repo' in source ? source.repo : 'url' in source ? source.url : '').replace(/\.git$/, '')
}

interface About {
  readonly marketplace: string
  readonly name: string
  readonly source: Source
  readonly entry?: JsonObject
  readonly version?: string | undefined
}

function put(market: Market, folder: string, about: About): Installation {
  const entry = about.entry && Object.keys(about.entry).length > 0 ? { ...about.entry } : undefined
  const read = (root: string) =>
    readPlugin(root, { env: market.env, marketplace: about.marketplace, entry: { name: about.name, ...entry } })
  const first = read(folder)
  if ('problem' in first) throw new Problem(first.problem)
  if (about.marketplace !== noMarketplace && first.name !== about.name)
    throw new Problem(
      `the plugin calls itself "${first.name}", and the marketplace "${about.name}"; one of them is wrong`,
    )
  const { id, name } = first
  const scratch = join(ownFolder(market), 'tmp')
  const staged = join(scratch, `plugin-${process.pid}-${process.hrtime.bigint()}`)
  try {
    replaceFolder(folder, staged, scratch)
    const copied = read(staged)
    if ('problem' in copied) throw new Problem(copied.problem)
    const declared = { name: about.name, ...entry }
    const hash = contentHash({ root: staged, entry: declared })
    const root = join(ownFolder(market), 'cache', about.marketplace, name, hash.slice(0, 16))
    const unchanged = existsSync(root)
    if (!unchanged) replaceFolder(staged, root, scratch)
    const before = installedPlugins(market).find((each) => each.id === id && each.by === 'ona')
    const version = copied.version ?? about.version
    const { source } = about
    rememberPlugin(market, id, {
      root,
      ...(version && { version }),
      source,
      entry: declared,
      installedAt: new Date().toISOString(),
    })
    if (before && before.root !== root && isOurs(market, before.root))
      rmSync(before.root, { recursive: true, force: true })
    const plugin = read(root)
    if ('problem' in plugin) throw new Problem(plugin.problem)
    return { plugin, id, hash, trust: trustOf(market.home, id, hash), unchanged }
  } finally {
    rmSync(staged, { recursive: true, force: true })
  }
}

/** From where it came: its marketplace as it is now, or its folder or repository. */
export async function updatePlugin(market: Market, id: string): Promise<Installation> {
  const found = findInstalled(market, id)
  if (found.by === 'claude') throw new Problem(`${id} is Claude Code's: claude plugin update ${id}`)
  const [, marketplace] = split(found.id)
  if (marketplace !== noMarketplace) return installNamed(market, found.id)
  if (!found.source) throw new Problem(`${id}: where it came from is not known; ona plugin add SOURCE`)
  return installFrom(market, found.source)
}

export function removePlugin(market: Market, word: string, { keepData = false } = {}): string {
  requireOperator('removing a plugin', { home: market.home })
  const found = findInstalled(market, word)
  const { id } = found
  if (found.by === 'claude')
    throw new Problem(
      `${id} is Claude Code's: claude plugin uninstall ${id}; ona plugin disable ${id} turns it off here`,
    )
  rememberPlugin(market, id, undefined)
  trustPlugin(market.home, id, undefined)
  if (isOurs(market, found.root)) rmSync(found.root, { recursive: true, force: true })
  if (!keepData) rmSync(dataFolder(market, id), { recursive: true, force: true })
  return id
}

/** By its id, or by its name where only one has it. */
export function findInstalled(market: Market, word: string, cwd?: string): Installed {
  const all = installedPlugins(market, cwd)
  const found = all.filter(({ id }) => id === word || id.startsWith(`${word}@`))
  if (found.length === 1) return found[0]!
  if (found.length > 1) throw new Problem(`"${word}" is ${found.map(({ id }) => id).join(' or ')}; say which`)
  const names = all.map(({ id }) => id).join(', ')
  throw new Problem(`there is no plugin "${word}"; ${names ? `there are ${names}` : 'none is installed'}`)
}

const isOurs = (market: Market, root: string): boolean =>
  !leadsOut(join(ownFolder(market), 'cache'), root) && root.startsWith(join(ownFolder(market), 'cache'))

function split(id: string): [string, string] {
  const at = id.lastIndexOf('@')
  if (at < 1) throw new Problem(`"${id}" must be NAME@MARKETPLACE`)
  return [id.slice(0, at), id.slice(at + 1)]
}
