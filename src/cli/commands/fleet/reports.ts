/** `ona fleet status|access|revoke|acknowledge|retain|erase`: the fleet as a whole. */

import type { FleetReport } from '../../../fleet/server/reports.ts'
import { counted } from '../../../hooks/text/counted.ts'
import { html, page } from '../../../page.ts'
import { paint, said, saidJson, table, warned, wrong } from '../../print.ts'
import { writePage } from '../../write-page.ts'
import { answered, fleetCommand, requireOperator, userFlags, userHelp, userOf } from './shared.ts'

const statusHelp = `ona fleet status shows the fleet: nodes with their rows, policies and faults, what does not follow in a chain, jobs, totals.

  ona fleet status
  ona fleet status --html fleet.html     as one page

${userHelp}  --html FILE    write it as a page
Exit code: 0 all is well, 1 a chain has faults or a node another policy than it should, or it failed, 2 wrong usage.
`

const text = (value: unknown): string =>
  value === null || value === undefined ? '-' : Array.isArray(value) ? value.join(', ') || '-' : String(value)
const time = (value: unknown): string => text(value).slice(0, 19).replace('T', ' ')

interface Part {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

function partsOf({ nodes, gaps, jobs, recentJobs }: FleetReport): Part[] {
  return [
    {
      title: 'Nodes',
      head: [
        'node',
        'person',
        'team',
        'ring',
        'rows',
        'faults',
        'policy',
        'wanted',
        'state',
        'drift',
        'hooks',
        'proof',
        'last seen',
      ],
      rows: nodes.map((row) => [
        ...[
          'node',
          'person',
          'team',
          'ring',
          'rows',
          'faults',
          'version',
          'wanted_version',
          'state',
          'drift',
          'hooks',
        ].map((name) => text(row[name])),
        text(row['proof']) || '-',
        time(row['last_seen']),
      ]),
    },
    {
      title: 'Gaps and edits',
      head: ['found', 'node', 'kind', 'link', 'table', 'row', 'detail'],
      rows: gaps.map((row) => [
        time(row['found_at']),
        ...['node', 'kind', 'link', 'table_name', 'row_id', 'detail'].map((name) => text(row[name])),
      ]),
    },
    { title: 'Jobs', head: ['state', 'jobs'], rows: jobs.map((row) => [text(row['state']), text(row['count'])]) },
    {
      title: 'Open and newest jobs',
      head: ['job', 'state', 'node', 'attempt', 'repository', 'prompt', 'reason'],
      rows: recentJobs.map((row) =>
        ['id', 'state', 'node', 'attempt', 'repo', 'prompt', 'reason'].map((name) =>
          text(row[name]).split('\n')[0]!.slice(0, 60),
        ),
      ),
    },
  ]
}

export const status = fleetCommand(
  'ona fleet status',
  { help: statusHelp, flags: { ...userFlags, html: 'value' } },
  async (given) => {
    const report = (await answered(userOf(given).client.ask('GET', '/v1/status'))) as unknown as FleetReport
    const parts = partsOf(report)
    if (given.html !== undefined) {
      const why = writePage(given.html, pageOf(report, parts))
      if (why) {
        warned(why)
        return 1
      }
      said(given.html)
    } else if (given.json) saidJson(report)
    else {
      for (const { title, head, rows } of parts)
        if (rows.length > 0) said(`${paint('bold', title)}\n${table(head, rows)}`)
      said(totalsOf(report).join(', '))
    }
    return report.gaps.length > 0 || report.nodes.some(({ ok }) => ok === false) ? 1 : 0
  },
)

function totalsOf({ totals }: FleetReport): string[] {
  const { costUsd, ...counts } = totals
  const cost = typeof costUsd === 'number' ? `$${costUsd.toFixed(2)} estimated` : 'no cost known'
  return [...Object.entries(counts).map(([name, value]) => `${Number(value).toLocaleString('en')} ${name}`), cost]
}

function pageOf(report: FleetReport, parts: readonly Part[]): string {
  const sections = parts.map(
    ({ title, head, rows }) =>
      `<h2>${html(title)}</h2>${
        rows.length === 0
          ? '<p>None.</p>'
          : `<table><thead><tr>${head.map((cell) => `<th>${html(cell)}</th>`).join('')}</tr></thead><tbody>${rows
              .map((row) => `<tr>${row.map((cell) => `<td>${html(cell)}</td>`).join('')}</tr>`)
              .join('\n')}</tbody></table>`
      }`,
  )
  return page({
    title: 'Fleet',
    kicker: 'ona fleet',
    body: `<h1>Fleet</h1><p>${html(totalsOf(report).join(' · '))}</p>${sections.join('\n')}`,
    style: 'td,th{padding:2px 10px;text-align:left}',
    script: '',
  })
}

const adminHelp = `ona fleet access             who read, published, decided, enrolled and erased (newest first)
ona fleet revoke NODE        the node's key is not accepted any more
ona fleet acknowledge NODE   its faults were looked at; they stay on record, and status does not show them any more
ona fleet retain --months 12 drop the months that ended longer ago than that
ona fleet erase --person ada@example.com --reason TEXT   remove the content of everything that the machines of a user sent

All need the role admin, and are rows of the access log themselves.
${userHelp}`

export const access = fleetCommand('ona fleet access', { help: adminHelp, flags: userFlags }, async (given) => {
  const { list } = (await answered(userOf(given).client.ask('GET', '/v1/access'))) as unknown as {
    list: Record<string, string>[]
  }
  if (given.json) return saidJson(list)
  return said(
    table(
      ['at', 'actor', 'role', 'action', 'target', 'detail'],
      list.map((row) => [
        time(row['at']),
        ...['actor', 'role', 'action', 'target', 'detail'].map((name) => text(row[name])),
      ]),
    ),
  )
})

export const revoke = fleetCommand(
  'ona fleet revoke',
  { help: adminHelp, words: 1, flags: userFlags },
  async (given, [node]) => {
    if (node === undefined) return wrong('ona fleet revoke', 'name the node')
    requireOperator('revoking a node')
    await answered(userOf(given).client.ask('POST', `/v1/nodes/${encodeURIComponent(node)}/revoke`))
    return given.json ? saidJson({ node }) : said(`${node} is revoked`)
  },
)

export const acknowledge = fleetCommand(
  'ona fleet acknowledge',
  { help: adminHelp, words: 1, flags: userFlags },
  async (given, [node]) => {
    if (node === undefined) return wrong('ona fleet acknowledge', 'name the node')
    requireOperator('acknowledging faults')
    const { faults } = await answered(userOf(given).client.ask('POST', '/v1/faults/acknowledge', { node }))
    return given.json ? saidJson({ faults }) : said(`${counted(Number(faults), 'fault')} acknowledged`)
  },
)

export const retain = fleetCommand(
  'ona fleet retain',
  { help: adminHelp, flags: { ...userFlags, months: 'value' } },
  async (given) => {
    const months = Number(given.months)
    if (!Number.isInteger(months) || months < 1) return wrong('ona fleet retain', '--months must be a number of months')
    requireOperator('removing months of the record')
    const { dropped } = await answered(userOf(given).client.ask('POST', '/v1/retain', { months }))
    return given.json ? saidJson({ dropped }) : said(`${dropped} partitions dropped`)
  },
)

export const erase = fleetCommand(
  'ona fleet erase',
  { help: adminHelp, flags: { ...userFlags, person: 'value', reason: 'value' } },
  async (given) => {
    if (given.person === undefined) return wrong('ona fleet erase', 'name the user with --person')
    requireOperator('erasing content of the record')
    const { rows } = await answered(
      userOf(given).client.ask('POST', '/v1/erase', { person: given.person, reason: given.reason ?? 'on request' }),
    )
    return given.json ? saidJson({ rows }) : said(`${counted(Number(rows), 'row')} erased`)
  },
)
