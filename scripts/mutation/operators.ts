/** The edits: kinds of syntax nodes, and the small faults that each can be given. */
import { looserPatterns } from './patterns.ts'

export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

/** What kind of fault, where it starts and ends, and the text in its place. */
export type Edit = readonly [kind: string, start: number, end: number, replacement: string]

const operators: Record<string, string> = {
  ...{ '===': '!==', '!==': '===', '<': '<=', '<=': '<', '>': '>=', '>=': '>', '-': '+', '*': '/' },
  ...{ '&&': '||', '||': '&&' },
}
const methods: ReadonlyMap<string, string> = new Map(
  Object.entries({
    some: 'every',
    every: 'some',
    startsWith: 'endsWith',
    endsWith: 'startsWith',
    min: 'max',
    max: 'min',
  }),
)
/** Methods that return something like what they are called on: such a call can be left out. */
const passing = new Set(['filter', 'sort', 'toSorted', 'trim', 'slice', 'toReversed', 'reverse', 'toLowerCase'])

export const edits: Record<string, (node: Node, text: string) => readonly Edit[]> = {
  BinaryExpression: swapOperator,
  LogicalExpression: (node, text) =>
    node['operator'] === '??'
      ? [['default', node.start, node.end, sourceOf(child(node, 'left'), text)]]
      : [...swapOperator(node, text), ...withoutOne('operand', [child(node, 'left'), child(node, 'right')])],
  UnaryExpression: ({ operator, start, end, argument }, text) =>
    operator === '!' ? [['negation', start, end, sourceOf(argument as Node, text)]] : [],
  IfStatement: (node, text) => [...negated(child(node, 'test'), text), ...guard(node)],
  ConditionalExpression: (node, text) => negated(child(node, 'test'), text),
  Literal: literal,
  TemplateLiteral: ({ quasis }, text) => (quasis as Node[]).flatMap((quasi) => templateText(quasi, text)),
  ExpressionStatement({ expression, start, end }) {
    const { type, argument } = expression as Node
    const called = type === 'AwaitExpression' ? (argument as Node).type : type
    if (called === 'CallExpression') return [['call', start, end, ';']]
    return called === 'AssignmentExpression' ? [['assignment', start, end, ';']] : []
  },
  AwaitExpression: ({ argument, start, end }, text) => [['await', start, end, sourceOf(argument as Node, text)]],
  ThrowStatement: ({ start, end }) => [['throw', start, end, ';']],
  CatchClause: (node) => emptied('catch', child(node, 'body')),
  TryStatement: ({ finalizer }) => (finalizer ? emptied('finally', finalizer as Node) : []),
  ObjectExpression: ({ properties }) => withoutOne('field', properties as Node[]),
  ArrayExpression: ({ elements }) => withoutOne('element', (elements as Node[]).filter(Boolean)),
  CallExpression({ callee, start, end }, text) {
    const { type, property, object } = callee as Node
    if (type !== 'MemberExpression') return []
    const name = property as Node
    const other = methods.get(String(name['name']))
    if (other !== undefined) return [['method', name.start, name.end, other]]
    return passing.has(String(name['name'])) ? [['chain', start, end, sourceOf(object as Node, text)]] : []
  },
}

function literal({ value, start, end, raw, regex }: Node): readonly Edit[] {
  if (regex) {
    const { pattern, flags } = regex as { pattern: string; flags: string }
    return looserPatterns(pattern, flags).map((looser): Edit => ['pattern', start, end, looser])
  }
  if (typeof value === 'boolean') return [['boolean', start, end, String(!value)]]
  if (typeof value === 'number' && /^0[xob]/i.test(String(raw))) return [] // permissions and masks
  if (typeof value === 'number')
    return [['number', start, end, String(value < 10 ? value + 1 : Math.floor(value / 10))]]
  if (typeof value !== 'string' || value === '') return []
  return [['text', start, end, JSON.stringify(shortened(value))]]
}

/** Without its last word; a single word is left out. */
const shortened = (text: string): string => text.trimEnd().slice(0, Math.max(0, text.trimEnd().lastIndexOf(' ')))

function templateText(quasi: Node, text: string): readonly Edit[] {
  const { raw } = quasi['value'] as { raw: string }
  if (raw.trim() === '') return []
  const start = text.indexOf(raw, quasi.start)
  return [['text', start, start + raw.length, shortened(raw)]]
}

function swapOperator({ operator, left, right }: Node, text: string): readonly Edit[] {
  const other = operators[String(operator)]
  if (other === undefined) return []
  const start = text.indexOf(String(operator), (left as Node).end)
  return start < (right as Node).start ? [['operator', start, start + String(operator).length, other]] : []
}

/** One that is a negation already is turned round by leaving out its `!`. */
const negated = (test: Node, text: string): readonly Edit[] =>
  test['operator'] === '!' ? [] : [['condition', test.start, test.end, `!(${sourceOf(test, text)})`]]

/** An early return, left out. */
function guard({ start, end, consequent, alternate }: Node): readonly Edit[] {
  const { type, body } = consequent as Node
  const last = type === 'BlockStatement' ? (body as Node[]).at(-1)?.type : type
  const ends = /^(Return|Throw|Continue|Break)Statement$/.test(last ?? '')
  return ends && !alternate ? [['guard', start, end, ';']] : []
}

const emptied = (kind: string, { start, end, body }: Node): readonly Edit[] =>
  (body as Node[]).length > 0 ? [[kind, start, end, '{}']] : []

/** Each of them left out, with the comma that follows or goes before. */
function withoutOne(kind: string, nodes: readonly Node[]): Edit[] {
  if (nodes.length < 2) return []
  return nodes.map(({ start, end }, at): Edit => {
    const next = nodes[at + 1]
    return next ? [kind, start, next.start, ''] : [kind, nodes[at - 1]!.end, end, '']
  })
}

const child = (node: Node, name: string): Node => node[name] as Node
const sourceOf = ({ start, end }: Node, text: string): string => text.slice(start, end)
