/** What all commands share: parsing the command line, --help, and rejecting what is unknown. */
import { statOf } from '../files/plain-file.ts'
import { nearest } from '../hooks/text/nearest.ts'
import { type FlagsOf, type Rows, readArgs } from './args.ts'
import { said, wrong } from './print.ts'

/** Takes the words after the command's name; returns the exit code. */
export type Run = (words: string[]) => Promise<number> | number

export interface Shape<R extends Rows> {
  readonly help: string
  readonly flags?: R
  /** The most words it takes; none by default. */
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
    if (extra !== undefined) return wrong(name, `unexpected argument "${extra}"`)
    const { cwd } = read.flags
    if (typeof cwd === 'string' && !statOf(cwd)?.isDirectory()) return wrong(name, `--cwd: ${cwd} is not a folder`)
    return work(read.flags as FlagsOf<R>, read.words)
  }

/** A command with subcommands: the first word names one. */
export const family =
  <V extends string>(name: string, text: string, verbs: Readonly<Record<V, Run>>): Run =>
  ([verb, ...rest]) => {
    if (verb === '--help' || verb === '-h') return said(text)
    if (verb !== undefined && Object.hasOwn(verbs, verb)) return verbs[verb as V](rest)
    const names = Object.keys(verbs)
    if (verb === undefined) return wrong(name, `a subcommand is missing; there are ${names.join(', ')}`)
    const meant = nearest(verb, names)
    return wrong(
      name,
      `unknown subcommand "${verb}"; ${meant ? `did you mean "${meant}"?` : `there are ${names.join(', ')}`}`,
    )
  }

/** A command as the table lists it. */
export interface Entry {
  readonly about: string
  /** What follows the name in the help; by default the subcommands. */
  readonly usage?: string
  readonly verbs?: readonly string[]
  readonly load: () => Promise<{ run: Run }>
}
