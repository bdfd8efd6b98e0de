/** The fleet: its nodes, what its policies and chains are like, jobs, costs and denials. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { FleetJob, FleetNode, FleetView, JobLog } from '../data/fleet-shapes.ts'
import { spans } from './address.ts'
import { counted, dollars, short, visible } from './format.ts'
import { Time } from './tables.tsx'
import { Tabs } from './tabs.tsx'

interface Asked {
  readonly node: string
  readonly team: string
  readonly state: string
  readonly span: string
  readonly job: string
}

const names = ['node', 'team', 'state', 'span', 'job'] as const

function asked(): Asked {
  const words = new URLSearchParams(location.search)
  return Object.fromEntries(names.map((name) => [name, words.get(name) ?? ''])) as unknown as Asked
}

function queryOf(view: Asked): string {
  const words = new URLSearchParams()
  for (const name of ['node', 'team', 'state'] as const) if (view[name]) words.set(name, view[name])
  const span = spans[view.span]
  if (span) words.set('from', String(Math.floor(Date.now() / 1000) - span.seconds))
  return words.toString()
}

/** How often an open page asks again. */
const refreshMs = 10_000

export function Fleet() {
  const [view, setView] = useState(asked)
  const [data, setData] = useState<FleetView>()
  const [problem, setProblem] = useState('')
  const latest = useRef(0)
  const load = async () => {
    const mine = ++latest.current
    try {
      const answer = await fetch(`/api/fleet?${queryOf(view)}`)
      if (!answer.ok) throw new Error((await answer.text()).trim())
      const found = (await answer.json()) as FleetView
      if (mine !== latest.current) return
      setData(found)
      setProblem('')
    } catch (cause) {
      if (mine === latest.current) setProblem(`The fleet does not answer: ${(cause as Error).message}`)
    }
  }
  useEffect(() => {
    void load()
    const timer = setInterval(() => document.visibilityState === 'visible' && void load(), refreshMs)
    return () => clearInterval(timer)
  }, [queryOf({ ...view, span: '' }), view.span])
  useEffect(() => {
    const back = () => setView(asked())
    addEventListener('popstate', back)
    return () => removeEventListener('popstate', back)
  }, [])
  const change = (more: Partial<Asked>) => {
    const next = { ...view, ...more }
    const words = new URLSearchParams(names.flatMap((name) => (next[name] ? [[name, next[name]]] : [])))
    history.pushState(null, '', words.size === 0 ? '/fleet' : `/fleet?${words}`)
    setView(next)
  }
  if (!data) return <p role="status">{problem || 'Reading…'}</p>
  return (
    <>
      <header class="top">
        <h1>Fleet</h1>
        <Tabs here="/fleet" />
      </header>
      <Filters view={view} change={change} choices={data.choices} />
      <p role="status" class="status">
        {problem}
      </p>
      <Nodes nodes={data.nodes} count={data.nodeCount} onChoose={(node) => change({ node })} />
      {data.faults.length > 0 && (
        <Panel title="Gaps and edits of chains">
          <Table head={['Found', 'Node', 'Kind', 'Link', 'Detail']}>
            {data.faults.map(({ at, node, kind, link, detail }) => (
              <tr key={`${node} ${kind} ${link} ${at}`}>
                <td>
                  <Time utc={at} />
                </td>
                <th scope="row">{visible(node)}</th>
                <td class="bad-ink">{visible(kind)}</td>
                <td class="num">{short(link)}</td>
                <td>{visible(detail)}</td>
              </tr>
            ))}
          </Table>
        </Panel>
      )}
      <Jobs data={data} view={view} change={change} />
      <Panel title="Cost by team">
        <Table head={['Team', '#Conversations', '#Calls', '#Denied', '#Tokens', '#Cost']}>
          {data.costs.map(({ team, conversations, calls, denied, tokens, cost }) => (
            <tr key={team}>
              <th scope="row">
                <button type="button" class="plain" onClick={() => change({ team })}>
                  {visible(team) || '(no team)'}
                </button>
              </th>
              <td class="num">{short(conversations)}</td>
              <td class="num">{short(calls)}</td>
              <td class="num">{short(denied)}</td>
              <td class="num">{short(tokens)}</td>
              <td class="num">{dollars(cost)}</td>
            </tr>
          ))}
        </Table>
      </Panel>
      <Panel title="Newest denials">
        <Table head={['When', 'Node', 'User', 'Team', 'Tool, and what for', 'By']}>
          {data.denials.map(({ at, node, person, team, tool, target, by, conversation }, place) => (
            <tr key={`${at} ${conversation} ${place}`}>
              <td>{at !== null && <Time utc={at} />}</td>
              <th scope="row">{visible(node)}</th>
              <td>{visible(person)}</td>
              <td>{visible(team)}</td>
              <td>
                <b>{visible(tool ?? '')}</b> <code class="why">{visible(target ?? '')}</code>
              </td>
              <td>{visible(by ?? '')}</td>
            </tr>
          ))}
        </Table>
      </Panel>
    </>
  )
}

