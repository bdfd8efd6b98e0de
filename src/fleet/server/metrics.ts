/** Counts of this process, in the text format of Prometheus. Times are kept in buckets: memory stays flat. */
export interface Metrics {
  count(path: string, status: number, ms: number): void
  rows(count: number, faults: number): void
  text(): string
}

const buckets = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000]

export function createMetrics(): Metrics {
  const requests = new Map<string, number>()
  const times = new Array<number>(buckets.length + 1).fill(0)
  let [sum, total, rows, faults] = [0, 0, 0, 0]
  return {
    count(path, status, ms) {
      const family = /^\/v1\/[a-z]+|^\/[a-z]+/.exec(path)?.[0] ?? '/'
      // addresses that are none share a name: a scanner must not make this grow
      const key = `path="${status === 404 ? 'other' : family}",status="${status}"`
      requests.set(key, (requests.get(key) ?? 0) + 1)
      const at = buckets.findIndex((most) => ms <= most)
      times[at < 0 ? buckets.length : at]!++
      sum += ms
      total++
    },
    rows(count, wrong) {
      rows += count
      faults += wrong
    },
    text() {
      let below = 0
      const lines = [
        '# TYPE ona_fleet_requests_total counter',
        ...Array.from(requests, ([labels, count]) => `ona_fleet_requests_total{${labels}} ${count}`),
        '# TYPE ona_fleet_request_ms histogram',
        ...buckets.map((most, at) => {
          below += times[at]!
          return `ona_fleet_request_ms_bucket{le="${most}"} ${below}`
        }),
        `ona_fleet_request_ms_bucket{le="+Inf"} ${total}`,
        `ona_fleet_request_ms_sum ${sum.toFixed(1)}`,
        `ona_fleet_request_ms_count ${total}`,
        '# TYPE ona_fleet_rows_total counter',
        `ona_fleet_rows_total ${rows}`,
        '# TYPE ona_fleet_faults_total counter',
        `ona_fleet_faults_total ${faults}`,
        '# TYPE process_resident_memory_bytes gauge',
        `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
      ]
      return `${lines.join('\n')}\n`
    },
  }
}
