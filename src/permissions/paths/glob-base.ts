/** The folder that a glob pattern can reach into: everything before its first wildcard. */
import { isAbsolute } from 'node:path'

export function globBase(folder: string, pattern: string): string {
  const parts = pattern.split('/')
  const wild = parts.findIndex((part) => /[*?[{!]/.test(part))
  const fixed = parts.slice(0, wild < 0 ? parts.length - 1 : wild)
  // a ".." behind a wildcard can climb out of anything
  const climbs = wild >= 0 ? parts.slice(wild).filter((part) => part.includes('..')).length : 0
  const base = fixed.join('/') || (isAbsolute(pattern) ? '/' : '')
  const inside = isAbsolute(pattern) ? base : base === '' ? folder : `${folder}/${base}`
  return climbs === 0 ? inside : `${inside}${'/..'.repeat(climbs)}`
}
