/** One request to its reply: tried, tried again where that may help, and never thrown out of. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Credential, Secret } from '../../auth/credential.ts'
import { redact } from '../../hooks/secrets/redact.ts'
import { isObject } from '../../hooks/shape.ts'
import { type Dialect, noUsage, type ReplyReader } from '../dialects/dialect.ts'
import type { ModelFailure, ModelRequest, Part, Reply } from '../model.ts'
import { ownReasoning, wellFormed } from './history.ts'
import type { HttpClient, HttpOutcome } from './http.ts'
import { delay, pause, type RetryPolicy } from './retry.ts'
import { refused, type Trouble, trouble } from './server-failure.ts'
import { sseReader } from './sse.ts'

export interface Line {
  readonly dialect: Dialect
  readonly client: HttpClient
  readonly credential: Credential
  readonly retries: RetryPolicy
  /** For messages; holds no credentials. */
  readonly host: string
}

export async function exchange(line: Line, asked: ModelRequest, on: (part: Part) => void): Promise<Reply> {
  const messages = wellFormed(ownReasoning(asked.messages, asked.thinking ? asked.model : ''))
  const request = messages === asked.messages ? asked : { ...asked, messages }
  let renewed = false
  let attempt = 1

  for (;;) {
    let output = false
    const tried = await once(line, request, (part) => {
      output = true
      on(part)
    })
    if (tried.ok) return finished(tried.reader)
    if (request.signal.aborted) return { ...partOf(tried.reader, request), stop: 'cancelled' }

    const { failure, again } = tried.trouble
    if (failure.status === 401 && !renewed && (await line.credential.renew(request.signal))) {
      renewed = true
      continue
    }
    if (line.dialect.adapt(failure)) continue

    const waitMs = again ? delay(line.retries, attempt, { output, retryAfterMs: failure.retryAfterMs }) : undefined
    if (waitMs === undefined) return failed(tried.reader, request, explained(line, failure))
    on({ type: 'retry', attempt: attempt++, most: line.retries.most, waitMs, failure: explained(line, failure) })
    if (!(await pause(waitMs, request.signal))) return { ...partOf(undefined, request), stop: 'cancelled' }
  }
}

type Tried =
  | { readonly ok: true; readonly reader: ReplyReader }
  | { readonly ok: false; readonly trouble: Trouble; readonly reader?: ReplyReader }

async function once(
  { dialect, client, credential, host }: Line,
  request: ModelRequest,
  on: (part: Part) => void,
): Promise<Tried> {
  const now = await credential.now(request.signal)
  if ('problem' in now) return { ok: false, trouble: trouble('authentication', now.problem) }

  const reader = dialect.reader(request, on)
  const intake = intakeOf(reader)
  let status = 0
  let headers: IncomingHttpHeaders = {}
  let page = ''
  const outcome = await client.send(
    {
      method: 'POST',
      path: dialect.path,
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...dialect.headers(now) },
      body: dialect.body(request),
      signal: request.signal,
    },
    {
      head(...head) {
        ;[status, headers] = head
      },
      text(piece) {
        if (status === 200) return intake.push(piece)
        if (page.length < 64 * 1024) page += piece
        return false
      },
    },
  )
  if (outcome.kind === 'done' && status !== 200) {
    return { ok: false, trouble: withoutSecret(refused(status, headers, page, host), now) }
  }
  if (outcome.kind === 'done') intake.end()
  const wrong = intake.wrong() ?? reader.trouble() ?? lost(outcome, reader, host)
  if (!wrong) return { ok: true, reader }
  // Forty megabytes of words are no words: nothing of them is kept.
  const part = outcome.kind === 'too-large' ? {} : { reader }
  return { ok: false, trouble: withoutSecret(wrong, now), ...part }
}

