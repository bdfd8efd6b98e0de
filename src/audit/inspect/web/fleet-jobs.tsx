/** The jobs of a fleet; one of them open, with its log. */
import { useEffect, useState } from 'preact/hooks'
import type { FleetJob, FleetView, JobLog } from '../data/fleet-shapes.ts'
import type { Asked } from './fleet-address.ts'
import { short, visible } from './format.ts'
import { Panel, Table } from './panel.tsx'
import { Time } from './tables.tsx'

const bad = new Set(['failed', 'dead'])

export function Jobs({ data, view, change }: { data: FleetView; view: Asked; change: (more: Partial<Asked>) => void }) {
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
