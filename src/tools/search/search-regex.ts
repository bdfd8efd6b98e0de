/**
 * ripgrep's regular expressions as JavaScript's, so that both searches take the same patterns and find the same.
 * What JavaScript cannot say, and what ripgrep does not take, is an error with a message.
 */

export type Translated = { ok: true; regex: RegExp } | { ok: false; why: string }

export function toRegExp(pattern: string, options: { insensitive: boolean; multiline: boolean }): Translated {
  const flags = `v${options.insensitive ? 'i' : ''}${options.multiline ? 'ms' : ''}`
  try {
    const source = new Translation(pattern, options.multiline).source()
    return { ok: true, regex: new RegExp(source, flags) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { ok: false, why: `the pattern ${JSON.stringify(pattern)} cannot be searched: ${error.message}` }
  }
}

const word = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}'
const boundary = `(?:(?<=[${word}])(?![${word}])|(?<![${word}])(?=[${word}]))`

/** Escapes with a meaning of their own: inside a class, and outside. */
const classes: Record<string, string> = {
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  w: `[${word}]`,
  W: `[^${word}]`,
  s: '\\p{White_Space}',
  S: '\\P{White_Space}',
}
const places: Record<string, string> = {
  b: boundary,
  B: `(?:(?<=[${word}])(?=[${word}])|(?<![${word}])(?![${word}]))`,
  A: '(?<![\\s\\S])',
  z: '(?![\\s\\S])',
  '<': `(?<![${word}])(?=[${word}])`,
  '>': `(?<=[${word}])(?![${word}])`,
}
/** Searching line by line, a line is all the text there is. */
const lineEdges: Record<string, string> = { A: '^', z: '$' }
const characters: Record<string, string> = { n: '\\n', t: '\\t', r: '\\r', f: '\\f', v: '\\v', a: '\\x07', 0: '\\0' }
const posix: Record<string, string> = {
  alnum: '[0-9A-Za-z]',
  alpha: '[A-Za-z]',
  ascii: '[\\x00-\\x7F]',
  blank: '[\\t ]',
  cntrl: '[\\x00-\\x1F\\x7F]',
  digit: '[0-9]',
  graph: '[!-~]',
  lower: '[a-z]',
  print: '[ -~]',
  punct: '[!-\\/:-@\\[-`\\{-~]',
  space: '[\\t\\n\\v\\f\\r ]',
  upper: '[A-Z]',
  word: '[0-9A-Za-z_]',
  xdigit: '[0-9A-Fa-f]',
}

class Translation {
  readonly #pattern: string[]
  readonly #multiline: boolean
  #at = 0

  constructor(pattern: string, multiline: boolean) {
    this.#pattern = [...pattern]
    this.#multiline = multiline
  }

  source(): string {
    const text = this.#alternation()
    if (this.#at < this.#pattern.length) throw new SyntaxError('unopened group: write \\) for the character')
    return text
  }

  #rest(): string {
    return this.#pattern.slice(this.#at, this.#at + 64).join('')
  }

