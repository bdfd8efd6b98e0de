/** Times, amounts, shares and paths as a user reads them. */
import { homedir } from 'node:os'

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)}s`
  const minutes = Math.floor(ms / 60_000)
  const seconds = Math.floor((ms % 60_000) / 1000)
  return minutes < 60 ? `${minutes}m ${seconds}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`
}

/** A time that counts up or down on the screen: whole seconds. */
export const seconds = (ms: number): string => (ms < 60_000 ? `${Math.max(0, Math.floor(ms / 1000))}s` : duration(ms))

export function tokens(count: number): string {
  if (count < 1000) return String(count)
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(2)}M`
}

export const money = (usd: number): string => (usd > 0 && usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`)

export { counted as plural } from '../../hooks/text/counted.ts'

/** `3 min ago`, from SQLite's UTC text or a date. */
export function ago(when: string | number | Date, now = Date.now()): string {
  const at =
    typeof when === 'string' ? Date.parse(/Z|[+-]\d\d:/.test(when) ? when : `${when.replace(' ', 'T')}Z`) : Number(when)
  const seconds = Math.max(0, Math.round((now - at) / 1000))
  if (Number.isNaN(seconds)) return ''
  if (seconds < 60) return 'just now'
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  const days = Math.floor(seconds / 86_400)
  if (days === 1) return 'yesterday'
  return days < 14 ? `${days} days ago` : new Date(at).toISOString().slice(0, 10)
}

/** A path in the home folder begins with `~`. */
export function fromHome(path: string, home = homedir()): string {
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}
