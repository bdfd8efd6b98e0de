/** Rehearsal scripts: what may stand in one, and where in the file something does not. */
import type { LineCounter, Node, Pair } from 'yaml'
import {
  boolean,
  either,
  type Infer,
  integer,
  json,
  list,
  map,
  number,
  oneOf,
  optional,
  type Problem,
  parse,
  record,
  type Shape,
  say,
  string,
} from '../hooks/shape.ts'

const texts = (about: string) => either(string(about), list(string(), about))

const expectation = record(
  {
    error: optional(boolean('Whether the call shall have failed or been refused.')),
    contains: optional(texts('Text that must be in it; a list: all of them.')),
    excludes: optional(texts('Text that must not be in it.')),
    matches: optional(string('A regular expression that must match.')),
    equals: optional(string('The whole text, without spaces around it.')),
  },
  'What must be true of a text.',
  { closed: true },
)

const oneCall = record(
  {
    call: string('The tool to call.'),
    input: optional(map(json(), 'Its input.')),
  },
  'A call of a tool.',
  { closed: true },
)

/** One step each; the key that comes first says which. */
const stepShapes = {
  prompt: record({ prompt: string('What the user types.') }, 'Begins a turn.', { closed: true }),
  say: record(
    { say: string('What the model says.') },
    'Followed by a call, both are one reply; otherwise the turn ends here.',
    { closed: true },
  ),
  call: oneCall,
  calls: record({ calls: list(oneCall, 'Several calls in one reply.', { min: 1 }) }, 'Several calls at once.', {
    closed: true,
  }),
  expect: record({ expect: expectation }, 'About the result of the call before it.', { closed: true }),
  sees: record({ sees: expectation }, 'About everything that the model is sent next: prompt, context, results.', {
    closed: true,
  }),
  file: record(
    {
      file: string('A path, relative to the folder of the run.'),
      exists: optional(boolean('Whether it shall be there; true by default.')),
      ...expectation.fields,
    },
    'About a file, at this moment.',
    { closed: true },
  ),
  sql: record(
    { sql: string('A query on the database of the run; its first column, one row a line.'), ...expectation.fields },
    'About the rows that the run has left.',
    { closed: true },
  ),
  fail: record(
    {
      fail: integer('The HTTP status that the model answers with.', { min: 400, max: 599 }),
      retryAfter: optional(number('Seconds, sent as retry-after.', { min: 0 })),
      message: optional(string('The words of the failure.')),
    },
    'The server fails once.',
    { closed: true },
  ),
} satisfies Record<string, Shape<unknown>>

export type StepKind = keyof typeof stepShapes
export type Expectation = Infer<typeof expectation>
type StepOf = { [K in StepKind]: { readonly kind: K; readonly line: number } & Infer<(typeof stepShapes)[K]> }
export type ScriptStep = StepOf[StepKind]

const modes = ['default', 'acceptEdits', 'bypassPermissions', 'plan', 'dontAsk'] as const

const scriptShape = record(
  {
    about: optional(string('What the rehearsal shows.')),
    files: optional(map(string(), 'Files by path. With them the run has a new, empty folder of its own.')),
    settings: optional(map(json(), 'Settings of the run, as given by --settings.')),
    mode: optional(oneOf(modes, 'The permission mode of the run.')),
    steps: list(json(), 'What happens, in order.', { min: 1 }),
  },
  'A rehearsal: what the user types, what the model does, and what must come of it.',
  { closed: true },
)

export interface Script {
  readonly name: string
  readonly about?: string
  readonly files?: Record<string, string>
  readonly settings?: Record<string, unknown>
  readonly mode?: (typeof modes)[number]
  readonly steps: readonly ScriptStep[]
}

export type Loaded =
  | { readonly ok: true; readonly script: Script }
  | { readonly ok: false; readonly problems: string[] }

