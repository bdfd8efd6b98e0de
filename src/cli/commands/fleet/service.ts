/** `ona fleet init|serve`: the database and the service. */

import { readFileSync } from 'node:fs'
import { Problem } from '../../../files/problem.ts'
import { readFault } from '../../../files/read-fault.ts'
import { noted, said, saidJson, warned, wrong } from '../../print.ts'
import { databaseOf, fleetCommand, requireOperator, untilStopped, whenStopped } from './shared.ts'

const initHelp = `ona fleet init makes the schema of a fleet in a PostgreSQL database (15 or later), with its roles, or brings it up to date.
Run it again whenever you like: what is there stays.

  ona fleet init postgres://owner@db.example/fleet

The first time it prints an admin token, once. The service should connect as ona_service, which has no login until you
give it one: ALTER ROLE ona_service LOGIN PASSWORD '…'.

  --json    as JSON
Exit code: 0 done, 1 it failed, 2 wrong usage.
`

export const init = fleetCommand(
  'ona fleet init',
  { help: initHelp, words: 1, flags: { json: 'flag' } },
  async ({ json }, [url]) => {
    const db = databaseOf(url)
    requireOperator('making a fleet')
    const { initFleet } = await import('../../../fleet/server/init.ts')
    const { applied, version, server, token } = await initFleet(db, { firstAdmin: 'first admin' })
    if (json) return saidJson({ applied, version, server, ...(token !== undefined && { token }) })
    said(
      applied === 0
        ? `schema version ${version}: up to date (PostgreSQL ${server})`
        : `schema version ${version}: ${applied} migrations applied (PostgreSQL ${server})`,
    )
    if (token === undefined) return 0
    const { host, pathname } = new URL(db)
    return said(`admin token, shown once: ${token}
next:
  psql …       ALTER ROLE ona_service LOGIN PASSWORD '…'
  ona fleet serve --db postgres://ona_service@${host}${pathname}      with PGPASSWORD set
  ona fleet login http://127.0.0.1:8470 --token TOKEN       sign in as the admin, on the machine of the service`)
  },
)

const serveHelp = `ona fleet serve is the service that nodes and users talk to: enrolment, rows in, policies out, jobs, health.

  ona fleet serve --db postgres://ona_service@db.example/fleet --tls-cert cert.pem --tls-key key.pem --host 0.0.0.0
  ona fleet serve --db postgres://… --port 8470        on 127.0.0.1, behind a proxy that speaks TLS

  --db URL           PostgreSQL; by default ONA_FLEET_DB (a password is better there: command lines can be read by others)
  --port N           default 8470; 0: any
  --host ADDRESS     default 127.0.0.1; another one needs TLS
  --tls-cert FILE    certificate, PEM
  --tls-key FILE     its key, PEM
  --connections N    connections to PostgreSQL (10)
  --oidc-issuer URL  users sign in with OpenID Connect: ona fleet login
  --oidc-client ID   the client id; its secret is ONA_FLEET_OIDC_SECRET
  --oidc-role CLAIM=VALUE:ROLE   who has a role: groups=auditors:reader, email=ada@example.com:admin; may be given again
  --public-url URL   the address that users' browsers see; by default the one it listens on

Addresses: GET /health (open), GET /metrics (a reader's token). Exit code: 0 ended by Ctrl-C, 1 it failed, 2 wrong usage.
`

const flags = {
  db: 'value',
  port: 'value',
  host: 'value',
  'tls-cert': 'value',
  'tls-key': 'value',
  connections: 'value',
  'oidc-issuer': 'value',
  'oidc-client': 'value',
  'oidc-role': 'each',
  'public-url': 'value',
} as const

export const serve = fleetCommand('ona fleet serve', { help: serveHelp, flags }, async (given) => {
  const port = Number(given.port ?? 8470)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    return wrong('ona fleet serve', `--port must be a port, not ${given.port}`)
  const connections = Number(given.connections ?? 10)
  if (!Number.isInteger(connections) || connections < 2)
    return wrong('ona fleet serve', '--connections must be a number, 2 or more')
  const { host = '127.0.0.1' } = given
  const [cert, key] = [given['tls-cert'], given['tls-key']]
  if ((cert === undefined) !== (key === undefined))
    return wrong('ona fleet serve', '--tls-cert and --tls-key go together')
  if (cert === undefined && !['127.0.0.1', '::1', 'localhost'].includes(host))
    return wrong(
      'ona fleet serve',
      `tokens and rows do not travel in the clear: ${host} needs --tls-cert and --tls-key; or listen on 127.0.0.1 behind a proxy that speaks TLS`,
    )
  const { openFleet } = await import('../../../fleet/server/database.ts')
  const { serveFleet } = await import('../../../fleet/server/serve.ts')
  const db = databaseOf(given.db)
  const fleet = openFleet(db, { connections })
  try {
    const service = await serveFleet(fleet, {
      ...{ port, host, ingests: connections, queueUrl: db },
      ...(cert !== undefined && { tls: { cert: pemIn(cert), key: pemIn(key!) } }),
      ...(given['oidc-issuer'] !== undefined && {
        oidc: {
          issuer: given['oidc-issuer'],
          clientId: given['oidc-client'] ?? 'ona',
          clientSecret: process.env['ONA_FLEET_OIDC_SECRET'],
          roles: given['oidc-role'] ?? [],
          ...(given['public-url'] !== undefined && { publicUrl: given['public-url'] }),
        },
      }),
      onWait: (why) => warned(`${why} Waiting for a minute; Ctrl-C ends it.`),
      onError: (cause, path) => warned(`${path}: ${(cause as Error).message}`),
    })
    said(service.url)
    noted('Ctrl-C ends it.')
    await whenStopped(untilStopped())
    await service.close()
    return 0
  } finally {
    await fleet.close()
  }
})

function pemIn(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new Problem(`${file} cannot be read: ${readFault(cause)}`)
  }
}
