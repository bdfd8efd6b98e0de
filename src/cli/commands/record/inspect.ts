/** `ona inspect`: the database as pages for people: served on this machine, or written to a file. */

import { userInfo } from 'node:os'
import type { FleetPages } from '../../../audit/inspect/data/fleet-shapes.ts'
import { overview, overviews } from '../../../audit/inspect/overview.ts'
import { timeline } from '../../../audit/inspect/timeline.ts'
import { databaseUrlProblem } from '../../../fleet/database-url.ts'
import { counted } from '../../../hooks/text/counted.ts'
import { type Db, dbPath, openDb, type ReadDb, readDb, StoreError } from '../../../store/open.ts'
import { command } from '../../command.ts'
import { copyOfFleet } from '../../fleet-copy.ts'
import { failed, noted, said, warned, write, wrong } from '../../print.ts'
import { endingSignals } from '../../signals.ts'
import { writePage } from '../../write-page.ts'

const help = `Shows what happened: conversations, and for each its prompts, replies and calls, with what hooks and rules said at
every place, phases, plans and sub-agents. Nothing of the record is changed, except by deciding an approval on the served page;
the index of the search is stored in tables of its own.

  ona inspect [--conversation ID] [--open]         on 127.0.0.1, until Ctrl-C; the address opens once
  ona inspect [--conversation ID] --html FILE      as one self-contained page
  ona inspect [--conversation ID] --json           the same as JSON

  --conversation ID    this one; otherwise all of them, the newest first
  --html FILE          write the page there
  --open               open it in a browser
  --json               one line of JSON
  --from postgres://…  the record of a whole fleet (docs/fleet.md), as far as the database user may read it

Example: ona inspect --html what-happened.html
`

const flags = { conversation: 'value', html: 'value', open: 'flag', json: 'flag', from: 'value' } as const

export const run = command('ona inspect', { help, flags }, async ({ conversation, html, open, json, from }) => {
  if (html !== undefined && json) return wrong('ona inspect', '--html and --json do not go together')
  if (open && (html !== undefined || json)) return wrong('ona inspect', '--open goes with neither --html nor --json')
  const notAnAddress = from === undefined ? undefined : databaseUrlProblem(from)
  if (notAnAddress) return wrong('ona inspect', `--from: ${notAnAddress}`)
  if (from !== undefined && html === undefined && !json) return serveFleet(from, conversation, open === true)
  const copied = from === undefined ? undefined : await copyOfFleet(from, 'inspect', { conversation })
  const path = copied?.path ?? dbPath()
  const db = readDb(path)
  try {
    if (conversation !== undefined && !overview(db, conversation))
      return failed(`there is no conversation ${conversation}`)
    if (json) return printJson(db, conversation)
    if (html !== undefined) return await asFile(db, html, conversation)
    return await serve(path, conversation, open === true)
  } finally {
    db.close()
    copied?.remove()
  }
})

async function asFile(db: ReadDb, file: string, conversation: string | undefined): Promise<number> {
  const { wholePage } = await import('../../../audit/inspect/page.ts')
  const text = wholePage(db, conversation)!
  const why = writePage(file, text)
  if (why) return failed(why)
  return said(`${file}: ${Math.ceil(text.length / 1024).toLocaleString('en')} KB`)
}

/** Both are written as they are read: a history of any length fits. */
function printJson(db: ReadDb, conversation: string | undefined): number {
  if (conversation !== undefined) {
    const about = overview(db, conversation)!
    write(`{"conversation":${JSON.stringify(about)},"items":[`)
    let first = true
    for (const item of timeline(db, conversation)) {
      write(`${first ? '' : ','}${JSON.stringify(item)}`)
      first = false
    }
    return write(']}\n')
  }
  write('[')
  for (let offset = 0, more = true; more; offset += 500) {
    const rows = overviews(db, { limit: 500, offset })
    if (rows.length > 0) write((offset === 0 ? '' : ',') + JSON.stringify(rows).slice(1, -1))
    more = rows.length === 500
  }
  return write(']\n')
}

/** Served at once: the rows are copied meanwhile, and the pages show what is there. */
async function serveFleet(url: string, conversation: string | undefined, inBrowser: boolean): Promise<number> {
  const [{ startCopy }, { openFleetViews }] = await Promise.all([
    import('../../../fleet/copy.ts'),
    import('../../../fleet/views.ts'),
  ])
  const copying = await startCopy(url, { purpose: 'inspect', ...(conversation !== undefined && { conversation }) })
  if (conversation !== undefined && !isThere(copying.path, conversation)) {
    copying.remove()
    return failed(`there is no conversation ${conversation}`)
  }
  const fleet = openFleetViews(url)
  copying.done.then(
    (rows) => noted(`${counted(rows, 'row')} read from the fleet`),
    (cause: Error) => warned(`the fleet's record was not read to its end: ${cause.message}`),
  )
  try {
    return await serve(copying.path, conversation, inBrowser, fleet)
  } finally {
    await fleet.close()
    copying.remove()
  }
}

function isThere(path: string, conversation: string): boolean {
  const db = readDb(path)
  try {
    return db.get('SELECT 1 FROM conversations WHERE id = ?', conversation) !== undefined
  } finally {
    db.close()
  }
}

async function serve(
  file: string,
  conversation: string | undefined,
  inBrowser: boolean,
  fleet?: FleetPages,
): Promise<number> {
  const { serveInspect } = await import('../../../audit/inspect/server.ts')
  const { db, schema } = openForIndex(file)
  const path = conversation === undefined ? '/' : `/c/${encodeURIComponent(conversation)}`
  const { url, close } = await serveInspect(db, { schema, path, operator: userInfo().username, fleet })
  said(url)
  noted('It opens once, in one browser. Ctrl-C ends it.')
  if (inBrowser) await (await import('../../auth.ts')).openBrowser(url)
  await new Promise<void>((resolve) => {
    for (const signal of endingSignals) process.once(signal, () => resolve())
  })
  await close()
  db.close()
  return 0
}

/** The index is kept in the database; of one that cannot be written it is built in memory, each time. */
function openForIndex(file: string): { readonly db: Db; readonly schema: 'main' | 'temp' } {
  try {
    return { db: openDb(file), schema: 'main' }
  } catch (cause) {
    if (!(cause instanceof StoreError) || cause.kind !== 'read-only') throw cause
    return { db: readDb(file) as Db, schema: 'temp' }
  }
}
