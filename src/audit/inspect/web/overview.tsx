/** The overview: what happened, and whether it is all right. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Dashboard, Progress, SearchResult } from '../data/shapes.ts'
import { isFiltered, queryOf, spans, useView, type View } from './address.ts'
import { Approvals } from './approvals.tsx'
import { Chart } from './chart.tsx'
import { counted, dollars, short } from './format.ts'
import { Keys, useKeys } from './keys.tsx'
import { useLive } from './live.ts'
import { Conversations, Hooks, Results, Rulings } from './tables.tsx'
import { Tabs } from './tabs.tsx'

export function Overview() {
  const [view, change, reset] = useView()
  const { data, result, problem, reload } = useData(view)
  const [progress, setProgress] = useState<Progress>()
  const [said, setSaid] = useState('')
  const isLive = useLive({
    onChange: reload,
    onProgress: (now) => {
      setProgress(now)
      if (now.read >= now.rows) void reload()
    },
  })
  const keys = useKeys()
  const charts = useMemo(() => seriesOf(data), [data?.days])

  if (!data) return <p role="status">{problem || 'Reading…'}</p>
  const { totals, choices } = data
  const at = progress ?? data.progress
  const approvals = view.q === '' ? 'first' : 'last' // who searches wants to see what was found
  const waiting = (
    <Approvals
      waiting={data.approvals}
      onDecided={(words) => {
        setSaid(words)
        void reload()
      }}
    />
  )
  return (
    <>
      <header class="top">
        <h1>Overview</h1>
        {data.isFleet && <Tabs here="/" />}
        <p class="facts">
          <code>{data.database}</code>{' '}
          <span class={isLive ? 'live good-ink' : 'live soft-ink'}>{isLive ? 'live' : 'not connected'}</span>
        </p>
      </header>
      <Filters view={view} change={change} reset={reset} choices={choices} />
      <p role="status" class="status">
        {[
          problem,
          said,
          at.read < at.rows &&
            `The index has read ${short(at.read)} of ${short(at.rows)} rows; counts and search are not complete yet.`,
        ]
          .filter(Boolean)
          .join(' ')}
      </p>
      {approvals === 'first' && waiting}
      {result && view.q !== '' ? (
        <Results words={view.q} result={result} />
      ) : (
        <>
          <section class="sum" aria-label="Totals">
            {[
              [short(totals.conversations), totals.conversations === 1 ? 'conversation' : 'conversations'],
              [short(totals.prompts), totals.prompts === 1 ? 'prompt' : 'prompts'],
              [short(totals.calls), totals.calls === 1 ? 'tool call' : 'tool calls'],
              [short(totals.refused), 'denied'],
              [short(totals.asked), 'permission prompts'],
              [dollars(totals.cost), `${short(totals.tokens)} tokens`],
            ].map(([value, name]) => (
              <div key={name}>
                <b>{value}</b>
                <span>{name}</span>
              </div>
            ))}
          </section>
          <div class="grid">
            <Chart title="Calls per day" days={charts.days} series={charts.calls} format={short} />
            <Chart title="Cost per day" days={charts.days} series={charts.cost} format={dollars} />
            <Rulings
              {...{ title: 'Top denials', rulings: data.denials, none: 'Nothing was denied.', last: 'Denied' }}
              value={({ times }) => short(times)}
            />
            <Rulings
              {...{ title: 'Top prompts', rulings: data.prompts, none: 'No user was prompted.', last: 'Allowed' }}
              value={({ times, allowed }) => `${short(allowed)} of ${short(times)}`}
            />
            <Hooks hooks={data.hooks} onChoose={(hook) => change({ hook })} />
          </div>
          <h2 id="conversations">
            {isFiltered(view) ? `${counted(totals.conversations, 'conversation')} that fit` : 'Conversations'}
          </h2>
          <Conversations rows={data.conversations} />
          <Pages page={data.page} pages={data.pages} onGo={(page) => change({ page })} />
        </>
      )}
      {approvals === 'last' && waiting}
      <Keys {...keys} />
    </>
  )
}

interface FiltersProps {
  readonly view: View
  readonly change: (change: Partial<View>) => void
  readonly reset: () => void
  readonly choices: Dashboard['choices']
}

function Filters({ view, change, reset, choices }: FiltersProps) {
  const [words, setWords] = useState(view.q)
  useEffect(() => setWords(view.q), [view.q])
  const choose = (
    name: 'agent' | 'project' | 'hook' | 'node' | 'team',
    label: string,
    all: string,
    values: readonly string[],
  ) => (
    <select aria-label={label} value={view[name]} onChange={(event) => change({ [name]: event.currentTarget.value })}>
      <option value="">{all}</option>
      {(view[name] === '' || values.includes(view[name]) ? values : [view[name], ...values]).map((value) => (
        <option key={value} value={value}>
          {value.length > 48 ? `…${value.slice(-47)}` : value}
        </option>
      ))}
    </select>
  )
  return (
    <search>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault()
          change({ q: words.trim() })
        }}
      >
        <input
          type="search"
          id="find"
          aria-label="Search all conversations"
          placeholder="Search ( / )"
          value={words}
          onInput={(event) => {
            setWords(event.currentTarget.value)
            if (event.currentTarget.value === '' && view.q !== '') change({ q: '' })
          }}
        />
        {choices.teams.length > 0 && choose('team', 'Team', 'All teams', choices.teams)}
        {choices.nodes.length > 0 && choose('node', 'Node', 'All nodes', choices.nodes)}
        {choose('agent', 'Agent', 'All agents', choices.agents)}
        {choose('project', 'Project', 'All projects', choices.projects)}
        {choose('hook', 'Hook', 'All hooks', choices.hooks)}
        <select aria-label="Time" value={view.span} onChange={(event) => change({ span: event.currentTarget.value })}>
          <option value="all">All time</option>
          {Object.entries(spans).map(([span, { name }]) => (
            <option key={span} value={span}>
              {name}
            </option>
          ))}
        </select>
        <label>
          <input
            type="checkbox"
            checked={view.refused}
            onChange={(event) => change({ refused: event.currentTarget.checked })}
          />
          With denials
        </label>
        {(isFiltered(view) || view.q !== '') && (
          <button type="button" onClick={reset}>
            Clear
          </button>
        )}
      </form>
    </search>
  )
}

function Pages({ page, pages, onGo }: { page: number; pages: number; onGo: (page: number) => void }) {
  if (pages <= 1) return null
  return (
    <nav class="pages" aria-label="Pages">
      <button type="button" disabled={page <= 1} onClick={() => onGo(page - 1)}>
        Newer
      </button>
      <span>
        Page {page} of {pages}
      </span>
      <button type="button" disabled={page >= pages} onClick={() => onGo(page + 1)}>
        Older
      </button>
    </nav>
  )
}

function seriesOf(data: Dashboard | undefined) {
  const rows = data?.days ?? []
  return {
    days: rows.map(({ day }) => day),
    calls: [
      { name: 'Calls', ink: '--accent', values: rows.map(({ calls }) => calls) },
      { name: 'Denied', ink: '--bad', values: rows.map(({ refused }) => refused) },
    ],
    cost: [{ name: 'Cost', ink: '--good', values: rows.map(({ cost }) => cost) }],
  }
}

/** The newest answer counts: one that comes late, for a view that is no more, is dropped. */
function useData(view: View) {
  const [data, setData] = useState<Dashboard>()
  const [result, setResult] = useState<SearchResult>()
  const [problem, setProblem] = useState('')
  const latest = useRef(0)

  const load = async () => {
    const mine = ++latest.current
    const query = queryOf(view)
    try {
      const asked = view.q === '' ? Promise.resolve(undefined) : get<SearchResult>(`/api/search?${query}`)
      const [found, all] = await Promise.all([asked, get<Dashboard>(`/api/overview?${query}`)])
      if (mine !== latest.current) return
      setResult(found)
      setData(all)
      setProblem('')
    } catch (cause) {
      if (mine === latest.current) setProblem((cause as Error).message)
    }
  }
  useEffect(() => void load(), [JSON.stringify(view)])
  return { data, result, problem, reload: load }
}

async function get<T>(path: string): Promise<T> {
  const answer = await fetch(path).catch(() => {
    throw new Error('ona inspect does not answer; start it again.')
  })
  if (!answer.ok) throw new Error(await answer.text())
  return answer.json()
}
