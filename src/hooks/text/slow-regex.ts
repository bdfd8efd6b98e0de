/**
 * Finds regular expressions that a backtracking engine may run for seconds or for ever. Two things make one slow: a loop that
 * reads the same text in two ways, `(a+)+`, takes exponential time; loops one behind the other that can share a text, `.*.*.*`,
 * take time to the power of their number.
 */
import { counted } from './counted.ts'
import { type Automaton, automataOf } from './regex-positions.ts'

/**
 * Why the expression is rejected; null when it is fast on names and paths. `loops`: how many may share one text; `foldCase`: it
 * is used with the flag i.
 */
export function slowPart(source: string, { loops = 3, foldCase = false } = {}): string | null {
  const quoted = JSON.stringify(source)
  const automata = automataOf(source, foldCase)
  if (!automata)
    return `${quoted} has a back-reference or is too long to judge how slow it can be; use a simpler expression`
  const budget = { steps: 500_000 }
  const isSlow = automata.some((one) => hasTwoWayLoop(one, budget))
  if (isSlow)
    return `${quoted} can take exponential time: a repeated part can match the same text in two ways, as in (a+)+; repeat it once`
  if (automata.some((one) => sharedLoops(one, budget) > loops))
    return `${quoted} can take too long: more than ${counted(loops, 'repeat')}, one behind the other, can match the same text; use fewer`
  return budget.steps > 0 ? null : `${quoted} is too complex to judge how slow it can be; use a simpler expression`
}

type Budget = { steps: number }

/** Whether two different ways lead from a position back to it over one text. */
function hasTwoWayLoop({ reads, next }: Automaton, budget: Budget): boolean {
  const loop = componentsOf(reads.length, (at) => [...next[at]!.keys()])
  // an edge that is there twice: only a loop adds one to what a sequence has
  if (next.some((edges) => [...edges.values()].some((ways) => ways > 1))) return true
  const size = reads.length
  const pairs = (pair: number): number[] => {
    const [a, b] = [Math.floor(pair / size), pair % size]
    const found: number[] = []
    for (const x of next[a]!.keys())
      for (const y of next[b]!.keys()) {
        budget.steps--
        if (loop[x] === loop[a] && loop[y] === loop[b] && (reads[x]! & reads[y]!) !== 0n) found.push(x * size + y)
      }
    return budget.steps > 0 ? found : []
  }
  return reads.some((_, at) => {
    const start = at * size + at
    return next[at]!.size > 1 && sharesLoop(start, pairs, (pair) => Math.floor(pair / size) !== pair % size)
  })
}

/** Whether a node of that kind lies on a way from the start back to it. */
function sharesLoop(start: number, edges: (node: number) => number[], kind: (node: number) => boolean): boolean {
  const after = reachable([start], edges)
  const back = new Map<number, number[]>()
  for (const node of after) for (const to of edges(node)) back.set(to, [...(back.get(to) ?? []), node])
  const before = reachable([start], (node) => back.get(node) ?? [])
  return [...after].some((node) => kind(node) && before.has(node))
}

/** The most loops that lie one behind the other and can share a text. */
function sharedLoops({ reads, next }: Automaton, budget: Budget): number {
  const size = reads.length
  const loop = componentsOf(size, (at) => [...next[at]!.keys()])
  const looping = next.flatMap((edges, from) => [...edges.keys()].filter((to) => loop[from] === loop[to]))
  const heads = [...new Set(looping)]
  const after = heads.map((at) => reachable(next[at]!.keys(), (one) => next[one]!.keys()))
  /** A text leads p back to p, p to q, and q back to q. */
  const shares = (p: number, q: number): boolean => {
    const edges = (node: number): number[] => {
      const [a, b, c] = [Math.floor(node / size / size), Math.floor(node / size) % size, node % size]
      const found: number[] = []
      for (const x of next[a]!.keys())
        for (const y of next[b]!.keys())
          for (const z of next[c]!.keys()) {
            budget.steps--
            const together = loop[x] === loop[p] && loop[z] === loop[q] ? reads[x]! & reads[y]! & reads[z]! : 0n
            if (together !== 0n) found.push((x * size + y) * size + z)
          }
      return budget.steps > 0 ? found : []
    }
    return reachable([(p * size + p) * size + q], edges).has((p * size + q) * size + q)
  }
  const depth = new Map<number, number>()
  const depthAt = (index: number): number => {
    const p = heads[index]!
    const known = depth.get(p)
    if (known !== undefined) return known
    let deepest = 1
    for (const [other, q] of heads.entries())
      if (loop[q] !== loop[p] && after[index]!.has(q) && shares(p, q)) deepest = Math.max(deepest, 1 + depthAt(other))
    depth.set(p, deepest)
    return deepest
  }
  return Math.max(0, ...heads.map((_, index) => depthAt(index)))
}

function reachable(from: Iterable<number>, edges: (node: number) => Iterable<number>): Set<number> {
  const found = new Set(from)
  for (const node of found) for (const to of edges(node)) found.add(to)
  return found
}

/** For each node a number that it shares with those it can reach and that can reach it (Tarjan's, without recursion). */
function componentsOf(size: number, edges: (node: number) => number[]): number[] {
  const order = new Array<number>(size).fill(-1)
  const low = new Array<number>(size).fill(0)
  const component = new Array<number>(size).fill(-1)
  const open: number[] = []
  let count = 0
  for (let root = 0; root < size; root++) {
    if (order[root] !== -1) continue
    const work = [{ node: root, to: edges(root), at: 0 }]
    order[root] = low[root] = count++
    open.push(root)
    while (work.length > 0) {
      const here = work.at(-1)!
      const to = here.to[here.at++]
      if (to === undefined) {
        work.pop()
        const above = work.at(-1)?.node
        if (above !== undefined) low[above] = Math.min(low[above]!, low[here.node]!)
        if (low[here.node] !== order[here.node]) continue
        for (let one = open.pop()!; ; one = open.pop()!) {
          component[one] = here.node
          if (one === here.node) break
        }
      } else if (order[to] === -1) {
        order[to] = low[to] = count++
        open.push(to)
        work.push({ node: to, to: edges(to), at: 0 })
      } else if (component[to] === -1) low[here.node] = Math.min(low[here.node]!, order[to]!)
    }
  }
  return component
}
