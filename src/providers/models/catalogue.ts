/** What a model can do and costs: the user's settings first, then the server's list, then the catalogue, then its family. */
import type { ModelUsage } from '../model.ts'
import { type CatalogueRow, catalogueRows, type PriceRow } from './catalogue-data.ts'
import { efforts, type ProviderName } from './models.ts'
import type { ModelSpec, PartialSpec, Price } from './spec.ts'

export function specOf(provider: ProviderName, wireModel: string, ...sources: (PartialSpec | undefined)[]): ModelSpec {
  const spec: PartialSpec = { ...familySpec(provider, wireModel), ...catalogued(wireModel) }
  return Object.assign(spec, ...sources.toReversed()) as ModelSpec
}

/** In US dollars; null where the price or the usage is unknown. */
export function costUsd(price: Price | undefined, usage: ModelUsage): number | null {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  if (!price || inputTokens === null || outputTokens === null) return null
  const [read, written] = [cacheReadTokens ?? 0, cacheWriteTokens ?? 0]
  const { above } = price
  const rate = above && inputTokens + read + written > above.tokens ? above.price : price
  return (
    (inputTokens * rate.input + outputTokens * rate.output + read * rate.cacheRead + written * rate.cacheWrite) /
    1_000_000
  )
}

export const priceOf = (wireModel: string): Price | undefined => catalogued(wireModel)?.price

const known = new Map<string, PartialSpec | undefined>()

function catalogued(wireModel: string): PartialSpec | undefined {
  if (!known.has(wireModel)) {
    const row = catalogueRows.find(([, pattern]) => new RegExp(pattern).test(wireModel))
    known.set(wireModel, row && fromRow(row))
  }
  return known.get(wireModel)
}

function fromRow([name, , contextWindow, row, tokens, second]: CatalogueRow): PartialSpec {
  const above = tokens !== undefined && second && { tokens, price: rates(second) }
  return { name, contextWindow, price: { ...rates(row), ...(above && { above }) } }
}

const rates = ([input, output, cacheRead, cacheWrite]: PriceRow) => ({ input, output, cacheRead, cacheWrite })

/** What the catalogue does not hold, by family and version. A name that is new to us counts as its family's newest. */
function familySpec(provider: ProviderName, wireModel: string): PartialSpec {
  if (provider === 'claude_code_subscription') return claudeSpec(claudeVersion(wireModel))
  const version = openaiVersion(wireModel)
  const window = provider === 'openai_compatible' ? 128_000 : 32_768
  if (version === undefined) return { contextWindow: window, maxOutput: 8192, thinking: 'none', efforts: [] }
  if (version < 5) return { contextWindow: window, maxOutput: 16_384, thinking: 'none', efforts: [] }
  const levels = version < 5.2 ? efforts.slice(0, 3) : efforts.slice(0, 4)
  return { contextWindow: window, maxOutput: version < 5.4 ? 100_000 : 128_000, thinking: 'adaptive', efforts: levels }
}

/** Where a Claude model of this version differs from those before it. */
const claudeSteps: readonly (readonly [number, PartialSpec])[] = [
  [0, { contextWindow: 200_000, maxOutput: 4096, thinking: 'none', efforts: [] }],
  [3.5, { maxOutput: 8192 }],
  [3.7, { maxOutput: 64_000, thinking: 'budget' }],
  [
    4.6,
    { contextWindow: 1_000_000, maxOutput: 128_000, thinking: 'adaptive', efforts: ['low', 'medium', 'high', 'max'] },
  ],
  [4.7, { efforts }],
]

function claudeSpec({ family, version }: { family: string; version: number }): PartialSpec {
  const spec: PartialSpec = Object.assign(
    {},
    ...claudeSteps.filter(([from]) => version >= from).map(([, step]) => step),
  )
  if (family !== 'opus' || version < 4 || version >= 4.6) return spec
  return version < 4.5 ? { ...spec, maxOutput: 32_000 } : { ...spec, efforts: efforts.slice(0, 3) }
}

/** `claude-opus-4-5-20251101`, `claude-3-5-haiku-20241022`, `claude-sonnet-5`. */
export function claudeVersion(wireModel: string): { readonly family: string; readonly version: number } {
  const found =
    /claude-(?<family>[a-z]+)-(?<major>\d{1,2})(?:[-.](?<minor>\d{1,2})(?!\d))?/.exec(wireModel) ??
    /claude-(?<major>\d{1,2})(?:[-.](?<minor>\d{1,2})(?!\d))?-(?<family>[a-z]+)/.exec(wireModel)
  if (!found?.groups) return { family: '', version: 99 }
  const { family = '', major, minor = '0' } = found.groups
  return { family, version: Number(`${major}.${minor}`) }
}

/** `gpt-5.2-codex` is 5.2; the o models count as 5: they reason. Undefined for models of others. */
function openaiVersion(wireModel: string): number | undefined {
  const gpt = /^(?:chat)?gpt-(\d+(?:\.\d+)?)/.exec(wireModel)
  if (gpt) return Number(gpt[1])
  return /^(?:o\d|codex)/.test(wireModel) ? 5 : undefined
}
