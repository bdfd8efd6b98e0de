/**
 * A regular expression as an automaton (Glushkov's): its letters are the states, and an edge leads to each letter that may
 * follow. An edge that the expression gives twice, as `(a+)+` does, counts twice. Look-around is zero-width here and comes
 * back as automata of its own.
 */

export interface Automaton {
  /** What each position reads: a bit for every ASCII character, and one for all others. */
  readonly reads: readonly bigint[]
  /** How many ways lead from a position to the next. */
  readonly next: readonly ReadonlyMap<number, number>[]
}

interface Part {
  readonly first: readonly number[]
  readonly last: readonly number[]
  readonly empty: boolean
}

const nothing: Part = { first: [], last: [], empty: true }
const others = 1n << 128n
const every = (1n << 129n) - 1n

const bitOf = (code: number): bigint => (code < 128 ? 1n << BigInt(code) : others)
/** A bit a character, the lowest for NUL. */
const classes: Readonly<Record<string, bigint>> = {
  w: 0x7fffffe87fffffe03ff000000000000n,
  d: 0x3ff000000000000n,
  s: 0x100003e00n | others,
}
const controls: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, v: 11, f: 12, 0: 0 }

const upper = 0x7fffffe0000000000000000n

/** More positions than this are not looked at. */
const mostPositions = 4000
/** `{n,m}` from this many times on counts as without end: nested, such counts multiply. */
const endless = 4

/** The expression and each look-around in it; undefined for what cannot be judged: a back-reference, or too many letters. */
export function automataOf(source: string, foldCase: boolean): Automaton[] | undefined {
  const found: Automaton[] = []
  return new Reader(source, found, foldCase).read() ? found : undefined
}

class Reader {
  readonly #source: string
  readonly #found: Automaton[]
  readonly #foldCase: boolean
  #at = 0
  #reads: bigint[] = []
  #next: Map<number, number>[] = []
  #known = true

  constructor(source: string, found: Automaton[], foldCase: boolean) {
    this.#source = source
    this.#found = found
    this.#foldCase = foldCase
  }

  /** The source must be one that RegExp accepts. */
  read(): boolean {
    this.#alternatives()
    this.#found.push({ reads: this.#reads, next: this.#next })
    return this.#known
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #alternatives(): Part {
    let whole = this.#sequence()
    while (this.#take('|')) {
      const other = this.#sequence()
      whole = {
        first: [...whole.first, ...other.first],
        last: [...whole.last, ...other.last],
        empty: whole.empty || other.empty,
      }
    }
    return whole
  }

