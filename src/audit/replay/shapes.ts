/**
 * Rulings on command lines that differ in numbers alone, made once for all of them: `tail -5 out-17.txt` is ruled on as
 * `tail -5 out-42.txt` is. Which numbers nothing tells apart, permissions/shell/numbers.ts knows. Two lines of a shape are judged, with
 * a record of every file that was looked at; a third is ruled on alike if it finds the same in the files of its own.
 */
import { resolve } from 'node:path'
import type { FileView } from '../../permissions/paths/view.ts'
import { recent, sights } from '../../permissions/recent.ts'
import { rulesOf } from '../../permissions/rules/rules.ts'
import {
  type Numbered,
  numbered,
  renumbered,
  type ToldNumbers,
  tellsAll,
  toldNumbers,
} from '../../permissions/shell/numbers.ts'
import { recentTexts } from './recent-texts.ts'
import type { Question, Ruled } from './ruled.ts'
import { recordingView, type Seen } from './seen-files.ts'
import { fill, type Template, templateOf } from './templates.ts'

type Rule = (question: Question) => Promise<Ruled> | Ruled

/** What is ruled for all lines of a shape. */
interface Shape {
  readonly ruled: Ruled
  /** The reason, with places for the numbers; undefined: they are not in it. */
  readonly reason: Template | undefined
  /** The paths with numbers that were looked at: nothing may be there. */
  readonly absent: readonly Absent[]
}

/** A path that nothing is at, and where it leads. */
interface Absent {
  readonly path: Template
  readonly leadsTo: Template | undefined
}

/** The ruling on a command line by its shape; undefined: it has to be judged as it stands. Bounded in size. */
export function rulingsByShape(rule: Rule): (question: Question, command: string, place: number) => Ruled | undefined {
  const shapes = recentTexts<Shape | null>(mostShapes)
  const isSeen = sights(8 * mostShapes)
  const told = recent<string, ToldNumbers | null>(mostFolders)
  const toldIn = (question: Question): ToldNumbers | null => {
    const before = told.get(question.cwd)
    if (before !== undefined) return before
    const found = toldNumbers(comparedTexts(question)) ?? null
    told.set(question.cwd, found)
    return found
  }
  return (question, command, place) => {
    const numbers = question.files?.lasting ? toldIn(question) : null
    const line = numbers && numbered(command, numbers)
    if (!line) return undefined
    let shape = shapes.get(place, line.key)
    if (shape === undefined && isSeen(`${place} ${line.key}`)) {
      shape = shapeOf(question, line, numbers, rule)
      shapes.set(place, line.key, shape)
    }
    return shape && areAbsent(shape.absent, line.numbers, question.files!) ? ruledAs(shape, line.numbers) : undefined
  }
}
const mostShapes = 2000
const mostFolders = 200

/** What command lines are compared with, as it is written and where links lead. */
function comparedTexts(question: Question): readonly string[] {
  const { settings, cwd, projectDir, home, files, origins = [], protect = [] } = question
  const { allow, ask, deny } = rulesOf(settings)
  const rules = [...allow, ...ask, ...deny].map(({ text }) => text)
  const paths = protect.flatMap(({ path, except = [] }) => [path, ...except])
  const folders = [cwd, projectDir, home, ...origins, ...(settings.additionalDirectories ?? [])]
  return [...rules, ...paths, ...folders, ...folders.map((folder) => files!.real(resolve(cwd, folder)))]
}

const ruledAs = ({ ruled, reason }: Shape, numbers: readonly string[]): Ruled =>
  reason === undefined ? ruled : { ...ruled, reason: fill(reason, numbers) }

function areAbsent(absent: readonly Absent[], numbers: readonly string[], view: FileView): boolean {
  for (const { path, leadsTo } of absent) {
    const named = fill(path, numbers)
    if (view.there(named) || (leadsTo !== undefined && view.real(named) !== fill(leadsTo, numbers))) return false
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
  const absent = reason && absentOf(one.seen, two.seen, like, told, question.files!)
  if (!reason || !absent) return null
  return { ruled: one.ruled, reason: reason.length === 1 ? undefined : reason, absent }
}

/** Numbers of which each differs in every digit, and if possible in length. */
function otherNumbers({ key, numbers }: Numbered, told: ToldNumbers): readonly string[] | undefined {
  for (const end of ['6', ''])
    for (const by of [3, 4, 7, 6, 1, 9]) {
      const others = numbers.map((number) => number.replace(/\d/g, (digit) => `${(Number(digit) + by) % 10}`) + end)
      if (numbered(renumbered(key, others), told)?.key === key) return others
    }
  return undefined
}

/**
 * The paths with numbers that both looked at, without those in folders that are not there. Undefined: something is at one of them, one
 * looked at something that the other did not, or a link leads to a number that is not told.
 */
function absentOf(
  one: readonly Seen[],
  two: readonly Seen[],
  like: (a: string, b: string) => Template | undefined,
  told: ToldNumbers,
  view: FileView,
): readonly Absent[] | undefined {
  if (one.length !== two.length) return undefined
  const absent = new Map<string, Absent>()
  for (const [at, a] of one.entries()) {
    const b = two[at]!
    if (a.kind !== b.kind) return undefined
    if (a.kind === 'empty') continue // told by whether it is there
    const path = like(a.path, b.path)
    const leadsTo = a.leadsTo === undefined ? path : like(a.leadsTo, b.leadsTo!)
    const isLed = a.leadsTo !== undefined && a.leadsTo !== a.path
    if (!path || !leadsTo || (isLed && !tellsAll(told, literalsOf(leadsTo)))) return undefined
    if (a.path === b.path) continue // without a number
    if (a.kind === 'other' || view.there(a.path) || view.there(b.path)) return undefined
    if (isNowhere(path, a.path, view)) continue
    absent.set(a.path, { path, leadsTo: a.leadsTo === undefined ? absent.get(a.path)?.leadsTo : leadsTo })
  }
  return [...absent.values()]
}

const literalsOf = (template: Template): string => template.filter((part) => typeof part === 'string').join('\u0000')

/** In a folder without a number that is not there, whatever the number is. */
function isNowhere([beginning]: Template, path: string, view: FileView): boolean {
  const folder = typeof beginning === 'string' ? beginning.slice(0, beginning.lastIndexOf('/')) : ''
  return folder !== '' && !/(^|\/)\.{1,2}(\/|$)/.test(path) && !view.there(folder)
}
