/** Who may read the pages: whoever comes first with the token of the printed address, and from then on its cookie. */
import type { IncomingMessage } from 'node:http'

export interface Door {
  readonly token: string
  readonly key: string
  used: boolean
}

export function openDoor(): Door {
  const { randomBytes } = process.getBuiltinModule('node:crypto')
  const secret = () => randomBytes(24).toString('base64url')
  return { token: secret(), key: secret(), used: false }
}

export type Entry =
  | { readonly may: 'enter'; readonly asked: URL }
  | { readonly may: 'take the key'; readonly to: string; readonly cookie: string }
  | { readonly may: 'not'; readonly status: number; readonly why: string }

export function enter(door: Door, { method, url = '/', headers }: IncomingMessage, port: number): Entry {
  // a page of somebody else's can make its own name lead here: only the address itself is answered
  const host = `127.0.0.1:${port}`
  if (headers.host !== host) return { may: 'not', status: 421, why: `this is ${host} and nothing else` }
  const asked = URL.parse(url, `http://${host}`)
  if (!asked) return { may: 'not', status: 400, why: 'that is no address' }
  if (asked.host !== host || asked.pathname.startsWith('//'))
    return { may: 'not', status: 421, why: `this is ${host} and nothing else` }
  const cookie = `ona_inspect_${port}` // cookies know hosts and no ports
  if ((headers.cookie ?? '').split(/; */).some((each) => same(each, `${cookie}=${door.key}`)))
    return { may: 'enter', asked }
  if (door.used || !same(asked.searchParams.get('token') ?? '', door.token))
    return { may: 'not', status: 403, why: 'this address opens once, and has been opened; run ona inspect again' }
  if (method !== 'GET') return { may: 'not', status: 405, why: 'open the address in a browser' }
  door.used = true
  return {
    may: 'take the key',
    to: asked.pathname,
    cookie: `${cookie}=${door.key}; HttpOnly; SameSite=Strict; Path=/`,
  }
}

/** Whether a page of ours sent it. A browser sets these headers itself; a script of another site cannot. */
export const isOwnPage = ({ headers }: IncomingMessage, port: number): boolean =>
  headers.origin === `http://127.0.0.1:${port}` && (headers['sec-fetch-site'] ?? 'same-origin') === 'same-origin'

/** Takes as long whatever differs. */
function same(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && process.getBuiltinModule('node:crypto').timingSafeEqual(a, b)
}