  /** Up to the end or the group's closing parenthesis, which stays. */
  #alternation(): string {
    let out = ''
    let closers = ''
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== ')') {
      const character = this.#pattern[this.#at++]!
      if (character === '\\') out += this.#escape(false)
      else if (character === '[') out += this.#class()
      else if (character === '(') {
        const inline = /^\?([a-zA-Z-]+)\)/.exec(this.#rest())
        if (inline) {
          // (?i) holds to the end of the group that it stands in.
          this.#at += [...inline[0]].length
          out += `(?${flagsOf(inline[1]!)}:`
          closers += ')'
        } else out += this.#group()
      } else if (character === '{') {
        const count = /^(\d+(?:,\d*)?)\}/.exec(this.#rest())
        if (!count) throw new SyntaxError('"{" is no repetition here: write \\{ for the character')
        this.#at += count[0].length
        out += `{${count[1]}}`
      } else if (character === '}' || character === ']') out += `\\${character}`
      else if (character === '.' && !this.#multiline) out += '[^\\n]'
      else if (character === '|' && closers !== '') {
        throw new SyntaxError('flags before "|" are not supported here: put the alternatives in a group')
      } else out += character
    }
    return out + closers
  }

  #group(): string {
    const rest = this.#rest()
    if (/^\?<?[=!]/.test(rest)) throw new SyntaxError('look-around is not supported')
    const named = /^\?P?<([A-Za-z_][A-Za-z0-9_]*)>/.exec(rest)
    const flagged = /^\?([a-zA-Z-]*):/.exec(rest)
    const opening = named ?? flagged
    if (!opening && rest.startsWith('?')) throw new SyntaxError(`unknown group "(${rest.slice(0, 3)}"`)
    this.#at += opening ? [...opening[0]].length : 0
    const start = named ? `(?<${named[1]}>` : flagged ? `(?${flagsOf(flagged[1]!)}:` : '('
    const body = this.#alternation()
    if (this.#pattern[this.#at++] !== ')') throw new SyntaxError('unclosed group: write \\( for the character')
    return `${start}${body})`
  }

  #escape(inClass: boolean): string {
    const character = this.#pattern[this.#at++]
    if (character === undefined) throw new SyntaxError('the pattern ends in a backslash')
    if (classes[character]) return classes[character]
    if (!inClass && !this.#multiline && lineEdges[character]) return lineEdges[character]
    if (!inClass && places[character]) return places[character]
    if (characters[character] && character !== '0') return characters[character]
    if (/[0-9]/.test(character)) throw new SyntaxError('backreferences are not supported')
    if (character === 'p' || character === 'P') return this.#property(character)
    if ('xuU'.includes(character)) return this.#codePoint(character)
    if (/[A-Za-z<>]/.test(character)) throw new SyntaxError(`unknown escape "\\${character}"`)
    return literal(character)
  }

  #property(kind: string): string {
    const name = /^(?:\{(\^?)([^}]+)\}|([A-Z]))/.exec(this.#rest())
    if (!name) throw new SyntaxError(`"\\${kind}" needs a name, such as \\${kind}{L}`)
    this.#at += name[0].length
    const what = name[2] ?? name[3]!
    const letter = name[1] === '^' ? (kind === 'p' ? 'P' : 'p') : kind
    for (const spelling of [what, `Script=${what}`]) {
      try {
        new RegExp(`\\p{${spelling}}`, 'v')
        return `\\${letter}{${spelling}}`
      } catch {
        // not under this spelling
      }
    }
    throw new SyntaxError(`unknown Unicode property "${what}"`)
  }

  #codePoint(kind: string): string {
    const length = kind === 'x' ? 2 : kind === 'u' ? 4 : 8
    const match = new RegExp(`^(?:\\{([0-9A-Fa-f]+)\\}|([0-9A-Fa-f]{${length}}))`).exec(this.#rest())
    if (!match) throw new SyntaxError(`"\\${kind}" needs hexadecimal digits`)
    this.#at += match[0].length
    return `\\u{${match[1] ?? match[2]}}`
  }

  /** A class, its opening bracket behind us. In JavaScript both sides of && and -- must be classes themselves. */
  #class(): string {
    let start = '['
    if (this.#pattern[this.#at] === '^') {
      start = '[^'
      this.#at++
    }
    let left = ''
    let out = ''
    for (let first = true; ; first = false) {
      const character = this.#pattern[this.#at++]
      if (character === undefined) throw new SyntaxError('unclosed class: write \\[ for the character')
      const next = this.#pattern[this.#at]
      if (character === ']' && !first) return left === '' ? `${start}${out}]` : `${start}${left}[${out}]]`
      if (character === '[') out += this.#innerClass()
      else if (character === '\\') out += this.#escape(true)
      else if ('&-~'.includes(character) && next === character && !first) {
        if (character === '~') throw new SyntaxError('"~~" in a class is not supported')
        this.#at++
        left = `${left === '' ? `[${out}]` : `[${left}[${out}]]`}${character}${character}`
        out = ''
      } else if (character === '-' && !first && next !== ']' && next !== undefined) out += '-'
      else out += literal(character)
    }
  }

  #innerClass(): string {
    const named = /^:(\^?)([a-z]+):\]/.exec(this.#rest())
    if (!named) return this.#class()
    const set = posix[named[2]!]
    if (!set) throw new SyntaxError(`unknown class "[:${named[2]}:]"`)
    this.#at += named[0].length
    return named[1] === '^' ? `[^${set}]` : set
  }
}

function flagsOf(flags: string): string {
  const kept = flags.replaceAll('u', '')
  if (!/^[ims]*(?:-[ims]*)?$/.test(kept)) throw new SyntaxError(`the flags "${flags}" are not supported: use i, m, s`)
  return kept === '-' ? '' : kept
}

/** The character itself, wherever it stands. */
const literal = (character: string): string =>
  /[\^$\\.*+?()[\]{}|/]/.test(character)
    ? `\\${character}`
    : /[&\-!#%,:;<=>@`~]/.test(character)
      ? `\\x${character.codePointAt(0)!.toString(16).padStart(2, '0')}`
      : character
