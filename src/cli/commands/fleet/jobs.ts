/** `ona fleet submit|worker|log|cancel|retry|approvals`: jobs for headless agents. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { nodeClient } from '../../../fleet/node/client.ts'
import { fleetHome, readIdentity } from '../../../fleet/node/identity.ts'
import { protectionOf } from '../../../permissions/protected-paths.ts'
import { dbPath } from '../../../store/open.ts'
import { family, type Run } from '../../command.ts'
import { noted, said, saidJson, table, wrong } from '../../print.ts'
import { answered, fleetCommand, requireOperator, untilStopped, userFlags, userHelp, userOf } from './shared.ts'

const submitHelp = `ona fleet submit gives a job to the workers of the fleet: a prompt, run headless in a checkout of its own. Needs the role
publisher.

  ona fleet submit "fix the flaky test" --repo https://git.example/app.git --ref main --policy strict
  ona fleet submit "try an approach" --repo … --count 20 --max-minutes 20 --max-cost 2

  --repo URL          https, ssh or file address, user@host:path, or an absolute path
  --ref REF           branch, tag or commit (main)
  --policy NAME       settings that its worker has by that name (--policies); without them the job fails
  --count N           so many jobs of the same kind (1)
  --key KEY           submitting again with the same key submits nothing
  --model NAME        the model
  --push              push the job's branch when it is done
  --on-crash R        restart (default) in a fresh checkout, or resume the session where it lies
  --max-minutes N     time (30)
  --max-turns N       requests to the model
  --max-cost USD      estimated cost
  --attempts N        how often it is tried (3)
${userHelp}`

const number = (value: string | undefined): number | undefined => (value === undefined ? undefined : Number(value))

export const submit = fleetCommand(
  'ona fleet submit',
  {
    help: submitHelp,
    words: 1,
    flags: {
      ...userFlags,
      ...{ repo: 'value', ref: 'value', policy: 'value', count: 'value', key: 'value', model: 'value', push: 'flag' },
      'on-crash': { kind: 'value', oneOf: ['restart', 'resume'] },
      ...{ 'max-minutes': 'value', 'max-turns': 'value', 'max-cost': 'value', attempts: 'value' },
    },
  },
  async (given, [prompt]) => {
    const name = 'ona fleet submit'
    if (prompt === undefined) return wrong(name, 'what is the job? Give its prompt')
    if (given.repo === undefined) return wrong(name, '--repo URL is needed')
    const numbers = {
      ...{ count: number(given.count), attempts: number(given.attempts), maxMinutes: number(given['max-minutes']) },
      ...{ maxTurns: number(given['max-turns']), maxCostUsd: number(given['max-cost']) },
    }
    for (const [what, value] of Object.entries(numbers))
      if (value !== undefined && !(value > 0)) return wrong(name, `${what} must be a number more than 0`)
    requireOperator('submitting a job')
    const { repo, ref = 'main', policy, key, model, push } = given
    const body = { prompt, repo, ref, policy, key, model, push, onCrash: given['on-crash'], ...numbers }
    const { jobs } = await answered(userOf(given).client.ask('POST', '/v1/jobs', body))
    return given.json ? saidJson(jobs) : said((jobs as string[]).join('\n'))
  },
)

const workerHelp = `ona fleet worker takes jobs and runs each headless, in a checkout of its own. The node must be invited with --worker. A worker may
be killed at any moment: its jobs are given out again.

  ona fleet worker --slots 4 --policies ./policies

  --slots N        jobs at a time (1)
  --policies DIR   NAME.json are the settings of jobs with --policy NAME
  --dir DIR        where clones lie (default: ~/.ona/worktrees/fleet-NODE); not where tools may not write, such as ~/.ona/fleet
What an agent is not allowed to do without asking becomes an approval: ona fleet approvals. One worker per ONA_FLEET_HOME.
`

export const worker = fleetCommand(
  'ona fleet worker',
  { help: workerHelp, flags: { slots: 'value', policies: 'value', dir: 'value' } },
  async ({ slots: given = '1', policies, dir }) => {
    const slots = Number(given)
    if (!Number.isInteger(slots) || slots < 1 || slots > 100)
      return wrong('ona fleet worker', '--slots must be a number from 1 to 100')
    requireOperator('working for a fleet')
    const home = fleetHome()
    const identity = readIdentity(home)
    const user = process.env['HOME'] || homedir()
    const folder = resolve(dir ?? join(user, '.ona', 'worktrees', `fleet-${identity.node}`))
    const guarded = protectionOf(join(folder, 'job'), user)
    if (guarded) return wrong('ona fleet worker', `--dir: ${folder} is ${guarded.what}; no job could write there`)
    const { work } = await import('../../../fleet/jobs/worker.ts')
    const signal = untilStopped()
    noted(`worker of ${identity.url}, ${slots} at a time; Ctrl-C ends it`)
    await work({
      ...{ client: nodeClient(identity), slots, home, db: dbPath(), signal },
      folder,
      program: [process.execPath, process.argv[1]!],
      policies: policies === undefined ? undefined : resolve(policies),
      withoutContent: identity.withoutContent,
      onNote: noted,
    })
    return 0
  },
)

const jobHelp = `ona fleet log JOB shows a job and everything that happened to it; ona fleet cancel JOB ends it; ona fleet retry JOB starts one that
ended, or waits, from its beginning.

  ona fleet log 4f1c…  ·  ona fleet cancel 4f1c…  ·  ona fleet retry 4f1c…
${userHelp}`

interface JobEvent {
  readonly at: string
  readonly attempt: number
  readonly node: string | null
  readonly what: string
  readonly detail: string
}

export const log = fleetCommand('ona fleet log', { help: jobHelp, words: 1, flags: userFlags }, async (given, [id]) => {
  if (id === undefined) return wrong('ona fleet log', 'name the job')
  const found = await answered(userOf(given).client.ask('GET', `/v1/jobs/${encodeURIComponent(id)}`))
  if (given.json) return saidJson(found)
  const { job, events } = found as unknown as { job: Record<string, unknown>; events: JobEvent[] }
  said(
    `${job['outcome'] ?? job['status']}: ${String(job['prompt']).split('\n')[0]}\n${job['repo']} ${job['ref']}${job['branch'] ? ` → ${job['branch']}` : ''}`,
  )
  if (job['reason']) said(String(job['reason']))
  said(
    table(
      ['at', 'attempt', 'node', 'what', 'detail'],
      events.map(({ at, attempt, node, what, detail }) => [
        at.slice(0, 19).replace('T', ' '),
        String(attempt),
        node ?? '-',
        what,
        detail,
      ]),
    ),
  )
  if (job['result']) said(String(job['result']))
  return 0
})

const act = (verb: 'cancel' | 'retry'): Run =>
  fleetCommand(`ona fleet ${verb}`, { help: jobHelp, words: 1, flags: userFlags }, async (given, [id]) => {
    if (id === undefined) return wrong(`ona fleet ${verb}`, 'name the job')
    requireOperator(`${verb === 'cancel' ? 'cancelling' : 'retrying'} a job`)
    const done = await answered(userOf(given).client.ask('POST', `/v1/jobs/${encodeURIComponent(id)}/${verb}`))
    return given.json ? saidJson(done) : said(`${id}: ${done['state']}`)
  })

export const cancel = act('cancel')
export const retry = act('retry')

const approvalsHelp = `ona fleet approvals: calls of jobs that wait for a decision. The job is resumed where it waits, by the worker that has it.

  ona fleet approvals list
  ona fleet approvals approve JOB ID [--note TEXT]
  ona fleet approvals deny JOB ID [--note TEXT]
${userHelp}`

const list = fleetCommand('ona fleet approvals list', { help: approvalsHelp, flags: userFlags }, async (given) => {
  const { list: rows } = (await answered(userOf(given).client.ask('GET', '/v1/approvals'))) as unknown as {
    list: Record<string, string>[]
  }
  if (given.json) return saidJson(rows)
  if (rows.length === 0) return said('nothing waits')
  return said(
    table(
      ['job', 'id', 'node', 'tool', 'input', 'why'],
      rows.map((row) => [
        row['job']!,
        row['id']!,
        row['node']!,
        row['tool']!,
        row['input']!.slice(0, 80),
        row['reason']!.slice(0, 60),
      ]),
    ),
  )
})

const decision = (verb: 'approve' | 'deny'): Run =>
  fleetCommand(
    `ona fleet approvals ${verb}`,
    { help: approvalsHelp, words: 2, flags: { ...userFlags, note: 'value' } },
    async (given, [job, id]) => {
      if (job === undefined || id === undefined)
        return wrong(`ona fleet approvals ${verb}`, 'name the job and the approval')
      requireOperator('deciding an approval')
      const path = `/v1/approvals/${encodeURIComponent(job)}/${encodeURIComponent(id)}`
      await answered(userOf(given).client.ask('POST', path, { allow: verb === 'approve', note: given.note }))
      return given.json
        ? saidJson({ job, id, decision: verb })
        : said(`${id}: ${verb === 'approve' ? 'approved' : 'denied'}`)
    },
  )

export const approvals = family('ona fleet approvals', approvalsHelp, {
  list,
  approve: decision('approve'),
  deny: decision('deny'),
})
