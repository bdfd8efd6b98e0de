/** The fleet: its nodes, what its policies and chains are like, jobs, costs and denials. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { FleetView } from '../data/fleet-shapes.ts'
import { type Asked, asked, names, queryOf } from './fleet-address.ts'
import { Filters } from './fleet-filters.tsx'
import { Jobs } from './fleet-jobs.tsx'
import { Nodes } from './fleet-nodes.tsx'
import { dollars, short, visible } from './format.ts'
import { Panel, Table } from './panel.tsx'
import { Time } from './tables.tsx'
import { Tabs } from './tabs.tsx'

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
