/** Node's own modules that cost time to load, fetched when they are needed and not before. */

type Modules = {
  'node:crypto': typeof import('node:crypto')
  'node:fs': typeof import('node:fs')
  'node:child_process': typeof import('node:child_process')
  'node:module': typeof import('node:module')
  'node:os': typeof import('node:os')
  'node:url': typeof import('node:url')
  'node:vm': typeof import('node:vm')
}

/** Before Node 20.16 there is no `process.getBuiltinModule`; dispatch.mjs then puts one in its place. */
export const late = <Id extends keyof Modules>(id: Id): Modules[Id] => process.getBuiltinModule(id)

/** The first `digits` hex digits of the SHA-256. Loads node:crypto (10 ms): never on the hot path's usual way. */
export const sha256 = (content: string | Buffer, digits: number): string =>
  late('node:crypto').createHash('sha256').update(content).digest('hex').slice(0, digits)

/** Milliseconds on a clock that never goes back. (`performance` would do, and take most of a millisecond to load.) */
export function clock(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}
