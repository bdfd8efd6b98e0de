/**
 * One GET on the web, guarded: the address is resolved first, judged, and then connected to as resolved, so that a
 * name cannot mean one thing to the judge and another to the socket. Redirects within the host are followed, each
 * through the same door; redirects to another host are handed back.
 */
import type { LookupAddress } from 'node:dns'
import type { IncomingMessage } from 'node:http'
import type { LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { isPrivate } from '../../permissions/addresses.ts'
import { Bounded } from '../bounded.ts'

export type Got =
  | { readonly kind: 'page'; readonly page: RawPage }
  | { readonly kind: 'redirect'; readonly status: number; readonly to: string }
  /** Why it was not fetched. */
  | { readonly kind: 'refused' | 'failed'; readonly why: string }

export interface RawPage {
  readonly url: string
  readonly status: number
  readonly statusText: string
  /** `text/html; charset=utf-8`; empty when the server says nothing. */
  readonly type: string
  readonly body: Buffer
  readonly cut: boolean
}

export interface GetOptions {
  readonly signal: AbortSignal
  readonly maxBytes: number
  readonly accept: string
  mayReachPrivate(host: string): boolean
}

const redirectLimit = 5
const redirects = [301, 302, 303, 307, 308]

export async function get(from: URL, options: GetOptions): Promise<Got> {
  let url = from
  for (let hop = 0; hop <= redirectLimit; hop++) {
    const got = await once(url, options)
    if (got.kind !== 'redirect') return got
    const to = nextUrl(got.to, url)
    if (!to)
      return { kind: 'failed', why: `${url.href} redirects to ${JSON.stringify(got.to)}, which is no web address` }
    if (to.hostname !== url.hostname || (to.port !== url.port && to.protocol === url.protocol)) {
      return { ...got, to: to.href }
    }
    url = to
  }
  return { kind: 'failed', why: `${from.href} redirects more than ${redirectLimit} times` }
}

function nextUrl(location: string, base: URL): URL | undefined {
  const url = URL.parse(location, base)
  return url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' ? url : undefined
}

async function once(url: URL, options: GetOptions): Promise<Got> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = await resolve(host)
  if (typeof addresses === 'string') return { kind: 'failed', why: `${host} cannot be found: ${addresses}` }
  const inside = addresses.find(({ address }) => isPrivate(address))
  if (inside && !options.mayReachPrivate(host)) {
    const why = `${host} is a private, loopback or special address (${inside.address}), which WebFetch does not reach; a rule such as WebFetch(domain:${host}) would allow it`
    return { kind: 'refused', why }
  }
  try {
    return await read(await request(url, addresses, options), url, options)
  } catch (error) {
    if (options.signal.aborted) throw error
    return {
      kind: 'failed',
      why: `${url.href} could not be fetched: ${error instanceof Error ? error.message : error}`,
    }
  }
}

async function resolve(host: string): Promise<LookupAddress[] | string> {
  try {
    return await process.getBuiltinModule('node:dns').promises.lookup(host, { all: true })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function request(url: URL, addresses: LookupAddress[], { signal, accept }: GetOptions): Promise<IncomingMessage> {
  const { get } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
  // Only what was judged: the name is not resolved a second time.
  const lookup: LookupFunction = (_, { all }, done) =>
    all ? done(null, addresses) : done(null, addresses[0]!.address, addresses[0]!.family)
  const headers = { 'user-agent': 'ona', accept, 'accept-encoding': 'gzip, deflate, br' }
  return new Promise((resolve, reject) => {
    get(url, { lookup, headers, signal, agent: false }, resolve).on('error', reject)
  })
}

async function read(response: IncomingMessage, url: URL, { maxBytes }: GetOptions): Promise<Got> {
  const { statusCode: status = 0, statusMessage = '', headers } = response
  if (redirects.includes(status) && headers.location !== undefined) {
    response.destroy()
    return { kind: 'redirect', status, to: headers.location }
  }
  const body = new Bounded(maxBytes)
  try {
    for await (const chunk of unpacked(response, headers['content-encoding'])) {
      body.add(chunk as Buffer)
      if (body.seen > maxBytes) break
    }
  } finally {
    response.destroy()
  }
  const type = headers['content-type'] ?? ''
  const cut = body.seen > maxBytes
  return { kind: 'page', page: { url: url.href, status, statusText: statusMessage, type, body: body.bytes(), cut } }
}

/** Unpacked as it streams, so that a small packed page cannot become a huge one in memory. */
function unpacked(response: IncomingMessage, packing: string | undefined): Readable {
  const zlib = process.getBuiltinModule('node:zlib')
  const unpackers: Record<
    string,
    () => ReturnType<typeof zlib.createUnzip> | ReturnType<typeof zlib.createBrotliDecompress>
  > = {
    gzip: zlib.createUnzip,
    'x-gzip': zlib.createUnzip,
    deflate: zlib.createUnzip,
    br: zlib.createBrotliDecompress,
  }
  const unpack = unpackers[packing?.trim().toLowerCase() ?? '']
  if (!unpack) return response
  const out = unpack()
  response.on('error', (error) => out.destroy(error))
  return response.pipe(out)
}
