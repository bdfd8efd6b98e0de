/** Measures as histograms with the buckets that the GenAI conventions advise. */
import type { Attributes, MeasureData, Metric } from './signals.ts'

const kinds: Readonly<
  Record<Metric, { unit: string; description: string; first: number; factor: number; buckets: number }>
> = {
  'gen_ai.client.token.usage': { unit: '{token}', description: 'tokens per reply', first: 1, factor: 4, buckets: 14 },
  'gen_ai.client.operation.duration': {
    ...{ unit: 's', description: 'how long a reply or a tool call took' },
    ...{ first: 0.01, factor: 2, buckets: 14 },
  },
}

const boundariesOf = ({ first, factor, buckets }: (typeof kinds)[Metric]): number[] =>
  Array.from({ length: buckets }, (_, at) => Number((first * factor ** at).toPrecision(6)))

/** Deltas: one point for each set of attributes, over the time from its first value to its last. */
export const metricsOf = (measures: readonly MeasureData[]): object[] =>
  [...Map.groupBy(measures, ({ metric }) => metric)].map(([metric, values]) => {
    const { unit, description } = kinds[metric]
    const groups = Map.groupBy(values, ({ attributes }) => JSON.stringify(Object.entries(attributes).sort()))
    return {
      descriptor: { name: metric, unit, description, valueType: 1 },
      ...{ aggregationTemporality: 0, dataPointType: 0 },
      dataPoints: [...groups.values()].map((group) => point(group, boundariesOf(kinds[metric]), group[0]!.attributes)),
    }
  })

function point(group: readonly MeasureData[], boundaries: readonly number[], attributes: Attributes): object {
  const counts = Array.from({ length: boundaries.length + 1 }, () => 0)
  let [sum, min, max, first, last] = [0, Number.POSITIVE_INFINITY, 0, Number.POSITIVE_INFINITY, 0]
  for (const { value, atMs } of group) {
    const at = boundaries.findIndex((boundary) => value <= boundary)
    counts[at < 0 ? boundaries.length : at]!++
    sum += value
    min = Math.min(min, value)
    max = Math.max(max, value)
    first = Math.min(first, atMs)
    last = Math.max(last, atMs)
  }
  const value = { buckets: { boundaries, counts }, sum, count: group.length, min, max }
  return { startTime: hr(first), endTime: hr(last), attributes, value }
}

export const hr = (ms: number): [number, number] => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)]
