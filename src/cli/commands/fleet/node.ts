/** `ona fleet enrol|ship`: this machine as a node. */

import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../../../files/problem.ts'
import { nodeClient, userClient } from '../../../fleet/node/client.ts'
import { fleetHome, isEnrolled, newKeys, readIdentity, writeIdentity } from '../../../fleet/node/identity.ts'
import { counted } from '../../../hooks/text/counted.ts'
import { dbPath, readDb } from '../../../store/open.ts'
import { noted, said, saidJson, warned, wrong } from '../../print.ts'
import { answered, fleetCommand, requireOperator, requireSafe, untilStopped } from './shared.ts'

const enrolHelp = `ona fleet enrol makes this machine a node of a fleet. It makes a key pair; the private key stays here, readable by its owner
alone (~/.ona/fleet/node.json). The token comes from ona fleet invite, and works once.

  ona fleet enrol https://fleet.example --token ona_enrol_…

  --token TOKEN   or ONA_FLEET_ENROL_TOKEN, which command lines do not show
  --name NAME     how the fleet shows this machine; by default its host name
  --no-content    prompts, inputs and outputs never leave this machine: who, when, which tool and what was decided do
  --again         replace an earlier enrolment of this machine
  --json          as JSON

ONA_FLEET_HOME is the folder of the key; by default ~/.ona/fleet.
Exit code: 0 done, 1 it failed, 2 wrong usage.
`

export const enrol = fleetCommand(
  'ona fleet enrol',
  {
    help: enrolHelp,
    words: 1,
    flags: { token: 'value', name: 'value', 'no-content': 'flag', again: 'flag', json: 'flag' },
  },
  async (given, [url]) => {
    if (url === undefined) return wrong('ona fleet enrol', 'name the service: ona fleet enrol https://fleet.example')
    const token = given.token ?? process.env['ONA_FLEET_ENROL_TOKEN']
    if (token === undefined) return wrong('ona fleet enrol', 'a token is needed: --token TOKEN')
    requireSafe(url)
    requireOperator('enrolling this machine')
    const home = fleetHome()
    if (isEnrolled(home) && !given.again)
      throw new Problem(`this machine is enrolled already (${home}); --again replaces that`)
    const { publicKey, privateKey } = newKeys()
    const name = given.name ?? hostname()
    const reply = await answered(userClient(url, undefined).ask('POST', '/v1/enrol', { token, name, publicKey }))
    const node = String(reply['node'])
    const publishers = reply['publishers'] as string[]
    writeIdentity(home, { url, node, name, privateKey, publishers, withoutContent: given['no-content'] === true })
    if (given.json) return saidJson({ node, name, url })
    return said(`${name} is node ${node} of ${url}; ona fleet ship --watch sends its rows`)
  },
)

const shipHelp = `ona fleet ship sends the rows of this machine's record that the fleet does not have yet. Secrets are redacted first. A service
that is down costs nothing and loses nothing: the rest is sent the next time.

  ona fleet ship
  ona fleet ship --watch      keep sending until Ctrl-C

  --every SECONDS   with --watch: how often it looks for new rows (5)
  --json            print the counts as JSON
Exit code: 0 everything was sent, 1 some of it was not, or the fleet reports a fault of the chain, 2 wrong usage.
`

export const ship = fleetCommand(
  'ona fleet ship',
  { help: shipHelp, flags: { watch: 'flag', every: 'value', json: 'flag' } },
  async ({ watch, every, json }) => {
    const seconds = Number(every ?? 5)
    if (!(seconds > 0)) return wrong('ona fleet ship', '--every must be a number of seconds')
    const identity = readIdentity(fleetHome())
    const { ship: send } = await import('../../../fleet/node/ship.ts')
    const signal = untilStopped()
    const client = nodeClient(identity, { signal })
    const { withoutContent } = identity
    const once = async (tries: number) => {
      if (!existsSync(dbPath())) return { rows: 0, batches: 0, faults: 0 } // ona has not run here yet
      const db = readDb(dbPath())
      try {
        return await send(db, client, { withoutContent, signal, tries })
      } finally {
        db.close()
      }
    }
    const report = ({ rows, batches, faults, problem }: Awaited<ReturnType<typeof once>>) => {
      if (json && !watch) saidJson({ rows, batches, faults, ...(problem !== undefined && { problem }) })
      else if (rows > 0 || !watch) said(`${counted(rows, 'row')} sent`)
      if (faults > 0)
        warned(`the fleet reports ${counted(faults, 'fault')} of the chain; ona audit verify names the first row`)
      if (problem !== undefined) warned(`${problem}; the rest is sent the next time`)
    }
    if (!watch) {
      const done = await once(5)
      report(done)
      return done.problem === undefined && done.faults === 0 ? 0 : 1
    }
    noted('sending what is new; Ctrl-C ends it')
    let last = ''
    while (!signal.aborted) {
      const done = await once(1)
      // a service that stays down is reported once
      if (!signal.aborted && (done.problem ?? '') !== last) report(done)
      else report({ ...done, problem: undefined as never })
      last = done.problem ?? ''
      await sleep(seconds * 1000, undefined, { signal }).catch(() => {})
    }
    return 0
  },
)
