/** What every command does alike: reads its words, gives its help, and refuses what it does not know. */
import { nearest } from '../hooks/text/nearest.ts'
import { type FlagsOf, type Rows, readArgs } from './args.ts'
import { said, wrong } from './print.ts'

/** Gets the words after the command's name and gives the exit code. */
export type Run = (words: string[]) => Promise<number> | number

interface Shape<R extends Rows> {
  readonly help: string
  readonly flags?: R
  /** The most words it takes; none unless said. */
  readonly words?: number
  /** Its first word ends the flags. */
  readonly upToWord?: boolean
}

const help = { kind: 'flag', short: 'h' } as const

/** `name` as it is typed: `ona verify`. */
export const command =
  <const R extends Rows = Record<never, never>>(
    name: string,
    { help: text, flags, words: most = 0, upToWord = false }: Shape<R>,
    work: (flags: FlagsOf<R>, words: string[]) => Promise<number> | number,
  ): Run =>
  (words) => {
    const read = readArgs<Rows>(words, { ...flags, help }, { upToWord })
    if (!read.ok) return wrong(name, read.why)
    if (read.flags['help']) return said(text)
    const extra = read.words[most]
    if (extra !== undefined) return wrong(name, `"${extra}" is one word too many`)
    return work(read.flags as FlagsOf<R>, read.words)
  }

/** A command that is a family: its first word says which. */
export const family =
  <V extends string>(name: string, text: string, verbs: Readonly<Record<V, Run>>): Run =>
  ([verb, ...rest]) => {
    if (verb === '--help' || verb === '-h') return said(text)
    if (verb !== undefined && Object.hasOwn(verbs, verb)) return verbs[verb as V](rest)
    const names = Object.keys(verbs)
    if (verb === undefined) return wrong(name, `say what to do: ${names.join(', ')}`)
    const meant = nearest(verb, names)
    return wrong(name, `there is no "${verb}"; ${meant ? `did you mean "${meant}"?` : `there are ${names.join(', ')}`}`)
  }