interface FiltersProps {
  readonly view: Asked
  readonly change: (more: Partial<Asked>) => void
  readonly choices: FleetView['choices']
}

function Filters({ view, change, choices }: FiltersProps) {
  const choose = (name: 'node' | 'team', label: string, all: string, values: readonly string[]) => (
    <select aria-label={label} value={view[name]} onChange={(event) => change({ [name]: event.currentTarget.value })}>
      <option value="">{all}</option>
      {values.map((value) => (
        <option key={value} value={value}>
          {visible(value)}
        </option>
      ))}
    </select>
  )
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      {choose('team', 'Team', 'All teams', choices.teams)}
      {choose('node', 'Node', 'All nodes', choices.nodes)}
      <select aria-label="Time" value={view.span} onChange={(event) => change({ span: event.currentTarget.value })}>
        <option value="">All time</option>
        {Object.entries(spans).map(([span, { name }]) => (
          <option key={span} value={span}>
            {name}
          </option>
        ))}
      </select>
      {names.some((name) => view[name] !== '') && (
        <button type="button" onClick={() => change({ node: '', team: '', state: '', span: '', job: '' })}>
          Clear
        </button>
      )}
    </form>
  )
}

const Panel = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section class="panel fleet" aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
)

/** A head that begins with # is one of numbers. */
const Table = ({ head, children }: { head: readonly string[]; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard
  <section class="scroll" tabIndex={0} aria-label={`Table: ${head.join(', ').replaceAll('#', '')}`}>
    <table class="stats">
      <thead>
        <tr>
          {head.map((name) => (
            <th scope="col" key={name} class={name.startsWith('#') ? 'num' : ''}>
              {name.replace('#', '')}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </section>
)

function Nodes({
  nodes,
  count,
  onChoose,
}: {
  nodes: readonly FleetNode[]
  count: number
  onChoose: (node: string) => void
}) {
  const title =
    count > nodes.length ? `Nodes: the first ${nodes.length} of ${counted(count, 'node')}` : counted(count, 'node')
  return (
    <Panel title={title}>
      <Table
        head={[
          'Node',
          'User',
          'Team',
          'Ring',
          '#Rows',
          'Policy',
          'Bundle',
          'Drift',
          '#Hooks fired',
          'Proof',
          'Last seen',
        ]}
      >
        {nodes.map((node) => (
          <tr key={node.node}>
            <th scope="row">
              <button type="button" class="plain" onClick={() => onChoose(node.node)}>
                {visible(node.node)}
              </button>{' '}
              <a class="link" href={`/?node=${encodeURIComponent(node.node)}`}>
                record
              </a>
              {node.faults > 0 && <div class="bad-ink">{counted(node.faults, 'fault')}</div>}
            </th>
            <td>{visible(node.person)}</td>
            <td>{visible(node.team)}</td>
            <td>{node.ring}</td>
            <td class="num">{short(node.rows)}</td>
            <td class={node.ok ? '' : 'bad-ink'} title={visible(node.detail)}>
              {visible(node.state)} {node.version ?? '–'}
              {node.version !== node.wantedVersion && ` (should be ${node.wantedVersion ?? 'none'})`}
            </td>
            <td>
              <code title={node.digest ?? ''}>{node.digest?.slice(0, 12) ?? '–'}</code>
            </td>
            <td class={node.drift.length > 0 ? 'bad-ink' : ''}>{node.drift.map(visible).join(', ') || '–'}</td>
            <td class="num">{short(node.hooks)}</td>
            <td>{visible(node.proof) || '–'}</td>
            <td>{node.lastSeen === null ? 'never' : <Time utc={node.lastSeen} />}</td>
          </tr>
        ))}
      </Table>
    </Panel>
  )
}

const bad = new Set(['failed', 'dead'])

function Jobs({ data, view, change }: { data: FleetView; view: Asked; change: (more: Partial<Asked>) => void }) {
  return (
    <Panel title="Jobs">
      <p class="facts">
        {data.jobCounts.map(({ state, count }) => (
          <button
            type="button"
            key={state}
            aria-pressed={view.state === state}
            onClick={() => change({ state: view.state === state ? '' : state })}
          >
            {short(count)} {state}
          </button>
        ))}
        {data.jobCounts.length === 0 && 'No job was submitted.'}
      </p>
      {data.jobs.length > 0 && (
        <Table head={['State', 'Prompt', 'Repository', 'Node', '#Attempt', 'Reason', 'Submitted']}>
          {data.jobs.map((job) => (
            <JobRow key={job.id} job={job} isOpen={view.job === job.id} onToggle={(id) => change({ job: id })} />
          ))}
        </Table>
      )}
    </Panel>
  )
}

function JobRow({ job, isOpen, onToggle }: { job: FleetJob; isOpen: boolean; onToggle: (id: string) => void }) {
  const [log, setLog] = useState<JobLog>()
  useEffect(() => {
    if (!isOpen) return
    fetch(`/api/fleet/jobs/${job.id}`)
      .then((answer) => (answer.ok ? answer.json() : undefined))
      .then(setLog, () => setLog(undefined))
  }, [isOpen, job.state])
  return (
    <>
      <tr>
        <td class={bad.has(job.state) ? 'bad-ink' : job.state === 'done' ? 'good-ink' : ''}>{job.state}</td>
        <th scope="row">
          <button type="button" class="plain" aria-expanded={isOpen} onClick={() => onToggle(isOpen ? '' : job.id)}>
            {visible(job.prompt).split('\n', 1)[0]}
          </button>
        </th>
        <td>
          {visible(job.repo)} {visible(job.ref)}
        </td>
        <td>{visible(job.node ?? '–')}</td>
        <td class="num">{job.attempt}</td>
        <td>{visible(job.reason ?? '')}</td>
        <td>
          <Time utc={job.submittedAt} /> {visible(job.submittedBy)}
        </td>
      </tr>
      {isOpen && log && (
        <tr>
          <td colSpan={7}>
            <p class="facts">
              <code>{job.id}</code> {log.job.branch !== null && visible(log.job.branch)}
            </p>
            <ol class="log" aria-label={`Log of job ${job.id}`}>
              {log.events.map(({ at, attempt, node, what, detail }, place) => (
                <li key={`${at} ${place}`}>
                  <Time utc={at} /> attempt {attempt}, {visible(node ?? 'no node')}: <b>{visible(what)}</b>{' '}
                  {visible(detail)}
                </li>
              ))}
            </ol>
            {log.job.result && <pre>{visible(log.job.result)}</pre>}
          </td>
        </tr>
      )}
    </>
  )
}
