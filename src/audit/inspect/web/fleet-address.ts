/** What of a fleet the page shows: kept in its address. */
import { spans } from './address.ts'

export interface Asked {
  readonly node: string
  readonly team: string
  readonly state: string
  readonly span: string
  readonly job: string
}

export const names = ['node', 'team', 'state', 'span', 'job'] as const

export function asked(): Asked {
  const words = new URLSearchParams(location.search)
  return Object.fromEntries(names.map((name) => [name, words.get(name) ?? ''])) as unknown as Asked
}

export function queryOf(view: Asked): string {
  const words = new URLSearchParams()
  for (const name of ['node', 'team', 'state'] as const) if (view[name]) words.set(name, view[name])
  const span = spans[view.span]
  if (span) words.set('from', String(Math.floor(Date.now() / 1000) - span.seconds))
  return words.toString()
}
