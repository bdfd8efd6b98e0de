/**
 * What servers list, as they last listed it: `~/.ona/models.json`. Refreshed in the background, so that a turn never
 * waits for a list.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeAtomic } from '../../files/atomic-write.ts'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { claudeVersion } from './catalogue.ts'
import { efforts } from './models.ts'
import type { ListedModel, PartialSpec } from './spec.ts'

interface Cached {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly models: readonly ListedModel[]
}

/** The models that the server at this address listed last; none when it never did. */
export const listedModels = (address: string, env: NodeJS.ProcessEnv): readonly ListedModel[] =>
  cachedOf(address, env)?.models ?? []

/** Whether it is time to ask the server again. */
export const isStale = (address: string, env: NodeJS.ProcessEnv): boolean =>
  Date.now() - (cachedOf(address, env)?.at ?? 0) > DAY_MS

const DAY_MS = 86_400_000

export function saveListed(address: string, models: readonly ListedModel[], env: NodeJS.ProcessEnv): void {
  if (models.length === 0) return
  const path = cachePath(env)
  const all = { ...readCache(path), [address]: { at: Date.now(), models } satisfies Cached }
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeAtomic(path, JSON.stringify(all), { mode: 0o600, flush: false })
  } catch {
    // a read-only home: the list is asked for again next time
  }
}

/** The newest active model of a family: `opus`, `sonnet`, `haiku`. */
export function newestOf(family: string, listed: readonly ListedModel[]): string | undefined {
  const members = listed.filter(({ id, retired }) => !retired && claudeVersion(id).family === family)
  return members.toSorted(newestFirst)[0]?.id
}

const newestFirst = (a: ListedModel, b: ListedModel): number =>
  (b.createdAt ?? '').localeCompare(a.createdAt ?? '') || claudeVersion(b.id).version - claudeVersion(a.id).version

/** An entry of `GET /v1/models`; every field but the id may be missing. */
export function readListed(wire: JsonObject): ListedModel | undefined {
  if (typeof wire.id !== 'string' || wire.id === '') return undefined
  const { capabilities, display_name, created_at, max_input_tokens, max_tokens, lifecycle } = wire
  return {
    id: wire.id,
    ...(typeof display_name === 'string' && { name: display_name }),
    ...(typeof created_at === 'string' && { createdAt: created_at }),
    ...(isCount(max_input_tokens) && { contextWindow: max_input_tokens }),
    ...(isCount(max_tokens) && { maxOutput: max_tokens }),
    ...(isObject(capabilities) && capabilitiesOf(capabilities)),
    ...(lifecycle === 'retired' && { retired: true as const }),
  }
}

function capabilitiesOf({ thinking, effort }: JsonObject): PartialSpec {
  const types = isObject(thinking) && isObject(thinking.types) ? thinking.types : {}
  const kind = supported(types.adaptive) ? 'adaptive' : supported(types.enabled) ? 'budget' : 'none'
  return {
    ...(isObject(thinking) && { thinking: kind }),
    ...(isObject(effort) && {
      efforts: supported(effort) ? efforts.filter((level) => supported(effort[level])) : [],
    }),
  }
}

const supported = (value: unknown): boolean => isObject(value) && value.supported === true
const isCount = (value: unknown): value is number => typeof value === 'number' && value > 0

function cachedOf(address: string, env: NodeJS.ProcessEnv): Cached | undefined {
  const cached = readCache(cachePath(env))[address]
  return isObject(cached) && Array.isArray(cached.models) ? (cached as unknown as Cached) : undefined
}

const cachePath = (env: NodeJS.ProcessEnv): string => join(env.HOME || homedir(), '.ona', 'models.json')

function readCache(path: string): JsonObject {
  try {
    const cache: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isObject(cache) ? cache : {}
  } catch {
    return {} // none yet, or damaged: the next refresh rewrites it
  }
}
