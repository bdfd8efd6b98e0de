/** The filter lives in the address: a view can be kept as a bookmark, and the browser's back button works. */
import { useEffect, useState } from 'preact/hooks'

export interface View {
  readonly q: string
  readonly agent: string
  readonly project: string
  readonly hook: string
  /** Of a fleet's record. */
  readonly node: string
  readonly team: string
  readonly refused: boolean
  /** One of `spans`, or `all`. */
  readonly span: string
  readonly page: number
}

/** Seconds back from now. */
export const spans: Readonly<Record<string, { name: string; seconds: number }>> = {
  '24h': { name: 'Last 24 hours', seconds: 86_400 },
  '7d': { name: 'Last 7 days', seconds: 7 * 86_400 },
  '30d': { name: 'Last 30 days', seconds: 30 * 86_400 },
  '90d': { name: 'Last 90 days', seconds: 90 * 86_400 },
}

const nothing: View = {
  q: '',
  agent: '',
  project: '',
  hook: '',
  node: '',
  team: '',
  refused: false,
  span: 'all',
  page: 1,
}

function read(): View {
  const asked = new URLSearchParams(location.search)
  const text = (name: string) => asked.get(name) ?? ''
  return {
    ...{ q: text('q'), agent: text('agent'), project: text('project'), hook: text('hook') },
    ...{ node: text('node'), team: text('team') },
    ...{ refused: text('refused') === '1', span: text('span') in spans ? text('span') : 'all' },
    page: Math.max(1, Number.parseInt(text('page'), 10) || 1),
  }
}

function addressOf(view: View): string {
  const words = new URLSearchParams()
  for (const name of ['q', 'agent', 'project', 'hook', 'node', 'team'] as const)
    if (view[name]) words.set(name, view[name])
  if (view.refused) words.set('refused', '1')
  if (view.span !== 'all') words.set('span', view.span)
  if (view.page > 1) words.set('page', String(view.page))
  return words.size === 0 ? '/' : `/?${words}`
}

/** What the server is asked for. */
export function queryOf(view: View): string {
  const words = new URLSearchParams(addressOf(view).slice(2))
  words.delete('span')
  const span = spans[view.span]
  if (span) words.set('from', String(Math.floor(Date.now() / 1000) - span.seconds))
  return words.toString()
}

export const isFiltered = ({ agent, project, hook, node, team, refused, span }: View): boolean =>
  [agent, project, hook, node, team].some((each) => each !== '') || refused || span !== 'all'

/** A change of a filter goes back to the first page. */
export function useView(): [View, (change: Partial<View>) => void, () => void] {
  const [view, setView] = useState(read)
  useEffect(() => {
    const back = () => setView(read())
    addEventListener('popstate', back)
    return () => removeEventListener('popstate', back)
  }, [])
  const go = (next: View) => {
    history.pushState(null, '', addressOf(next))
    setView(next)
  }
  return [view, (change) => go({ ...view, page: 1, ...change }), () => go(nothing)]
}