/** The JSON Schema of a script, for editors. */
export const scriptSchema = {
  ...scriptShape.schema(),
  properties: {
    ...(scriptShape.schema().properties as object),
    steps: { type: 'array', minItems: 1, items: { anyOf: Object.values(stepShapes).map((shape) => shape.schema()) } },
  },
}

/** Each problem begins with `name:line:column`. */
export async function loadScript(text: string, name: string): Promise<Loaded> {
  const { parseDocument, LineCounter } = await import('yaml')
  const counter = new LineCounter()
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false })
  const at = (offset: number) => `${name}:${place(counter, offset)}`
  if (document.errors.length > 0)
    return { ok: false, problems: document.errors.map(({ pos, message }) => `${at(pos[0])}: ${message}`) }

  let value: unknown
  try {
    value = document.toJS()
  } catch (cause) {
    // an alias without its anchor, or so many that they would fill the memory
    return { ok: false, problems: [`${at(0)}: ${(cause as Error).message}`] }
  }
  const offsetOf = (path: readonly (string | number)[]) => offset(document as unknown as Located, path)
  const located = (problem: Problem) => `${at(offsetOf(pathOf(problem.path)))}: ${say(problem)}`
  const whole = parse(scriptShape, value)
  if (!whole.ok) return { ok: false, problems: [located(whole.problem)] }

  const steps: ScriptStep[] = []
  const problems: string[] = []
  for (const [index, step] of whole.value.steps.entries()) {
    const line = counter.linePos(offsetOf(['steps', index])).line
    const read = readStep(step, `steps[${index}]`, line)
    if ('kind' in read) steps.push(read)
    else problems.push(located(read))
  }
  problems.push(...misplaced(steps).map(({ line, why }) => `${name}:${line}:1: ${why}`))
  if (problems.length > 0) return { ok: false, problems }
  return { ok: true, script: { ...whole.value, name, steps } }
}

function readStep(step: unknown, path: string, line: number): ScriptStep | Problem {
  const kinds = Object.keys(stepShapes) as StepKind[]
  const keys = typeof step === 'object' && step !== null ? Object.keys(step) : []
  const kind = kinds.find((name) => keys.includes(name))
  if (!kind) return { path, why: `must be one of ${kinds.join(', ')}${keys[0] ? `, not ${keys[0]}` : ''}` }
  const problem = stepShapes[kind].check(step, path) ?? badPattern(step, path)
  return problem ?? ({ kind, line, ...(step as object) } as ScriptStep)
}

function badPattern(step: unknown, path: string): Problem | undefined {
  const { expect, sees, matches } = step as { expect?: Expectation; sees?: Expectation; matches?: string }
  const pattern = matches ?? expect?.matches ?? sees?.matches
  if (pattern === undefined) return undefined
  try {
    new RegExp(pattern)
    return undefined
  } catch (cause) {
    return { path, why: `has a bad regular expression: ${(cause as Error).message}` }
  }
}

/** What no run could ever reach or mean. */
function misplaced(steps: readonly ScriptStep[]): { line: number; why: string }[] {
  const found: { line: number; why: string }[] = []
  for (const [index, { kind, line }] of steps.entries()) {
    const before = steps.slice(0, index).findLast((step) => step.kind !== 'expect')
    if (kind === 'expect' && before?.kind !== 'call' && before?.kind !== 'calls')
      found.push({ line, why: 'expect must follow the call whose result it is about' })
  }
  return found
}

/** `steps[2].expect.contains` as the keys that lead there. */
const pathOf = (path: string): (string | number)[] =>
  [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, key]) => (index === undefined ? key! : Number(index)))

interface Located {
  getIn(path: readonly (string | number)[], keepScalar: true): Node | Pair | undefined
}

/** Where the value lies; of a key that is missing, where the thing lies that lacks it. */
function offset(document: Located, path: readonly (string | number)[]): number {
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length), true)
    if (node && 'range' in node && node.range) return node.range[0]
  }
  return 0
}

function place(counter: LineCounter, offset: number): string {
  const { line, col } = counter.linePos(offset)
  return `${line}:${col}`
}
