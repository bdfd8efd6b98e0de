/** Calls that wait for an operator: what would run, why it was not simply allowed, and the two answers. */
import { useState } from 'preact/hooks'
import type { Waiting } from '../data/shapes.ts'
import { until, visible, when } from './format.ts'

interface ApprovalsProps {
  readonly waiting: readonly Waiting[]
  /** Something was decided: the view is out of date. */
  readonly onDecided: (words: string) => void
}

export function Approvals({ waiting, onDecided }: ApprovalsProps) {
  if (waiting.length === 0) return null
  return (
    <section class="panel approvals" aria-labelledby="approvals-title">
      <h2 id="approvals-title">
        Waiting for approval <span class="badge wait-ink">{waiting.length}</span>
      </h2>
      <ul>
        {waiting.map((each) => (
          <Approval key={each.id} approval={each} onDecided={onDecided} />
        ))}
      </ul>
    </section>
  )
}

function Approval({ approval, onDecided }: { approval: Waiting; onDecided: ApprovalsProps['onDecided'] }) {
  const { id, tool, summary, input, reason, owner, conversation, createdAt, expiresAt } = approval
  const [note, setNote] = useState('')
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)

  const decide = async (allow: boolean) => {
    setBusy(true)
    setProblem('')
    const said = await send(id, { allow, note, ...(owner !== null && { as: owner }) })
    setBusy(false)
    if (said === undefined) onDecided(`${tool} ${allow ? 'approved' : 'denied'}.`)
    else setProblem(said)
  }

  return (
    <li>
      <p class="call-line">
        <b>{visible(tool)}</b> <code>{visible(summary)}</code>
      </p>
      <p class="facts">
        {visible(reason)} · asked <time>{when(createdAt)}</time>, {until(expiresAt)} ·{' '}
        {owner === null ? 'any operator decides' : `${visible(owner)} decides`} ·{' '}
        <a class="link" href={`/c/${encodeURIComponent(conversation)}`}>
          conversation
        </a>
      </p>
      <details>
        <summary>Input</summary>
        <pre>{visible(pretty(input))}</pre>
      </details>
      <div class="decide">
        <input
          aria-label={`Note on ${tool} ${id}`}
          placeholder="Note (optional)"
          value={note}
          onInput={(event) => setNote(event.currentTarget.value)}
        />
        <button type="button" class="yes" disabled={isBusy} onClick={() => decide(true)}>
          Approve
        </button>
        <button type="button" class="no" disabled={isBusy} onClick={() => decide(false)}>
          Deny
        </button>
      </div>
      {problem !== '' && (
        <p class="bad-ink" role="alert">
          {problem}
        </p>
      )}
    </li>
  )
}

/** Undefined when it is decided; otherwise why not. */
async function send(id: string, decision: object): Promise<string | undefined> {
  try {
    const answer = await fetch(`/api/approvals/${id}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(decision),
    })
    if (answer.ok) return undefined
    const text = await answer.text()
    return text.startsWith('{') ? (JSON.parse(text) as { problem: string }).problem : text
  } catch {
    return 'ona inspect does not answer; start it again'
  }
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}