  #sequence(): Part {
    let whole = nothing
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at]!) && this.#known)
      whole = this.#joined(whole, this.#repeated())
    return whole
  }

  #joined(a: Part, b: Part): Part {
    this.#link(a.last, b.first)
    return {
      first: a.empty ? [...a.first, ...b.first] : a.first,
      last: b.empty ? [...a.last, ...b.last] : b.last,
      empty: a.empty && b.empty,
    }
  }

  #link(from: readonly number[], to: readonly number[]): void {
    for (const one of from) for (const other of to) this.#next[one]!.set(other, (this.#next[one]!.get(other) ?? 0) + 1)
  }

  #repeated(): Part {
    const start = this.#at
    const once = this.#atom()
    const [whole, sign, least, comma, most] =
      /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/.exec(this.#source.slice(this.#at)) ?? []
    if (whole === undefined) return once
    const atom = this.#source.slice(start, this.#at)
    this.#at += whole.length
    const min = sign === '+' ? 1 : sign ? 0 : Number(least)
    const max = sign === '?' ? 1 : sign || (comma && most === '') ? Infinity : Number(comma ? most : least)
    if (max >= endless) {
      this.#link(once.last, once.first)
      return { ...once, empty: once.empty || min === 0 }
    }
    let part: Part = max === 0 ? nothing : { ...once, empty: once.empty || min === 0 }
    for (let copy = 1; copy < max; copy++) {
      const again = this.#copy(atom)
      part = this.#joined(part, { ...again, empty: again.empty || copy >= min })
    }
    return part
  }

  /** The same atom once more, at positions of its own. */
  #copy(atom: string): Part {
    const reader = new Reader(atom, this.#found, this.#foldCase)
    reader.#reads = this.#reads
    reader.#next = this.#next
    const part = reader.#atom()
    this.#known &&= reader.#known
    return part
  }

  #atom(): Part {
    if (this.#take('(')) return this.#group()
    if (this.#take('[')) return this.#position(this.#set())
    if (this.#take('\\')) return this.#escaped()
    if (this.#take('^') || this.#take('$')) return nothing
    if (this.#take('.')) return this.#position(every)
    return this.#position(bitOf(this.#character()))
  }

  #character(): number {
    const code = this.#source.codePointAt(this.#at)!
    this.#at += String.fromCodePoint(code).length
    return code
  }

  #position(set: bigint): Part {
    if (this.#reads.length >= mostPositions) this.#known = false
    const here = this.#reads.push(this.#foldCase ? folded(set) : set) - 1
    this.#next.push(new Map())
    return { first: [here], last: [here], empty: false }
  }

  #group(): Part {
    const [head, around] = /^\?(?:(<?[=!])|<[^>]*>|[-ims]*:)/.exec(this.#source.slice(this.#at)) ?? []
    this.#at += head?.length ?? 0
    if (!around) {
      const part = this.#alternatives()
      this.#take(')')
      return part
    }
    const inside = new Reader(this.#source, this.#found, this.#foldCase)
    inside.#at = this.#at
    this.#known &&= inside.read()
    this.#at = inside.#at
    this.#take(')')
    return nothing
  }

  #escaped(): Part {
    const char = this.#source[this.#at]!
    if (/[1-9k]/.test(char)) this.#known = false // a back-reference
    if (/[bB]/.test(char)) {
      this.#at++
      return nothing
    }
    return this.#position(this.#escape())
  }

  /** The set that an escape means; the backslash has been read. */
  #escape(): bigint {
    const [whole, hex, letter] =
      /^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{[^}]*\}|c[A-Za-z]|[pP]\{[^}]*\})/.exec(
        this.#source.slice(this.#at),
      ) ?? []
    if (whole !== undefined) {
      this.#at += whole.length
      return hex || letter ? bitOf(Number.parseInt((hex ?? letter)!, 16)) : every
    }
    const code = this.#character()
    const char = String.fromCodePoint(code)
    const set = classes[char.toLowerCase()]
    if (set !== undefined) return char === char.toLowerCase() ? set : every & ~(set & ~others)
    return bitOf(controls[char] ?? code)
  }

  /** A class in brackets; the opening one has been read. */
  #set(): bigint {
    const negated = this.#take('^')
    let set = 0n
    while (this.#at < this.#source.length && !this.#take(']')) {
      const from = this.#member()
      const range = this.#source[this.#at] === '-' && this.#source[this.#at + 1] !== ']'
      if (!range) {
        set |= from
        continue
      }
      this.#at++
      set |= between(from, this.#member())
    }
    return negated ? every & ~(set & ~others) : set
  }

  #member(): bigint {
    if (this.#take('\\')) return this.#source[this.#at] === 'b' ? this.#backspace() : this.#escape()
    return bitOf(this.#character())
  }

  #backspace(): bigint {
    this.#at++
    return bitOf(8)
  }
}

/** The set with its letters in both cases. */
const folded = (set: bigint): bigint => set | ((set & upper) << 32n) | ((set & (upper << 32n)) >> 32n)

/** From the lowest character of one set to the highest of the other. */
function between(from: bigint, to: bigint): bigint {
  const low = (from & -from) - 1n
  const high = (1n << BigInt(to.toString(2).length)) - 1n
  return (high & ~low) | from | to
}
