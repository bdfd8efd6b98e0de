/** The one reader of command lines: flags by their rows, and the words left over. An unknown flag is an error. */
import { nearest, notKnown } from '../hooks/text/nearest.ts'

/**
 * `flag`: no value. `value`: one. `maybe`: one or none. `each`: one, every time it is given. `list`: every word up to the
 * next flag. `any`: the same, or no word at all.
 */
type Kind = 'flag' | 'value' | 'maybe' | 'each' | 'list' | 'any'

export interface Row {
  readonly kind: Kind
  /** The value's placeholder in the help. */
  readonly value?: string
  readonly about?: string
  readonly short?: string
  readonly also?: readonly string[]
  /** Accepted because other programs pass it; why it changes nothing. */
  readonly noEffect?: string
  readonly oneOf?: readonly string[]
  /** Splits one word into several values. */
  readonly split?: (word: string) => string[]
}

export type Rows = Readonly<Record<string, Row | Kind>>

export type FlagsOf<R extends Rows> = {
  -readonly [N in keyof R]?: ValueOf<
    R[N] extends Row ? R[N]['kind'] : R[N],
    R[N] extends { oneOf: readonly (infer V)[] } ? V : string
  >
}
type ValueOf<K, V> = K extends 'flag' ? true : K extends 'each' | 'list' | 'any' ? V[] : K extends 'maybe' ? V | '' : V

export type Args<R extends Rows> =
  | { readonly ok: true; readonly flags: FlagsOf<R>; readonly words: string[] }
  | { readonly ok: false; readonly why: string }

/**
 * `--flag=value` works for every flag that takes a value; after `--` everything is a word. With `upToWord` the first word
 * ends the flags: the rest belongs to another program.
 */
export function readArgs<const R extends Rows>(
  args: readonly string[],
  rows: R,
  { upToWord = false }: { upToWord?: boolean } = {},
): Args<R> {
  const names = namesOf(rows)
  const found: Record<string, true | string | string[]> = {}
  const words: string[] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!
    if (arg === '--') {
      words.push(...args.slice(index + 1))
      break
    }
    if (!looksLikeFlag(arg)) {
      words.push(...(upToWord ? args.slice(index) : [arg]))
      if (upToWord) break
      continue
    }
    const equals = arg.startsWith('--') ? arg.indexOf('=') : -1
    const spelt = equals > 0 ? arg.slice(0, equals) : arg
    const name = names.get(spelt)
    if (name === undefined) return { ok: false, why: unknownFlag(spelt, [...names.keys()]) }
    const row = rowOf(rows[name]!)
    const values = equals > 0 ? [arg.slice(equals + 1)] : []
    if (row.kind === 'flag' && equals > 0) return { ok: false, why: `--${name} takes no value` }
    const most = equals > 0 ? 0 : { flag: 0, value: 1, maybe: 1, each: 1, list: Infinity, any: Infinity }[row.kind]
    while (values.length < most && index + 1 < args.length && !looksLikeFlag(args[index + 1]!))
      values.push(args[++index]!)
    if (values.length === 0 && !['flag', 'maybe', 'any'].includes(row.kind))
      return { ok: false, why: `--${name} needs a value${row.value ? `: ${row.value}` : ''}` }
    const strange = row.oneOf && values.find((value) => !row.oneOf!.includes(value))
    if (strange !== undefined) return { ok: false, why: `--${name} ${notKnown(strange, row.oneOf!)}` }
    if (row.kind === 'flag') found[name] = true
    else if (row.kind === 'value' || row.kind === 'maybe') found[name] = values[0] ?? ''
    else found[name] = [...((found[name] as string[]) ?? []), ...values.flatMap(row.split ?? ((word) => [word]))]
  }
  return { ok: true, flags: found as FlagsOf<R>, words }
}

const rowOf = (row: Row | Kind): Row => (typeof row === 'string' ? { kind: row } : row)

/** Not a flag: `-` alone (stdin), a negative number, or a text that only begins with a dash. */
const looksLikeFlag = (arg: string) => /^-[^\s]/.test(arg) && !/^-\.?\d/.test(arg) && !/^[^=]*\s/.test(arg)

function namesOf(rows: Rows): Map<string, string> {
  const names = new Map<string, string>()
  for (const [name, given] of Object.entries(rows)) {
    const { short, also = [] } = rowOf(given)
    names.set(`--${name}`, name)
    if (short) names.set(`-${short}`, name)
    for (const other of also) names.set(`--${other}`, name)
  }
  return names
}

function unknownFlag(spelt: string, names: readonly string[]): string {
  const long = names.filter((name) => name.startsWith('--'))
  const begun = spelt.length > 3 ? long.find((name) => name.startsWith(spelt)) : undefined
  const meant = begun ?? (spelt.startsWith('--') ? nearest(spelt, long) : undefined)
  const others = long.length > 12 ? '' : `; known flags: ${long.join(', ')}`
  return `unknown flag ${spelt}${meant ? `; did you mean ${meant}?` : others}`
}
