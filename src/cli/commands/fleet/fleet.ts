/** `ona fleet`: many machines, on PostgreSQL. */
import { family } from '../../command.ts'
import type { Verb } from '../../verbs.ts'
import { approvals, cancel, log, retry, submit, worker } from './jobs.ts'
import { login } from './login.ts'
import { enrol, ship } from './node.ts'
import { policy } from './policy.ts'
import { access, acknowledge, erase, retain, revoke, status } from './reports.ts'
import { init, serve } from './service.ts'
import { down, up } from './up.ts'
import { invite, token } from './users.ts'

const help = `ona fleet: many machines, one record and one policy, on PostgreSQL.

  ona fleet up                                      a whole fleet on this machine, to try it
  ona fleet init postgres://…                       the schema and its roles
  ona fleet serve --db postgres://…                 the service that machines talk to
  ona fleet invite --person ada                     a token with which one machine can enrol
  ona fleet enrol https://fleet.example --token T   this machine joins
  ona fleet ship --watch                            send new rows of this machine's record
  ona fleet policy publish DIR --ring canary        one signed policy for every machine
  ona fleet submit "fix the flaky test" --repo URL  a job for the workers: ona fleet worker
  ona fleet status                                  nodes, policies, gaps and jobs
  ona fleet token --role reader --name ada          a token for a user

Every subcommand has --help with an example. The page: docs/fleet.md.
`

export const run = family<Verb<'fleet'>>('ona fleet', help, {
  ...{ init, serve, enrol, ship, policy, invite, token },
  ...{ submit, worker, log, cancel, retry, approvals, up, down, login },
  ...{ status, access, revoke, acknowledge, retain, erase },
})
