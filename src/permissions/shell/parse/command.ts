/** A command line as read: words, simple commands, and what was worked out about each. */

import type { Finding } from '../../question.ts'
import type { Rule } from '../../rules/rule.ts'

/** A word of a command. */
export interface ShellWord {
  /** After quotes are taken off; HOLE for what is only known at run time. */
  readonly value: string
  /** As written where quotes matter, else the value. */
  readonly text: string
  /** Nothing in it depends on the run. */
  readonly literal: boolean
  /** Has wildcards for the shell to expand. */
  readonly glob: boolean
  /** The value with wildcards and the known variables HOME and PWD left in, as a path. */
  readonly path: string
}

/** A word that means what it says. All words have one shape, by which they are read faster. */
export const plainWord = (value: string): ShellWord => shellWordOf(value, value, value, true, false)

/** The folder that a command runs in. */
export const here: ShellWord = { value: '.', text: '.', literal: true, glob: false, path: '.' }

export const shellWordOf = (value: string, text: string, path: string, literal: boolean, glob: boolean): ShellWord => ({
  value,
  text,
  literal,
  glob,
  path,
})

/** Words as one text. */
export function asWritten(words: readonly ShellWord[]): string {
  let line = ''
  for (let at = 0; at < words.length; at++) line += at === 0 ? words[at]!.text : ` ${words[at]!.text}`
  return line
}

/** One simple command: what runs, what is set for it and which files the shell opens for it. */
export interface ShellCommand {
  /** Empty for a line that only sets variables or opens files. */
  readonly words: readonly ShellWord[]
  readonly variables: readonly string[]
  /** `A=1 B=2` as written, where nothing in them depends on the run. */
  readonly assignments?: string | undefined
  readonly reads: readonly ShellWord[]
  readonly writes: readonly ShellWord[]
  /** Its here-documents and here-strings. */
  readonly input: readonly string[]
  /** It is given input: by a pipe, a redirection, or that of what it stands in. */
  readonly fed: boolean
  /** What was worked out about it, once and when it was needed. */
  readonly known: Known
}

interface Known {
  /** The command as written and every command it wraps. */
  forms: readonly (readonly ShellWord[])[] | undefined
  /** Null: it does not only read. */
  readOnly: ReadOnlyUse | null | undefined
  /** The code that each form is given; undefined for a form that takes none. */
  codes: readonly (Code | undefined)[] | undefined
  files: readonly FileUse[] | undefined
  allowable: readonly Allowable[] | undefined
  /** Under the places asked about last. */
  verdicts: Verdict[]
}

/** A command about which nothing was worked out yet. */
export const shellCommand = ({
  words = none,
  variables = none,
  assignments,
  reads = none,
  writes = none,
  input = none,
  fed = false,
}: Partial<Omit<ShellCommand, 'known'>>): ShellCommand => ({
  words,
  variables,
  assignments,
  reads,
  writes,
  input,
  fed,
  known: {
    forms: undefined,
    readOnly: undefined,
    codes: undefined,
    files: undefined,
    allowable: undefined,
    verdicts: [],
  },
})

const none: readonly never[] = []

/** What a read-only command reads. Every path has to be readable under the same limits as the Read tool. */
export interface ReadOnlyUse {
  readonly paths: readonly ShellWord[]
  /** It prints names, sizes and dates, not contents: files that hold secrets may be listed. */
  readonly metadata: boolean
  /** It reads everything below its paths; `hidden`: also names that begin with a dot. */
  readonly tree?: 'visible' | 'hidden' | undefined
  /** It runs git in the repository of the working directory. */
  readonly git?: true
}

export interface Reading {
  readonly commands: readonly ShellCommand[]
  /** Why some of it cannot be known, where that is so. */
  readonly unknown: string | undefined
}

/** The marks for variables whose value we know, in `ShellWord.path`. */
export const HOME = '\u0001'
export const PWD = '\u0002'

/** The code that one form of a command is given. */
export interface Code {
  /** As given and with its strings put together. */
  readonly texts: readonly string[]
  /** Those that are more than a word which may be a file as it stands. */
  readonly parts: readonly string[]
  readonly computed: Computed
}

/** Whether code runs commands or opens files by names that it puts together. */
export interface Computed {
  readonly commands: boolean
  readonly files: boolean
}

/**
 * `mayRead`, `mayEdit`: in the words of a command of which we do not know what it does with them. `treeRead`, `treeEdit`:
 * with all that lies below. `creates`: files that it does not name, below this folder.
 */
export type UseKind = 'read' | 'edit' | 'mayRead' | 'mayEdit' | 'treeRead' | 'treeEdit' | 'creates'

export interface FileUse {
  readonly kind: UseKind
  readonly word: ShellWord
  /** A tree that is copied or moved: where to. */
  readonly to: ShellWord | undefined
  /** It depends on more than we look at whether this file is the one that is written. */
  readonly unsure: boolean
  /** A tree of which files with a dot in front are left out. */
  readonly visible: boolean
}

/** What of a command an allow rule may be held against, and under which limits. */
export interface Allowable {
  readonly texts: readonly string[]
  limits(): Limits
}

export interface Limits {
  /** Only a rule without wildcards covers it. */
  readonly exactly: boolean
  /** Options that the rule has to name. */
  readonly risky: readonly string[]
}

/** What the rules of one place say of a command, each part worked out when it is needed; null: nothing. */
export interface Verdict {
  /** The place, by identity. */
  readonly place: object
  /** The files that a rule or a protection may be about. */
  concerned: readonly FileUse[] | undefined
  deny: Match | null | undefined
  ask: Match | null | undefined
  guard: Guard | null | undefined
  doubt: Match | null | undefined
  permission: Permission | undefined
}

/** A rule that applies or may apply, with its place among the rules. */
export interface Match {
  readonly at: number
  readonly rule: Rule
  readonly why: string
}

/** What protected paths mean for it. */
export type Guard = Finding & { readonly word: 'deny' | 'ask' }

/** What allow rules say of it: the rule, what none covers, and what ends the matter whatever the other commands are. */
export interface Permission {
  readonly rule: Rule | undefined
  readonly uncovered: string | undefined
  readonly ends: Finding | undefined
}
