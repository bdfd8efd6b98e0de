/**
 * The one pattern dialect of every list in our configuration: `**`, `*`, `?`, `[…]`, `{a,b}`; anchored at the
 * repository's root; dotfiles match; a pattern that ends in `/` means everything below.
 */

const cache = new Map<string, RegExp>()
const foldCase = process.platform === 'win32' || process.platform === 'darwin' ? 'i' : ''

export function globMatches(pattern: string, path: string): boolean {
  let regex = cache.get(pattern)
  if (!regex) {
    regex = globToRegExp(pattern)
    cache.set(pattern, regex)
  }
  return regex.test(path)
}

export const matchesAny = (patterns: readonly string[], path: string): boolean =>
  patterns.some((pattern) => globMatches(pattern, path))

/** A pattern that cannot be read matches its own letters only. */
export function globToRegExp(pattern: string): RegExp {
  let glob = pattern.replaceAll('\\', '/')
  while (glob.startsWith('./')) glob = glob.slice(2)
  if (glob.endsWith('/')) glob += '**'
  try {
    return new RegExp(`^${translate(glob)}$`, foldCase)
  } catch {
    return new RegExp(`^${glob.replace(special, '\\$&')}$`, foldCase)
  }
}

const special = /[.+^$()|[\]{}\\*?]/g

function translate(glob: string): string {
  let out = ''
  let braces = 0
  for (let i = 0; i < glob.length; i++) {
    const char = glob[i]!
    if (char === '*') {
      if (glob[i + 1] !== '*') {
        out += '[^/]*'
        continue
      }
      while (glob[i + 1] === '*') i++
      if (glob[i + 1] === '/') {
        out += '(?:.*/)?'
        i++
      } else out += '.*'
    } else if (char === '?') out += '[^/]'
    else if (char === '[') {
      const end = glob.indexOf(']', i + 2)
      if (end < 0) out += '\\['
      else {
        const body = glob
          .slice(i + 1, end)
          .replace(/^!/, '^')
          .replaceAll('\\', '\\\\')
          .replaceAll('[', '\\[')
        out += `[${body}]`
        i = end
      }
    } else if (char === '{' && glob.includes('}', i)) {
      out += '(?:'
      braces++
    } else if (char === '}' && braces > 0) {
      out += ')'
      braces--
    } else if (char === ',' && braces > 0) out += '|'
    else out += char.replace(special, '\\$&')
  }
  return out
}

/** True for patterns made of nothing but stars, dots and slashes: they reach the whole repository. */
export const isRepoWide = (pattern: string): boolean => /^[*./\s\\]*$/.test(pattern)

/** Whether what `inner` can match lies inside what `outer` matches. When in doubt, no. */
export function globInside(inner: string, outer: string): boolean {
  if (inner === outer) return true
  if (!/[*?[{]/.test(inner)) return globMatches(outer, inner)
  const open = /^([^*?[{]+)\/\*\*(?:\/\*)?$/.exec(outer)
  return open !== null && literalBase(inner).startsWith(`${open[1]}/`) && !inner.includes('..')
}

/** The part of a pattern before its first wildcard, up to a slash. */
function literalBase(glob: string): string {
  const literal = glob.slice(0, Math.max(0, glob.search(/[*?[{]/)))
  return literal.slice(0, literal.lastIndexOf('/') + 1)
}
