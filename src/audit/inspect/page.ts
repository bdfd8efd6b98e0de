/** The pages of `ona inspect`: the conversations, and one of them. */
import { counted } from '../../hooks/text/counted.ts'
import { html, page } from '../../page.ts'
import { withArchived } from '../../store/archive/reading.ts'
import type { Db, ReadDb } from '../../store/open.ts'
import { pageConversations } from './data/api.ts'
import { conversations } from './data/dashboard.ts'
import type { ConversationRow, Progress } from './data/shapes.ts'
import { line } from './items.ts'
import { countConversations, indexedOverview, type Overview, overview, overviews } from './overview.ts'
import { pageRows } from './page-size.ts'
import { inspectScript as script, inspectStyle as style } from './style.ts'
import { timeline } from './timeline.ts'
import type { Item } from './timeline-items.ts'

const kicker = 'ona inspect'

/** Undefined: there is no such page. The list is there without any script; the script puts the overview in its place. */
export function overviewPage(db: Db, number: number, { read, rows }: Progress): string | undefined {
  const all = countConversations(db)
  const last = Math.max(1, Math.ceil(all / pageConversations))
  if (number > last) return undefined
  const shown = conversations(db, {}, { limit: pageConversations, offset: (number - 1) * pageConversations })
  const behind = read < rows ? '<p class="facts">The index is being built; counts are not complete yet.</p>' : ''
  return servedPage(
    'Overview',
    `<div id="app"><h1>${counted(all, 'conversation')}</h1>${database(db)}${behind}
${tableHtml(shown, ({ id }) => `/c/${encodeURIComponent(id)}`)}${pages('/', number, last)}</div>`,
  )
}

/** Everything on it is asked for by the script. */
export const fleetPage = (): string =>
  servedPage('Fleet', '<div id="app" data-view="fleet"><p>The pages of a fleet need JavaScript.</p></div>')

/** The frame of a served page: style and script are files of the same server. */
const servedPage = (title: string, body: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(title)} · ona inspect</title><link rel="stylesheet" href="/assets/inspect.css"><script src="/assets/inspect.js" type="module"></script></head>
<body><main><p class="kicker"><a href="/">${kicker}</a></p>
${body}
</main></body></html>
`

/**
 * Undefined: there is no such conversation, or no such page of it. With an index that is up to date nothing is counted. `open` gives
 * a reader that has the rows where they are archived.
 */
export function conversationPage(
  db: ReadDb,
  id: string,
  number: number,
  { read, rows }: Progress,
  open: typeof withArchived = withArchived,
): string | undefined {
  return open(db, [id], (reader) => {
    const about = read === rows ? indexedOverview(db, reader, id) : overview(reader, id)
    const last = Math.max(1, Math.ceil((about?.entries ?? 0) / pageRows))
    if (!about || number > last) return undefined
    const items = [...timeline(reader, id, { from: (number - 1) * pageRows, to: number * pageRows })]
    const links = pages(`/c/${encodeURIComponent(id)}`, number, last)
    const body = `<p class="back"><a href="/">‹ All conversations</a></p>${head(about)}${filters}${links}${line(items)}${links}`
    return servedPage(about.title || id, `<div id="conversation">${body}</div>`)
  })
}

/** A file for somebody else must be one that a browser opens. It is filled by so many rows at a time. */
const mostBytes = 8 * 1024 * 1024
export const fileRows = 2000

/** One page that holds everything, up to a size: one conversation, or all of them, the newest first. */
export function wholePage(db: ReadDb, id?: string, most = mostBytes): string | undefined {
  if (id !== undefined) {
    const about = overview(db, id)
    if (!about) return undefined
    const body = head(about) + filters + bounded(db, about, most).text
    return page({ title: about.title || id, kicker, body, style, script })
  }
  const all = countConversations(db)
  const rows = overviews(db, { limit: 500 })
  let room = most
  const sections = new Map<string, string>()
  for (const about of rows) {
    if (room <= 0) break
    const { text } = bounded(db, about, room)
    room -= text.length
    sections.set(about.id, `<section id="${anchor(about)}">${head(about, 'h2')}${text}</section>`)
  }
  const left =
    sections.size < all
      ? `<p class="left">The page shows the newest ${sections.size} of ${all} conversations, because a page holds ${most / 1048576} MB. ona inspect serves all of them; --conversation ID writes one.</p>`
      : ''
  const link = (about: { id: string }) => (sections.has(about.id) ? `#${anchor(about)}` : undefined)
  const body = `<h1>${counted(all, 'conversation')}</h1>${database(db)}${tableHtml(rows.map(asRow), link)}${left}${filters}${[...sections.values()].join('\n')}`
  return page({ title: 'Conversations', kicker, body, style, script })
}

