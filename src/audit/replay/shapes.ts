/**
 * Rulings on command lines that differ in numbers alone, made once for all of them: `tail -5 out-17.txt` is ruled on as
 * `tail -5 out-42.txt` is. Which numbers nothing tells apart, permissions/shell/numbers.ts knows. Two lines of a shape are judged, with
 * a record of every file that was looked at; a third is ruled on alike if it finds the same in the files of its own.
 */
import type { FileView } from '../../permissions/paths/view.ts'
import { recent, sights } from '../../permissions/recent.ts'
import { type Numbered, numbered, renumbered, type ToldNumbers, toldNumbers } from '../../permissions/shell/numbers.ts'
import type { Question, Ruled } from './ruled.ts'
import { recordingView, type Seen } from './seen-files.ts'
import { fill, type Template, templateOf } from './templates.ts'

type Rule = (question: Question) => Promise<Ruled> | Ruled

/** What is ruled for all lines of a shape. */
interface Shape {
  readonly ruled: Ruled
  /** The reason, with places for the numbers; undefined: they are not in it. */
  readonly reason: Template | undefined
  /** What has to be found of the files that the numbers name. */
  readonly files: readonly Found[]
}

interface Found {
  readonly path: Template
  readonly leadsTo: Template | undefined
  readonly there: boolean | undefined
}

/** The ruling on a command line by its shape; undefined: it has to be judged as it stands. Bounded in size. */
export function rulingsByShape(rule: Rule): (question: Question, command: string) => Ruled | undefined {
  const shapes = recent<string, Shape | null>(mostShapes)
  const isSeen = sights(8 * mostShapes)
  const told = recent<string, ToldNumbers | null>(mostFolders)
  const toldIn = (question: Question): ToldNumbers | null => {
    const before = told.get(question.cwd)
    if (before !== undefined) return before
    const found = toldNumbers(comparedTexts(question)) ?? null
    told.set(question.cwd, found)
    return found
  }
  return (question, command) => {
    const numbers = isOrdinary(question) ? toldIn(question) : null
    const line = numbers && numbered(command, numbers)
    if (!line) return undefined
    const key = `${question.hook}\n${question.cwd}\n${line.key}`
    let shape = shapes.get(key)
    if (shape === undefined && isSeen(key)) {
      shape = shapeOf(question, line, numbers, rule)
      shapes.set(key, shape)
    }
    return shape && isFound(shape.files, line.numbers, question.files!) ? ruledAs(shape, line.numbers) : undefined
  }
}
const mostShapes = 2000
const mostFolders = 200

/** A question about which nothing else is compared with the line, and whose files stay as they are. */
const isOrdinary = ({ files, origins, protect }: Question): boolean =>
  files?.lasting === true && origins === undefined && protect === undefined

const comparedTexts = ({ settings, cwd, projectDir, home }: Question): readonly string[] => {
  const { allow = [], ask = [], deny = [], additionalDirectories = [] } = settings
  return [...allow, ...ask, ...deny, ...additionalDirectories, cwd, projectDir, home]
}

const ruledAs = ({ ruled, reason }: Shape, numbers: readonly string[]): Ruled =>
  reason === undefined ? ruled : { ...ruled, reason: fill(reason, numbers) }

function isFound(files: readonly Found[], numbers: readonly string[], view: FileView): boolean {
  for (const { path, leadsTo, there } of files) {
    const named = fill(path, numbers)
    if (leadsTo !== undefined && view.real(named) !== fill(leadsTo, numbers)) return false
    if (there !== undefined && view.there(named) !== there) return false
  }
  return true
}

/** Judges the line and one with other numbers. Null: what is found of them differs by more than the numbers. */
function shapeOf(question: Question, line: Numbered, told: ToldNumbers, rule: Rule): Shape | null {
  const others = otherNumbers(line, told)
  if (!others) return null
  const judged = (numbers: readonly string[]) => {
    const files = recordingView(question.files!)
    const input = { ...question.input, command: renumbered(line.key, numbers) }
    return { ruled: rule({ ...question, input, files: files.view }), seen: files.seen() }
  }
  const [one, two] = [judged(line.numbers), judged(others)]
  if (one.ruled instanceof Promise || two.ruled instanceof Promise) return null
  if (one.ruled.decision !== two.ruled.decision || one.ruled.rule !== two.ruled.rule) return null
  const like = (a: string, b: string): Template | undefined => templateOf(a, line.numbers, b, others)
  const reason = like(one.ruled.reason, two.ruled.reason)
  const files = reason && foundAlike(one.seen, two.seen, like, question.files!)
  if (!reason || !files) return null
  return { ruled: one.ruled, reason: reason.length === 1 ? undefined : reason, files }
}

/** Numbers of which each differs in every digit, and of lines that are not cut also in length. */
function otherNumbers({ key, numbers }: Numbered, told: ToldNumbers): readonly string[] | undefined {
  const ends = renumbered(key, numbers).length > 140 ? '' : '6'
  for (const by of [3, 4, 7, 6, 1, 9]) {
    const others = numbers.map((number) => number.replace(/\d/g, (digit) => `${(Number(digit) + by) % 10}`) + ends)
    if (numbered(renumbered(key, others), told)?.key === key) return others
  }
  return undefined
}

/** What both looked at, as places for the numbers; undefined where one looked at something that the other did not. */
function foundAlike(
  one: readonly Seen[],
  two: readonly Seen[],
  like: (a: string, b: string) => Template | undefined,
  view: FileView,
): readonly Found[] | undefined {
  if (one.length !== two.length) return undefined
  const found = new Map<string, Found>()
  for (const [at, a] of one.entries()) {
    const b = two[at]!
    if (a.kind !== b.kind) return undefined
    if (a.path === b.path || a.kind === 'empty') continue // without a number, or told by whether it is there
    const path = like(a.path, b.path)
    if (!path || a.there !== b.there || a.kind === 'other') return undefined
    if (isNowhere(path, a.path, view)) continue
    const leadsTo = a.leadsTo === undefined ? undefined : like(a.leadsTo, b.leadsTo!)
    if (a.leadsTo !== undefined && !leadsTo) return undefined
    found.set(`${a.kind} ${a.path}`, { path, leadsTo, there: a.there })
  }
  return [...found.values()]
}

/** In a folder without a number that is not there, whatever the number is. */
function isNowhere([beginning]: Template, path: string, view: FileView): boolean {
  const folder = typeof beginning === 'string' ? beginning.slice(0, beginning.lastIndexOf('/')) : ''
  return folder !== '' && !/(^|\/)\.{1,2}(\/|$)/.test(path) && !view.there(folder)
}
