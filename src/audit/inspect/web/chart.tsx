/** A plot of days, and the same as a table for those who do not see it. */
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'

export interface Series {
  readonly name: string
  /** A variable of the style sheet: `--accent`. */
  readonly ink: string
  readonly values: readonly number[]
}

interface ChartProps {
  readonly title: string
  /** `2026-11-15`, one for each value; days without any are filled in. */
  readonly days: readonly string[]
  readonly series: readonly Series[]
  readonly format: (value: number) => string
}

const height = 180

export function Chart({ title, days, series, format }: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const drawn = useRef('')

  useEffect(() => {
    const draw = () => {
      if (!box.current) return // it has left the page, and its observer has not heard yet
      const width = Math.floor(box.current.clientWidth)
      const data = dataOf(days, series)
      const key = JSON.stringify([width, data, dark.matches])
      if (width === 0 || key === drawn.current) return // live updates redraw what has changed, and nothing else
      drawn.current = key
      plot.current?.destroy()
      plot.current = new uPlot(optionsOf(width, series, format), data, box.current)
    }
    draw()
    const resized = new ResizeObserver(draw)
    resized.observe(box.current!)
    dark.addEventListener('change', draw)
    return () => {
      resized.disconnect()
      dark.removeEventListener('change', draw)
    }
  }, [days, series])

  return (
    <section class="panel" aria-label={title}>
      <h2>{title}</h2>
      {days.length === 0 && <p class="soft-ink">Nothing to plot yet.</p>}
      <div ref={box} class="plot" role="img" aria-label={`${title}, by day. The table below holds the same numbers.`} />
      <details>
        <summary>As a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
        <section class="scroll" tabIndex={0} aria-label={`${title} as a table`}>
          <table>
            <thead>
              <tr>
                <th scope="col">Day</th>
                {series.map(({ name }) => (
                  <th scope="col" class="num" key={name}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {days.map((day, at) => (
                <tr key={day}>
                  <th scope="row">{day}</th>
                  {series.map(({ name, values }) => (
                    <td class="num" key={name}>
                      {format(values[at] ?? 0)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </section>
  )
}

const dark = matchMedia('(prefers-color-scheme: dark)')
const daySeconds = 86_400

/** At noon, so that no change of clocks moves a day. */
const secondsOf = (day: string): number => Math.floor(new Date(`${day}T12:00:00`).getTime() / 1000)

function dataOf(days: readonly string[], series: readonly Series[]): uPlot.AlignedData {
  const places = new Map(days.map((day, at) => [Math.round(secondsOf(day) / daySeconds), at]))
  const [first = 0, last = -1] = [[...places.keys()][0], [...places.keys()].at(-1)]
  const all = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  const row = (values: readonly number[]) =>
    all.map((day) => {
      const at = places.get(day)
      return at === undefined ? 0 : (values[at] ?? 0)
    })
  return [all.map((day) => day * daySeconds), ...series.map(({ values }) => row(values))]
}

/** `$0.2000` is `$0.20` on an axis. */
const shortest = (text: string): string => text.replace(/(\.\d\d+?)0+$/, '$1')

function optionsOf(width: number, series: readonly Series[], format: ChartProps['format']): uPlot.Options {
  const style = getComputedStyle(document.documentElement)
  const ink = (name: string) => style.getPropertyValue(name).trim()
  const axis = { stroke: ink('--soft'), grid: { stroke: ink('--line'), width: 1 }, ticks: { stroke: ink('--line') } }
  const bars = uPlot.paths.bars!({ size: [0.7, 40] })
  return {
    ...{ width, height, cursor: { y: false }, legend: { live: true } },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: {
      x: { range: (_, low, high) => [low - daySeconds / 2, high + daySeconds / 2] },
      y: { range: (_, __, high) => [0, Math.max(high * 1.1, 0.0001)] },
    },
    series: [
      {
        label: 'Day',
        value: (_, seconds) => (seconds === null ? '' : new Date(seconds * 1000).toISOString().slice(0, 10)),
      },
      ...series.map(
        ({ name, ink: of }): uPlot.Series => ({
          ...{ label: name, stroke: ink(of), fill: ink(of), paths: bars, points: { show: false } },
          value: (_, value) => (value === null ? '' : format(value)),
        }),
      ),
    ],
    axes: [
      {
        ...axis,
        values: '{MMM} {D}',
        space: 60,
        incrs: [1, 2, 7, 14, 28, 56, 112, 364].map((days) => days * daySeconds),
      },
      { ...axis, size: 64, values: (_, values) => values.map((value) => shortest(format(value))) },
    ],
  }
}
