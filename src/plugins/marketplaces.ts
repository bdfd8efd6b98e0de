/** The marketplaces that a user has added: fetched, checked, replaced as a whole. */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Problem } from '../files/problem.ts'
import { isObject } from '../hooks/shape.ts'
import { requireOperator } from '../store/operator.ts'
import { fetchSource } from './fetch.ts'
import { type Marketplace, readMarketplace } from './marketplace.ts'
import { type MarketplacePolicy, marketplaceNameProblem, sourceRefused } from './policy.ts'
import {
  type KnownMarketplace,
  knownMarketplaces,
  marketplaceFile,
  ownFolder,
  type PluginHome,
  rememberMarketplace,
  textIn,
} from './registry.ts'
import { checkSource, type Source } from './source.ts'
import { copyTree } from './tree.ts'

export interface Market extends PluginHome {
  /** Of managed settings. */
  readonly policy: MarketplacePolicy
  /** `extraKnownMarketplaces` of the settings: fetched when a plugin of theirs is installed. */
  readonly declared?: unknown
}

export interface Opened {
  readonly known: KnownMarketplace
  readonly marketplace: Marketplace
  readonly warnings: readonly string[]
}

/** Fetches it and remembers it under the name it gives itself; one of that name is replaced. */
export async function addMarketplace(market: Market, source: Source, expected?: string): Promise<Opened> {
  requireOperator('adding a marketplace', { home: market.home })
  const refused = sourceRefused(source, market.policy)
  if (refused) throw new Problem(refused)
  const fetched = await fetchSource(source, join(ownFolder(market), 'tmp'))
  try {
    const { marketplace, warnings } = marketplaceIn(fetched.folder)
    const { name } = marketplace
    const wrong = marketplaceNameProblem(name, source)
    if (wrong) throw new Problem(wrong)
    if (expected !== undefined && name !== expected)
      throw new Problem(`the marketplace calls itself "${name}", not "${expected}"; correct the name in your settings`)
    const other = knownMarketplaces(market).find((each) => each.name === name && each.by === 'ona')
    if (other && JSON.stringify(other.source) !== JSON.stringify(source))
      throw new Problem(
        `a marketplace "${name}" from elsewhere is known already; ona plugin marketplace remove ${name}`,
      )
    const isLocal = source.source === 'directory' || source.source === 'file'
    const location = isLocal ? source.path : join(ownFolder(market), 'marketplaces', name)
    if (!isLocal) replaceFolder(fetched.folder, location, join(ownFolder(market), 'tmp'))
    rememberMarketplace(market, name, { source, location, updatedAt: new Date().toISOString() })
    return { known: { name, source, location, by: 'ona' }, marketplace, warnings }
  } finally {
    fetched.clean()
  }
}

export function removeMarketplace(market: Market, name: string): void {
  requireOperator('removing a marketplace', { home: market.home })
  const known = knownMarketplaces(market).find((each) => each.name === name)
  if (!known) throw new Problem(`there is no marketplace "${name}"; ona plugin marketplace list`)
  if (known.by === 'claude') throw new Problem(`"${name}" is Claude Code's: claude plugin marketplace remove ${name}`)
  rememberMarketplace(market, name, undefined)
  const copy = join(ownFolder(market), 'marketplaces', name)
  if (known.location === copy) rmSync(copy, { recursive: true, force: true })
}

/** By its name; one that only the settings declare is fetched first. */
export async function openMarketplace(market: Market, name: string): Promise<Opened> {
  const known = knownMarketplaces(market).find((each) => each.name === name)
  if (known && existsSync(known.location)) {
    const refused = sourceRefused(known.source, market.policy)
    if (refused) throw new Problem(refused)
    return { known, ...marketplaceIn(known.location) }
  }
  const declared = isObject(market.declared) ? market.declared[name] : undefined
  if (declared === undefined)
    throw new Problem(`there is no marketplace "${name}"; ona plugin marketplace add SOURCE adds one`)
  const source = checkSource(isObject(declared) ? declared['source'] : undefined)
  if ('problem' in source) throw new Problem(`extraKnownMarketplaces.${name}.source ${source.problem}`)
  return addMarketplace(market, source.source, name)
}

export function marketplaceIn(folder: string): { marketplace: Marketplace; warnings: readonly string[] } {
  const file = marketplaceFile(folder)
  const text = textIn(file)
  if (text === undefined) throw new Problem(`${file}: there is no such file, so this is not a marketplace`)
  const read = readMarketplace(text, file)
  if (!read.ok) throw new Problem(read.problems.join('\n'))
  return read
}

/** The new content is whole before it takes the place of the old. */
export function replaceFolder(from: string, to: string, scratch: string): void {
  mkdirSync(scratch, { recursive: true, mode: 0o700 })
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  const mark = `${process.pid}-${process.hrtime.bigint()}`
  const staged = join(scratch, `new-${mark}`)
  const old = join(scratch, `old-${mark}`)
  try {
    copyTree(from, staged)
    if (existsSync(to)) renameSync(to, old)
    renameSync(staged, to)
  } finally {
    rmSync(staged, { recursive: true, force: true })
    rmSync(old, { recursive: true, force: true })
  }
}