/** The timeline as far as there is room, and a sentence on the rest. */
function bounded(db: ReadDb, about: Overview, most: number): { text: string } {
  const parts: string[] = []
  let room = most
  let from = 0
  let day = ''
  for (; from === 0 || (from < about.entries && room > 0); from += fileRows) {
    const items: Item[] = [...timeline(db, about.id, { from, to: from + fileRows })]
    const part = line(items, day)
    day = items.at(-1)?.at.slice(0, 10) ?? day
    parts.push(part)
    room -= part.length
  }
  const shown = Math.min(from, about.entries)
  const left =
    shown < about.entries
      ? `<p class="left">The first ${shown.toLocaleString('en')} of ${about.entries.toLocaleString('en')} rows of this conversation are here, because a page holds only so much. ona inspect serves all of them, ona inspect --conversation ${html(about.id)} --json prints them.</p>`
      : ''
  return { text: parts.join('') + left }
}

const anchor = ({ id }: { id: string }): string => `c-${encodeURIComponent(id)}`
const database = (db: ReadDb): string => `<p class="facts"><code>${html(db.path)}</code></p>`
const title = ({ title: text }: { title: string }): string => html(text || '(nothing was said)')

function tableHtml(rows: readonly ConversationRow[], link: (about: ConversationRow) => string | undefined): string {
  if (rows.length === 0) return '<p>Nothing has happened yet.</p>'
  const row = (about: ConversationRow) => {
    const to = link(about)
    const name = to === undefined ? `<b>${title(about)}</b>` : `<a href="${to}"><b>${title(about)}</b></a>`
    return `<tr class="row"><td>${name}<div class="facts">${html(about.project)}</div></td><td>${phase(about)}</td><td class="num">${counted(about.calls, 'call')}${about.refused > 0 ? `<div class="bad-ink">${about.refused} denied</div>` : ''}</td><td class="num">${cost(about.cost)}</td><td class="num">${html(about.lastActive.slice(0, 16))}</td></tr>`
  }
  return `<table class="list"><thead><tr><th>Conversation</th><th>Phase</th><th class="num">Calls</th><th class="num">Cost</th><th class="num">Last active, UTC</th></tr></thead><tbody>${rows.map(row).join('\n')}</tbody></table>`
}

const asRow = ({ project_dir, last_active, cost_usd, ...about }: Overview): ConversationRow => ({
  ...{ ...about, agent: '', project: project_dir, lastActive: last_active, cost: cost_usd },
})

const phase = ({ phase: name }: { phase: string }): string =>
  `<span class="badge ${name === 'done' ? 'good' : name === 'idle' ? 'soft' : 'wait'}-ink">${html(name)}</span>`

const cost = (usd: number | null): string => (usd === null ? 'no price' : `$${usd.toFixed(usd < 1 ? 4 : 2)}`)

function head(about: Overview, tag: 'h1' | 'h2' = 'h1'): string {
  const { id, project_dir, created_at, last_active, prompts, calls, refused, hooks, subagents, tokens } = about
  const counts: [string | number, string][] = [
    [prompts, prompts === 1 ? 'prompt' : 'prompts'],
    [calls, calls === 1 ? 'call' : 'calls'],
    [refused, 'denied'],
    [hooks, hooks === 1 ? 'hook answer' : 'hook answers'],
    [subagents, subagents === 1 ? 'sub-agent' : 'sub-agents'],
    [cost(about.cost_usd), `${tokens.toLocaleString('en')} tokens`],
  ]
  const boxes = counts.map(([count, what]) => `<div><b>${count.toLocaleString('en')}</b><span>${what}</span></div>`)
  return `<${tag}>${title(about)}</${tag}>
<p class="facts">${phase(about)} · <code>${html(project_dir)}</code> · ${span(created_at, last_active)} · <code>${html(id)}</code></p>
<section class="sum">${boxes.join('')}</section>`
}

const span = (from: string, to: string): string =>
  from.slice(0, 16) === to.slice(0, 16) ? moment(from) : `${moment(from)} to ${moment(to)}`

/** UTC, which the script of a served page turns into local time. */
const moment = (utc: string): string => `<span data-utc="${html(utc)}">${html(utc.slice(0, 16))} UTC</span>`

const kinds: [string, string][] = [
  ...([
    ['prompt', 'Prompts'],
    ['reply', 'Replies'],
    ['call', 'Calls'],
    ['refused', 'Denied'],
  ] as [string, string][]),
  ...([
    ['hook', 'Hooks'],
    ['work', 'Plan and phases'],
    ['agent', 'Sub-agents'],
    ['note', 'Notes'],
  ] as [string, string][]),
]

const find =
  '<input type="search" id="find" placeholder="Find on this page ( / )" aria-label="Find on this page" hidden><span class="hits" role="status"></span>'

const filters = `<div class="bar">${kinds
  .map(([kind, name]) => `<label><input type="checkbox" id="k-${kind}" checked autocomplete="off">${name}</label>`)
  .join('')}${find}</div>`

function pages(base: string, number: number, last: number): string {
  if (last <= 1) return ''
  const to = (at: number, name: string) => (at < 1 || at > last ? '' : `<a href="${base}?page=${at}">${name}</a>`)
  return `<nav class="pages">${to(number - 1, '‹ Earlier page')}<span>Page ${number} of ${last}</span>${to(number + 1, 'Next page ›')}</nav>`
}