function lost(outcome: HttpOutcome, reader: ReplyReader, host: string): Trouble | undefined {
  if (reader.complete()) return undefined
  if (outcome.kind === 'aborted') return trouble('network', 'interrupted', false)
  if (outcome.kind === 'network') return trouble('network', outcome.why)
  if (outcome.kind === 'too-large')
    return trouble('server', `${host} sent more than ${outcome.limit >> 20} MB in one reply`, false)
  return trouble('network', `${host} ended the reply before it was whole`)
}

/** Tells a stream from a reply in one piece by how it begins: servers' content types cannot be relied on. */
function intakeOf(reader: ReplyReader): { push(piece: string): boolean; end(): void; wrong(): Trouble | undefined } {
  let kind: 'unknown' | 'stream' | 'json' | 'other' = 'unknown'
  let head = ''
  const pieces: string[] = []
  let over = false
  let wrong: Trouble | undefined

  const sse = sseReader((data) => {
    if (over) return
    try {
      over = reader.event(data)
    } catch {
      // Only JSON.parse throws in there.
      wrong = trouble('server', `an event of the reply is not JSON: ${data.slice(0, 80)}`)
      over = true
    }
  })
  const push = (piece: string): boolean => {
    if (kind === 'stream') sse.push(piece)
    else if (kind === 'unknown') {
      head += piece
      kind = kindOf(head)
      if (kind === 'stream') sse.push(head)
      else if (kind === 'json') pieces.push(head)
    } else if (kind === 'json') pieces.push(piece)
    return over || kind === 'other'
  }
  return {
    push,
    end() {
      if (kind === 'stream') sse.end()
      else if (kind === 'json') {
        try {
          const message: unknown = JSON.parse(pieces.join(''))
          if (isObject(message)) reader.whole(message)
        } catch {
          // Cut off, or no JSON after all: the reader stays incomplete and says so.
        }
      }
    },
    wrong: () =>
      kind === 'other'
        ? trouble(
            'server',
            `the reply is no model's reply but begins "${head.trim().slice(0, 60)}"; is the base URL right?`,
            false,
          )
        : wrong,
  }
}

function kindOf(head: string): 'unknown' | 'stream' | 'json' | 'other' {
  const start = head.trimStart()
  if (start.startsWith('{')) return 'json'
  const line = /^(data|event|id|retry)?[:\r\n]/.exec(start)
  if (line) return 'stream'
  return ['data', 'event', 'id', 'retry'].some((field) => field.startsWith(start)) ? 'unknown' : 'other'
}

function finished(reader: ReplyReader): Reply {
  const reply = reader.reply()
  // Cut short by its length: a call that is not whole, or whose fellows are missing, is not run.
  return reply.stop === 'max_tokens' ? { ...reply, content: textOnly(reply) } : reply
}

/** Of a reply that did not come to its end, only the words are kept: a call without its end is never run. */
function partOf(reader: ReplyReader | undefined, request: ModelRequest): Omit<Reply, 'stop'> {
  if (!reader) return { content: [], usage: noUsage, model: request.model }
  const reply = reader.reply()
  return { content: textOnly(reply), usage: reply.usage, model: reply.model }
}

const failed = (reader: ReplyReader | undefined, request: ModelRequest, failure: ModelFailure): Reply => ({
  ...partOf(reader, request),
  stop: 'error',
  failure,
})

const textOnly = ({ content }: Reply) => content.filter(({ type }) => type === 'text')

/** A server may quote the key that it refuses. */
function withoutSecret({ failure, again }: Trouble, { key, bearer }: Secret): Trouble {
  let { message } = failure
  for (const secret of [key, bearer]) if (secret && secret.length > 3) message = message.replaceAll(secret, '[secret]')
  return { failure: { ...failure, message: redact(message) }, again }
}

function explained({ credential }: Line, failure: ModelFailure): ModelFailure {
  if (failure.kind !== 'authentication' || failure.status === undefined) return failure
  return { ...failure, message: `${credential.whenRefused} (${failure.message})` }
}
