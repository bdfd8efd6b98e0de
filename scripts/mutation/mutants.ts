/** Small faults that a test should notice: each is one edit of a source file. */
import { parseAst } from 'rolldown/parseAst'
import { edits, type Node } from './operators.ts'

export interface Mutant {
  readonly file: string
  readonly line: number
  readonly start: number
  readonly end: number
  readonly replacement: string
  readonly kind: string
  /** The lines that differ, before and after, without the space around them. */
  readonly before: string
  readonly after: string
}

export function mutantsOf(file: string, text: string): Mutant[] {
  const found: Mutant[] = []
  walk(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }) as unknown as Node, (node) => {
    for (const [kind, start, end, replacement] of edits[node.type]?.(node, text) ?? []) {
      const from = text.lastIndexOf('\n', start - 1) + 1
      const to = text.indexOf('\n', end) === -1 ? text.length : text.indexOf('\n', end)
      found.push({
        ...{ file, line: text.slice(0, start).split('\n').length, start, end, replacement, kind },
        before: text.slice(from, to).trim(),
        after: (text.slice(from, start) + replacement + text.slice(end, to)).trim(),
      })
    }
  })
  return found
}

export const mutated = (text: string, { start, end, replacement }: Mutant): string =>
  text.slice(0, start) + replacement + text.slice(end)

/** The same for the same seed. Of a kind that is frequent fewer are drawn than its share, so that rare kinds are seen too. */
export function sample(mutants: readonly Mutant[], size: number, seed: number): Mutant[] {
  let state = seed >>> 0
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state + 1) / 2 ** 32
  }
  for (let turn = 0; turn < 10; turn++) random() // seeds that are close to each other begin alike
  const counts = Map.groupBy(mutants, ({ kind }) => kind)
  return mutants
    .map((mutant) => ({ mutant, rank: -Math.log(random()) * Math.sqrt(counts.get(mutant.kind)!.length) }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, size)
    .map(({ mutant }) => mutant)
}

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
