/** Rulings on the calls of a history, which repeats itself. */
import type { JsonObject } from '../../hooks/shape.ts'
import { type Judged, judge } from '../../permissions/decide.ts'
import { recent } from '../../permissions/recent.ts'
import { recentTexts } from './recent-texts.ts'
import type { Question, Ruled } from './ruled.ts'
import { rulingsByShape } from './shapes.ts'

/** What a ruling depends on, besides the policy. */
export type Asked = Pick<Question, 'tool' | 'input' | 'cwd' | 'hook'>

/** Rules on a call; the whole question is put together only where it has to be asked. */
export type Rulings = (asked: Asked, question: () => Question) => Promise<Ruled> | Ruled

/**
 * Rulings, each made once: a history repeats itself, and nothing runs in between, so that the same question has the same
 * answer. What no rule looks at is no part of the question. Two generations: what was asked lately stays.
 */
export function rememberingRulings(): Rulings {
  const known = recentTexts<Ruled>(mostLetters)
  const placeOf = places()
  const shaped = rulingsByShape(ruledNow)
  return (asked, whole) => {
    const command = commandAlone(asked)
    const place = placeOf(asked.cwd, asked.hook, command === undefined ? asked.tool : '')
    const key = command ?? JSON.stringify(asked.input, judgedOf(asked.tool))
    const isKept = key.length <= longestKey
    const before = isKept ? known.get(place, key) : undefined
    if (before) return before
    const question = whole()
    const alike = command === undefined ? undefined : shaped(question, command, place)
    if (alike) {
      if (isKept) known.setAgain(place, key, alike, key.length + alike.reason.length)
      return alike
    }
    const keep = (ruled: Ruled): Ruled => {
      if (isKept) known.set(place, key, ruled, key.length + ruled.reason.length)
      return ruled
    }
    const found = ruledNow(question)
    return found instanceof Promise ? found.then(keep) : keep(found)
  }
}

/** A number for each combination of folder, hook decision and tool; calls of a session follow each other. */
function places(): (cwd: string, hook: string, tool: string) => number {
  const numbers = recent<string, number>(mostPlaces)
  let next = 0
  let last: { readonly cwd: string; readonly hook: string; readonly tool: string; readonly number: number } | undefined
  return (cwd, hook, tool) => {
    if (last?.cwd === cwd && last.hook === hook && last.tool === tool) return last.number
    const key = `${hook}\n${tool}\n${cwd}`
    const known = numbers.get(key)
    const number = known ?? next++
    if (known === undefined) numbers.set(key, number)
    last = { cwd, hook, tool, number }
    return number
  }
}
const mostPlaces = 2000

function ruledNow(question: Question): Promise<Ruled> | Ruled {
  const found = judge(question)
  return found instanceof Promise ? found.then(ruledBy) : ruledBy(found)
}

/** Where the command line is all that rules look at. */
function commandAlone({ tool, input }: Asked): string | undefined {
  const { command } = input
  return tool === 'Bash' && typeof command === 'string' && isOnlyCommand(input) ? command : undefined
}

function isOnlyCommand(input: JsonObject): boolean {
  for (const key in input) if (key !== 'command' && key !== 'description') return false
  return true
}

/** Of the keys and reasons that a generation holds. */
const mostLetters = 1_000_000
const longestKey = 2_000

/** What is kept of a ruling: all that a verdict says, and not the files and commands that it was found by. */
function ruledBy({ ruling, finding }: Judged): Ruled {
  const { decision, reason } = ruling
  if (finding.rule === undefined || ruling.rule !== finding.rule.text) return { decision, reason }
  return { decision, reason, rule: `${finding.word}:${finding.rule.text}` }
}

/** What rules on a tool never look at. */
const unjudged: Readonly<Record<string, readonly string[]>> = {
  ...{ Bash: ['description'], Write: ['content'], Edit: ['old_string', 'new_string'] },
}
const judgedOf = (tool: string) => {
  const left = unjudged[tool]
  return left && ((key: string, value: unknown): unknown => (left.includes(key) ? undefined : value))
}
