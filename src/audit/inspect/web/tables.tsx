/** The tables of the overview. */
import type { ConversationRow, HookStat, RulingStat, SearchResult } from '../data/shapes.ts'
import { counted, dateOf, dollars, milliseconds, short, visible, when, wholeTime } from './format.ts'

export function Hooks({ hooks, onChoose }: { hooks: readonly HookStat[]; onChoose: (hook: string) => void }) {
  return (
    <section class="panel wide" aria-labelledby="hooks-title">
      <h2 id="hooks-title">Hooks</h2>
      {hooks.length === 0 ? (
        <p class="soft-ink">No hook has run.</p>
      ) : (
        <table class="stats">
          <thead>
            <tr>
              <th scope="col">Hook</th>
              <th scope="col" class="num">
                Runs
              </th>
              <th scope="col" class="num">
                Denied
              </th>
              <th scope="col" class="num">
                p50
              </th>
              <th scope="col" class="num">
                p95
              </th>
            </tr>
          </thead>
          <tbody>
            {hooks.map(({ hook, runs, denied, failed, p50, p95 }) => (
              <tr key={hook}>
                <th scope="row">
                  <button type="button" class="plain" onClick={() => onChoose(hook)} title={visible(hook)}>
                    <code>{visible(hook)}</code>
                  </button>
                  {failed > 0 && <div class="bad-ink">{counted(failed, 'failure')}</div>}
                </th>
                <td class="num">{short(runs)}</td>
                <td class={denied > 0 ? 'num bad-ink' : 'num'}>{short(denied)}</td>
                <td class="num">{milliseconds(p50)}</td>
                <td class="num">{milliseconds(p95)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

const deciders: Record<string, string> = {
  ...{
    hook: 'hook',
    gate: 'planning gate',
    rule: 'rule',
    person: 'user',
    operator: 'operator',
    nobody: 'nobody to ask',
  },
}

interface RulingsProps {
  readonly title: string
  readonly rulings: readonly RulingStat[]
  readonly none: string
  readonly last: string
  readonly value: (ruling: RulingStat) => string
}

export function Rulings({ title, rulings, none, last, value }: RulingsProps) {
  return (
    <section class="panel" aria-label={title}>
      <h2>{title}</h2>
      {rulings.length === 0 ? (
        <p class="soft-ink">{none}</p>
      ) : (
        <table class="stats">
          <thead>
            <tr>
              <th scope="col">Tool, and why</th>
              <th scope="col">By</th>
              <th scope="col" class="num">
                {last}
              </th>
            </tr>
          </thead>
          <tbody>
            {rulings.map((ruling) => (
              <tr key={`${ruling.tool} ${ruling.decider} ${ruling.cause}`}>
                <th scope="row">
                  <b>{visible(ruling.tool)}</b> <span class="why">{visible(ruling.cause)}</span>
                </th>
                <td>{deciders[ruling.decider] ?? visible(ruling.decider)}</td>
                <td class="num">{value(ruling)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

export const Time = ({ utc }: { utc: string }) => (
  <time dateTime={Number.isNaN(dateOf(utc).getTime()) ? utc : dateOf(utc).toISOString()} title={wholeTime(utc)}>
    {when(utc)}
  </time>
)

const Facts = ({ row }: { row: ConversationRow }) => (
  <p class="facts">
    {row.phase !== 'idle' && (
      <>
        <span class={`badge ${row.phase === 'done' ? 'good' : 'wait'}-ink`}>{visible(row.phase)}</span>{' '}
      </>
    )}
    {visible(row.agent)} · {counted(row.calls, 'call')}
    {row.refused > 0 && (
      <>
        {' · '}
        <span class="bad-ink">{row.refused} denied</span>
      </>
    )}
    {' · '}
    {dollars(row.cost)} · <Time utc={row.lastActive} /> · {visible(row.project)}
  </p>
)

const titleOf = ({ title }: ConversationRow): string => visible(title) || '(no prompt yet)'

export const Conversations = ({ rows }: { rows: readonly ConversationRow[] }) =>
  rows.length === 0 ? (
    <p>No conversation fits.</p>
  ) : (
    <ul class="conversations">
      {rows.map((row) => (
        <li key={row.id}>
          <a class="title" href={`/c/${encodeURIComponent(row.id)}`}>
            {titleOf(row)}
          </a>
          <Facts row={row} />
        </li>
      ))}
    </ul>
  )

const kinds: Record<string, string> = {
  ...{ user: 'Prompt', assistant: 'Agent', tool_use: 'Call', tool_result: 'Output' },
}

export function Results({ words, result }: { words: string; result: SearchResult }) {
  const { found, more } = result
  return (
    <section aria-labelledby="results-title">
      <h2 id="results-title">
        {found.length === 0
          ? `Nothing found for “${words}”`
          : `${more ? 'The newest ' : ''}${counted(found.length, 'conversation')} with “${words}”`}
      </h2>
      {found.length === 0 && (
        <p>All words must be in one prompt, reply or call. End a word with * to match its beginning.</p>
      )}
      <ul class="conversations">
        {found.map((row) => (
          <li key={row.id}>
            <a class="title" href={`/c/${encodeURIComponent(row.id)}`}>
              {titleOf(row)}
            </a>
            <Facts row={row} />
            {row.archived && <p class="facts">archived{row.hits.length === 0 && '; open it to see where'}</p>}
            <ul class="hits">
              {row.hits.map(({ type, at, page, pieces }) => (
                <li key={`${at}${pieces.join('')}`}>
                  <a href={`/c/${encodeURIComponent(row.id)}?page=${page}&find=${encodeURIComponent(words)}`}>
                    <b>{kinds[type] ?? type}</b>{' '}
                    {pieces.map((piece, place) => (place % 2 === 1 ? <mark>{visible(piece)}</mark> : visible(piece)))}
                  </a>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </section>
  )
}
