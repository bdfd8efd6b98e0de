/** Small faults that a test should notice: each is one edit of a source file. */
import { parseAst } from 'rolldown/parseAst'

export interface Mutant {
  readonly file: string
  readonly line: number
  readonly start: number
  readonly end: number
  readonly replacement: string
  readonly kind: Kind
}

export type Kind = 'operator' | 'condition' | 'negation' | 'boolean' | 'number' | 'text' | 'call' | 'quantifier'

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

const operators: Record<string, string> = {
  ...{ '===': '!==', '!==': '===', '<': '<=', '<=': '<', '>': '>=', '>=': '>', '-': '+', '*': '/' },
  ...{ '&&': '||', '||': '&&' },
}
const quantifiers: Record<string, string> = {
  some: 'every',
  every: 'some',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
}

/** Kinds of nodes, and the edit that each becomes: where it starts, where it ends, and the text in its place. */
const edits: Record<string, (node: Node, text: string) => readonly [Kind, number, number, string] | undefined> = {
  BinaryExpression: swapOperator,
  LogicalExpression: swapOperator,
  UnaryExpression: ({ operator, start, end, argument }, text) =>
    operator === '!' ? ['negation', start, end, sourceOf(argument as Node, text)] : undefined,
  IfStatement: ({ test }, text) => negated(test as Node, text),
  ConditionalExpression: ({ test }, text) => negated(test as Node, text),
  Literal({ value, start, end }) {
    if (typeof value === 'boolean') return ['boolean', start, end, String(!value)]
    if (typeof value === 'number') return value < 10 ? ['number', start, end, String(value + 1)] : undefined // a larger one is a limit
    return typeof value === 'string' && value !== '' ? ['text', start, end, "''"] : undefined
  },
  ExpressionStatement({ expression, start, end }) {
    const { type, argument } = expression as Node
    const called = type === 'AwaitExpression' ? (argument as Node).type : type
    return called === 'CallExpression' ? ['call', start, end, ';'] : undefined
  },
  CallExpression({ callee }) {
    const { type, property } = callee as Node
    if (type !== 'MemberExpression') return undefined
    const { name, start, end } = property as Node
    const other = quantifiers[String(name)]
    return other === undefined ? undefined : ['quantifier', start, end, other]
  },
}

export function mutantsOf(file: string, text: string): Mutant[] {
  const found: Mutant[] = []
  walk(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }) as unknown as Node, (node) => {
    const edit = edits[node.type]?.(node, text)
    if (!edit) return
    const [kind, start, end, replacement] = edit
    found.push({ file, line: text.slice(0, start).split('\n').length, start, end, replacement, kind })
  })
  return found
}

export const mutated = (text: string, { start, end, replacement }: Mutant): string =>
  text.slice(0, start) + replacement + text.slice(end)

function swapOperator(
  { operator, left, right }: Node,
  text: string,
): readonly [Kind, number, number, string] | undefined {
  const other = operators[String(operator)]
  if (other === undefined) return undefined
  const from = (left as Node).end
  const start = text.indexOf(String(operator), from)
  return start < (right as Node).start ? ['operator', start, start + String(operator).length, other] : undefined
}

const sourceOf = ({ start, end }: Node, text: string): string => text.slice(start, end)

const negated = (test: Node, text: string): readonly [Kind, number, number, string] => [
  'condition',
  test.start,
  test.end,
  `!(${sourceOf(test, text)})`,
]

/** Types, imports, keys and directives do nothing at run time, or cannot be changed without breaking the syntax. */
function walk(node: Node, visit: (node: Node) => void): void {
  if (/^(Import|ExportAll)/.test(node.type) || node['directive']) return
  const isType = node.type.startsWith('TS')
  if (isType && !('expression' in node)) return
  visit(node)
  for (const [key, value] of Object.entries(node)) {
    if (key === 'source' || (key === 'key' && !node['computed']) || (isType && key !== 'expression')) continue
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, visit)
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
