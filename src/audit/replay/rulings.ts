/** Rulings on the calls of a history, which repeats itself. */
import type { JsonObject } from '../../hooks/shape.ts'
import { type Judged, judge } from '../../permissions/decide.ts'
import type { Question, Ruled } from './ruled.ts'
import { rulingsByShape } from './shapes.ts'

/**
 * Rulings, each made once: a history repeats itself, and nothing runs in between, so that the same question has the same
 * answer. What no rule looks at is no part of the question. Two generations: what was asked lately stays.
 */
export function rememberingRulings(): (question: Question) => Promise<Ruled> | Ruled {
  let young = new Map<string, Ruled>()
  let old = new Map<string, Ruled>()
  let letters = 0
  const keep = (key: string, ruled: Ruled): Ruled => {
    if (key.length > longestKey) return ruled
    if (letters > mostLetters) {
      old = young
      young = new Map()
      letters = 0
    }
    letters += key.length + ruled.reason.length
    young.set(key, ruled)
    return ruled
  }
  const shaped = rulingsByShape(ruledNow)
  return (question) => {
    const command = commandAlone(question)
    const key = keyOf(question, command)
    const known = young.get(key)
    if (known) return known
    const before = old.get(key)
    if (before) return keep(key, before)
    const alike = command === undefined ? undefined : shaped(question, command)
    if (alike) return alike
    const found = ruledNow(question)
    return found instanceof Promise ? found.then((each) => keep(key, each)) : keep(key, found)
  }
}

function ruledNow(question: Question): Promise<Ruled> | Ruled {
  const found = judge(question)
  return found instanceof Promise ? found.then(ruledBy) : ruledBy(found)
}

/** Where the command line is all that rules look at. */
function commandAlone({ tool, input }: Question): string | undefined {
  const { command } = input
  return tool === 'Bash' && typeof command === 'string' && isOnlyCommand(input) ? command : undefined
}

const keyOf = ({ tool, input, cwd, hook }: Question, command: string | undefined): string =>
  command !== undefined
    ? `$${hook}\n${cwd}\n${command}`
    : `${hook}\n${tool}\n${cwd}\n${JSON.stringify(input, judgedOf(tool))}`

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
