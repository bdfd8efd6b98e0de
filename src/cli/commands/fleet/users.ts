/** `ona fleet invite|token`: who may join and who may ask. */
import { userRoles } from '../../../fleet/server/user-access.ts'
import { said, saidJson, wrong } from '../../print.ts'
import { answered, fleetCommand, requireOperator, userFlags, userHelp, userOf } from './shared.ts'

const list = { kind: 'list', split: (word: string) => word.split(',').filter(Boolean) } as const

const inviteHelp = `ona fleet invite prints a token with which one machine can enrol, once. Needs the role admin.

  ona fleet invite --person ada@example.com --team payments
  ona fleet invite --worker --hours 1

  --person NAME  whose machine it is: erasure and reports go by it
  --team NAME    for reports of cost
  --group G...   policies can be published to a group
  --ring R       canary or all (default): canary gets new policies first
  --worker       it may take jobs
  --hours N      how long the token is valid (24)
${userHelp}`

export const invite = fleetCommand(
  'ona fleet invite',
  {
    help: inviteHelp,
    flags: {
      ...userFlags,
      ...{ person: 'value', team: 'value', group: list, worker: 'flag', hours: 'value' },
      ring: { kind: 'value', oneOf: ['canary', 'all'] },
    },
  },
  async (given) => {
    const hours = Number(given.hours ?? 24)
    if (!(hours > 0)) return wrong('ona fleet invite', '--hours must be a number of hours')
    requireOperator('inviting a machine')
    const { person, team, group: groups, ring, worker } = given
    const body = { person, team, groups, ring, worker, hours }
    const { token } = await answered(userOf(given).client.ask('POST', '/v1/enrol-tokens', body))
    return given.json ? saidJson({ token }) : said(String(token))
  },
)

const tokenHelp = `ona fleet token prints a token for a user or for telemetry. It is shown once. Needs the role admin.

  ona fleet token --role reader --name ada
  ona fleet token --role telemetry --name claude-code --node NODE     for agents that speak OpenTelemetry only

  --role R       reader, publisher, admin or telemetry (adds rows, reads nothing)
  --name NAME    who it is: the access log shows the name
  --node NODE    telemetry: whose rows they are
  --hours N      how long it is valid; by default until it is revoked
${userHelp}`

export const token = fleetCommand(
  'ona fleet token',
  {
    help: tokenHelp,
    flags: { ...userFlags, role: { kind: 'value', oneOf: userRoles }, name: 'value', node: 'value', hours: 'value' },
  },
  async (given) => {
    if (given.role === undefined || given.name === undefined)
      return wrong('ona fleet token', '--role and --name are needed')
    const hours = given.hours === undefined ? undefined : Number(given.hours)
    if (hours !== undefined && !(hours > 0)) return wrong('ona fleet token', '--hours must be a number of hours')
    requireOperator('making a token')
    const { role, name, node } = given
    const { token: made } = await answered(userOf(given).client.ask('POST', '/v1/tokens', { role, name, node, hours }))
    return given.json ? saidJson({ token: made }) : said(String(made))
  },
)
