/** A handler behind a URL: the event is posted to it, its answer is the verdict. https, or http on this machine only. */
import type { IncomingMessage } from 'node:http'
import type { Env, Handler } from '../handler.ts'
import { outputLimit } from './command.ts'
import { urlProblem } from './url.ts'

export type HttpReply =
  | { readonly ok: true; readonly body: string }
  | { readonly ok: false; readonly why: string; readonly body: string }

/** Must not reject: every failure is a reply. Redirects are not followed. */
export function post(
  { url, headers, allowedEnvVars }: Handler & { kind: 'http' },
  { input, env, signal }: { input: string; env: Env; signal: AbortSignal },
): Promise<HttpReply> {
  const problem = urlProblem(url)
  if (problem) return Promise.resolve({ ok: false, why: `its url ${problem}`, body: '' })
  const { request } =
    new URL(url).protocol === 'https:' ? process.getBuiltinModule('node:https') : process.getBuiltinModule('node:http')
  const body = Buffer.from(`${input}\n`)
  const fill = (text: string) =>
    text.replaceAll(/\$\{?(\w+)\}?/g, (_, name: string) => (allowedEnvVars.includes(name) ? (env[name] ?? '') : ''))
  return new Promise((resolve) => {
    const fail = (why: string, said = '') => resolve({ ok: false, why, body: said })
    const send = (agent?: false) => {
      const sent = request(url, {
        method: 'POST',
        agent,
        signal,
        headers: {
          ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)])),
          'content-type': 'application/json',
          'content-length': body.length,
        },
      })
      let isKnown = false
      sent.on('error', (cause: NodeJS.ErrnoException) => {
        if (!isKnown && sent.reusedSocket && hasClosed.has(cause.code) && !signal.aborted) {
          isKnown = true
          send(false)
        } else fail(signal.aborted ? 'gave no answer in time' : cause.message)
      })
      sent.on('close', () => isKnown || fail('closed the connection without an answer')) // what came first stands
      sent.on('response', (response) => {
        isKnown = true
        readBody(response).then(
          (text) => {
            const status = response.statusCode ?? 0
            if (status < 200 || status > 299) return fail(`answered ${status}`, text)
            resolve({ ok: true, body: text })
          },
          (cause: Error) => fail(cause.message),
        )
      })
      sent.end(body)
    }
    try {
      send()
    } catch (cause) {
      fail((cause as Error).message) // a header that HTTP does not allow
    }
  })
}

/** On a connection of an earlier call, these mean that the server closed it while it was idle: a new one is tried. */
const hasClosed = new Set<string | undefined>(['ECONNRESET', 'EPIPE'])

async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > outputLimit) throw new Error(`answered with more than ${outputLimit} bytes`) // leaving the loop closes it
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
