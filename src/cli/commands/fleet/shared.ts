/** What the commands of a fleet share: where the database and the service are, and who asks. */
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { writeAtomic } from '../../../files/atomic-write.ts'
import { Problem } from '../../../files/problem.ts'
import { databaseUrlProblem } from '../../../fleet/database-url.ts'
import { type Client, type Reply, Unreachable, userClient, whyOf } from '../../../fleet/node/client.ts'
import { fleetHome } from '../../../fleet/node/identity.ts'
import type { JsonObject } from '../../../hooks/shape.ts'
import { operatorProblem } from '../../../store/operator.ts'
import type { FlagsOf, Rows } from '../../args.ts'
import { command, type Run, type Shape } from '../../command.ts'
import { failed, wrong } from '../../print.ts'
import { untilEndingSignal } from '../../signals.ts'

/** What was typed, or is set, cannot be what is meant. */
class WrongUsage extends Error {
  override readonly name = 'WrongUsage'
}

/** A command of a fleet: wrong usage ends with 2; a service that does not answer ends with 1 and what to do about it. */
export const fleetCommand = <const R extends Rows = Record<never, never>>(
  name: string,
  shape: Shape<R>,
  work: (flags: FlagsOf<R>, words: string[]) => Promise<number> | number,
): Run =>
  command(name, shape, async (flags, words) => {
    try {
      return await work(flags, words)
    } catch (cause) {
      if (cause instanceof WrongUsage) return wrong(name, cause.message)
      if (cause instanceof Unreachable)
        return failed(`${cause.message}; is ona fleet serve running, and is that its address?`)
      throw cause
    }
  })

export const databaseOf = (db: string | undefined): string => {
  const url = db ?? process.env['ONA_FLEET_DB']
  if (!url) throw new WrongUsage('name the database, such as postgres://user@host/name, or set ONA_FLEET_DB')
  const why = databaseUrlProblem(url)
  if (why) throw new WrongUsage(why)
  return url
}

export interface Login {
  readonly url: string
  readonly token: string
}

const loginFile = () => join(fleetHome(), 'user.json')

export function saveLogin(login: Login): void {
  const { mkdirSync } = process.getBuiltinModule('node:fs')
  mkdirSync(fleetHome(), { recursive: true, mode: 0o700 })
  writeAtomic(loginFile(), `${JSON.stringify(login)}\n`, { mode: 0o600 })
}

function savedLogin(): Partial<Login> {
  const stat = statSync(loginFile(), { throwIfNoEntry: false })
  if (!stat) return {}
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0)
    throw new Problem(`${loginFile()} can be read by others; run chmod 600 ${loginFile()}`)
  return JSON.parse(readFileSync(loginFile(), 'utf8')) as Login
}

/** The flags of every command that asks the service as a user. */
export const userFlags = { url: 'value', token: 'value', json: 'flag' } as const

export const userHelp = `  --url URL      the service; by default ONA_FLEET_URL, or the one of ona fleet login
  --token TOKEN  who asks; by default ONA_FLEET_TOKEN, or the one of ona fleet login
  --json         as JSON
`

export function userOf({ url, token }: { url?: string; token?: string }): { client: Client; url: string } {
  const saved = savedLogin()
  const to = url ?? process.env['ONA_FLEET_URL'] ?? saved.url
  const as = token ?? process.env['ONA_FLEET_TOKEN'] ?? saved.token
  if (!to) throw new WrongUsage('name the service: --url URL, ONA_FLEET_URL, or ona fleet login URL once')
  requireSafe(to)
  return { client: userClient(to, as), url: to }
}

/** A token or a signed request does not travel in the clear, except on this machine. */
export function requireSafe(url: string): void {
  const parsed = URL.parse(url)
  const isHere = parsed && ['127.0.0.1', '[::1]', 'localhost'].includes(parsed.hostname)
  if (!parsed || (parsed.protocol !== 'https:' && !(parsed.protocol === 'http:' && isHere)))
    throw new WrongUsage(`${url} must be an https address (http only on 127.0.0.1)`)
}

/** The body of an answer; anything but 200 is a Problem. */
export async function answered(reply: Promise<Reply>): Promise<JsonObject> {
  const got = await reply
  if (got.status !== 200) throw new Problem(whyOf(got))
  return got.body
}

/** An act of the operator's: refused in a process that an agent started. */
export function requireOperator(act: string): void {
  const held = operatorProblem(act, { home: process.env['HOME'] || homedir() })
  if (held) throw new Problem(held)
}

/** Until Ctrl-C. */
export function untilStopped(): AbortSignal {
  return untilEndingSignal().signal
}

export const whenStopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
