/** The plan an agent works by: its form, what can be wrong with it, and which of its nodes speak to a call. */

import { namesTool } from '../host/tools.ts'
import { isObject } from '../session/paths.ts'
import type { HostEvent } from '../types.ts'
import { globInside, globMatches } from './glob.ts'

const kinds = ['change', 'validate', 'explore', 'side_effect', 'escalate'] as const
const statuses = ['pending', 'in_progress', 'complete', 'failed', 'skipped', 'forbidden', 'denied'] as const
const policies = ['allow', 'ask', 'deny'] as const

export interface PlanNode {
  readonly id: string
  readonly description: string
  readonly kind: (typeof kinds)[number]
  /** Empty: any tool. */
  readonly tools: readonly string[]
  /** Empty: anywhere. */
  readonly scope: readonly string[]
  readonly dependencies: readonly string[]
  readonly validates: readonly string[]
  readonly status: (typeof statuses)[number]
  readonly reason?: string
}

export interface PlanGraph {
  readonly goal?: string
  readonly defaultPolicy: (typeof policies)[number]
  readonly nodes: readonly PlanNode[]
}

export interface PlanProblem {
  readonly code: string
  readonly nodeId?: string
  readonly message: string
}

export type PlanCheck = { ok: true; plan: PlanGraph } | { ok: false; problems: PlanProblem[] }

export const planLimitBytes = 1024 * 1024
const maxNodes = 500

/** Reads and checks a plan's text. Every problem is reported, in the order of the document. */
export function checkPlan(text: string, workId: string): PlanCheck {
  const refuse = (code: string, message: string): PlanCheck => ({ ok: false, problems: [{ code, message }] })
  if (Buffer.byteLength(text) > planLimitBytes) return refuse('PG_TOO_LARGE', 'the plan is over 1 MiB')
  let raw: unknown
  try {
    raw = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (cause) {
    return refuse('PG_UNREADABLE', `the plan is not JSON: ${(cause as Error).message}`)
  }
  if (!isObject(raw)) return refuse('PG_NOT_OBJECT', 'the plan must be a JSON object')

  const problems: PlanProblem[] = []
  const problem = (code: string, message: string, nodeId?: string) =>
    problems.push({ code, ...(nodeId !== undefined && { nodeId }), message })
  if (raw['version'] !== undefined && raw['version'] !== 1) problem('PG_VERSION', 'version must be 1')
  if (raw['workId'] !== undefined && raw['workId'] !== workId)
    problem('PG_WORK_MISMATCH', `the plan is for work ${JSON.stringify(raw['workId'])}, the work in hand is ${workId}`)
  if (raw['defaultPolicy'] !== undefined && !policies.includes(raw['defaultPolicy'] as never))
    problem('PG_POLICY_INVALID', 'defaultPolicy must be allow, ask or deny')
  const given = raw['nodes']
  if (!Array.isArray(given)) problem('PG_NODES_MISSING', 'nodes must be a list')
  else if (given.length === 0) problem('PG_NODES_EMPTY', 'nodes must hold at least one node')
  else if (given.length > maxNodes)
    problem('PG_TOO_MANY_NODES', `nodes holds ${given.length}, at most ${maxNodes} are read`)
  else {
    const nodes = given.map((node, index) => readNode(node, index, problem))
    checkLinks(nodes, problem)
    if (problems.length === 0)
      return {
        ok: true,
        plan: {
          ...(typeof raw['goal'] === 'string' && { goal: raw['goal'] }),
          defaultPolicy: (raw['defaultPolicy'] as PlanGraph['defaultPolicy']) ?? 'allow',
          nodes,
        },
      }
  }
  return { ok: false, problems }
}

type Report = (code: string, message: string, nodeId?: string) => void

function readNode(raw: unknown, index: number, problem: Report): PlanNode {
  const place = `nodes[${index}]`
  const blank: PlanNode = {
    id: place,
    description: '',
    kind: 'change',
    tools: [],
    scope: [],
    dependencies: [],
    validates: [],
    status: 'pending',
  }
  if (!isObject(raw)) {
    problem('PG_NODE_NOT_OBJECT', `${place} must be an object`)
    return blank
  }
  const named = typeof raw['id'] === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(raw['id'])
  if (!named) problem('PG_ID_INVALID', `${place}.id must be 1 to 64 letters, digits, dots, dashes or underscores`)
  const id = named ? (raw['id'] as string) : place
  const at = (code: string, message: string) => problem(code, `${id}: ${message}`, id)

  const description = raw['description']
  if (typeof description !== 'string' || description.length < 1 || description.length > 500)
    at('PG_DESCRIPTION_MISSING', 'description must be 1 to 500 characters')
  const type = kinds.includes(raw['type'] as never) ? raw['type'] : undefined
  const kind = raw['kind'] ?? type ?? 'change'
  if (!kinds.includes(kind as never)) at('PG_KIND_INVALID', `kind must be one of ${kinds.join(', ')}`)
  const status = raw['status'] ?? 'pending'
  if (!statuses.includes(status as never)) at('PG_STATUS_INVALID', `status must be one of ${statuses.join(', ')}`)
  const refused = status === 'forbidden' || status === 'denied'

  const scope = textList(isObject(raw['scope']) ? raw['scope']['files_allow'] : raw['scope'])
  if (scope === undefined || !scope.every(isRepoGlob))
    at('PG_SCOPE_INVALID', 'scope must be globs from the repository root, without a leading /, a drive or ..')
  const single = raw['tool'] === undefined ? [] : [raw['tool']]
  const tools = textList([
    ...single,
    ...(raw['tools'] === undefined ? [] : Array.isArray(raw['tools']) ? raw['tools'] : [null]),
  ])
  if (tools === undefined || (tools.length === 0 && !(refused && scope && scope.length > 0)))
    at('PG_TOOL_MISSING', 'tool or tools must name at least one tool ("*" for any)')
  const reason = raw['reason']
  if (refused && (typeof reason !== 'string' || reason === ''))
    at('PG_REASON_MISSING', `a ${String(status)} node needs a reason`)
  const dependencies = textList(raw['dependencies'] ?? raw['deps'])
  if (dependencies === undefined) at('PG_DEP_UNKNOWN', 'dependencies must be a list of node ids')
  const validates = textList(raw['validates'])
  if (validates === undefined || (kind === 'validate' && validates.length === 0))
    at('PG_VALIDATES_INVALID', 'a validate node must list the nodes it validates')
  return {
    id,
    description: typeof description === 'string' ? description : '',
    kind: kind as PlanNode['kind'],
    tools: tools ?? [],
    scope: scope ?? [],
    dependencies: dependencies ?? [],
    validates: validates ?? [],
    status: status as PlanNode['status'],
    ...(typeof reason === 'string' && { reason }),
  }
}

/** A missing value is an empty list, one text a list of one. Undefined when it is neither. */
function textList(value: unknown): string[] | undefined {
  if (value === undefined) return []
  const list = Array.isArray(value) ? value : [value]
  return list.every((item) => typeof item === 'string' && item !== '') ? (list as string[]) : undefined
}

const isRepoGlob = (glob: string): boolean => !/^[\\/]|^[A-Za-z]:/.test(glob) && !glob.split(/[\\/]/).includes('..')

function checkLinks(nodes: readonly PlanNode[], problem: Report): void {
  const byId = new Map<string, PlanNode>()
  for (const node of nodes) {
    if (byId.has(node.id)) problem('PG_ID_DUPLICATE', `${node.id}: another node has this id`, node.id)
    byId.set(node.id, node)
  }
  for (const node of nodes) {
    for (const other of node.dependencies) {
      if (other === node.id) problem('PG_DEP_SELF', `${node.id}: depends on itself`, node.id)
      else if (!byId.has(other))
        problem('PG_DEP_UNKNOWN', `${node.id}: depends on "${other}", which is not in the plan`, node.id)
    }
    for (const other of node.validates) {
      const target = byId.get(other)
      if (!target || target.kind === 'validate')
        problem(
          'PG_VALIDATES_INVALID',
          `${node.id}: validates "${other}", which is ${target ? 'itself a validate node' : 'not in the plan'}`,
          node.id,
        )
    }
  }
  const cycle = findCycle(nodes, byId)
  if (cycle) problem('PG_DEP_CYCLE', `dependencies go round: ${cycle.join(' → ')}`, cycle[0])
}

function findCycle(nodes: readonly PlanNode[], byId: ReadonlyMap<string, PlanNode>): string[] | undefined {
  const done = new Set<string>()
  const visit = (id: string, trail: string[]): string[] | undefined => {
    if (trail.includes(id)) return [...trail.slice(trail.indexOf(id)), id]
    if (done.has(id)) return undefined
    for (const next of byId.get(id)?.dependencies ?? []) {
      const found = next === id ? undefined : visit(next, [...trail, id])
      if (found) return found
    }
    done.add(id)
    return undefined
  }
  for (const node of nodes) {
    const found = visit(node.id, [])
    if (found) return found
  }
  return undefined
}

export const problemText = (problems: readonly PlanProblem[]): string =>
  problems
    .slice(0, 8)
    .map(({ code, message }) => `${code} (${message})`)
    .join('; ') + (problems.length > 8 ? `; and ${problems.length - 8} more` : '')

/** A scope without wildcards is a file, or a folder with all that is below it. */
export const inScope = (scope: string, path: string): boolean =>
  globMatches(scope, path) || (!/[*?[{]/.test(scope) && globMatches(`${scope.replace(/\/$/, '')}/**`, path))

export const scopeGlob = (scope: string): string => (/[*?[{]/.test(scope) ? scope : `${scope.replace(/\/$/, '')}/**`)

export const patternInScope = (pattern: string, scope: string): boolean =>
  !pattern.split(/[\\/]/).includes('..') && (globInside(pattern, scopeGlob(scope)) || inScope(scope, pattern))

/** Whether a node speaks of a tool at all: it names it, or it names none. */
export const namesToolOf = (node: PlanNode, event: HostEvent): boolean =>
  node.tools.length === 0 || node.tools.some((tool) => namesTool(tool, event))

/** Whether a node speaks to a call: by its tools and, if the call names paths, by its scope. */
export function nodeMatches(node: PlanNode, event: HostEvent, paths: readonly string[]): boolean {
  const named = node.tools.some((tool) => namesTool(tool, event))
  if (node.tools.length > 0 && !named) return false
  if (node.scope.length === 0) return true
  if (paths.length === 0) return node.tools.some((tool) => tool !== '*' && namesTool(tool, event))
  return paths.some((path) => node.scope.some((scope) => inScope(scope, path)))
}

export const isRefused = (node: PlanNode): boolean => node.status === 'forbidden' || node.status === 'denied'

/** All that is left to do is done: every node settled, and every validation really run. */
export const isFinished = (plan: PlanGraph): boolean =>
  plan.nodes.every((node) =>
    node.kind === 'validate' && !isRefused(node) ? node.status === 'complete' : isSettled(node),
  )

const isSettled = (node: PlanNode): boolean =>
  node.status === 'complete' || node.status === 'skipped' || isRefused(node)

export const unmet = (node: PlanNode, plan: PlanGraph): string[] => {
  const status = new Map(plan.nodes.map((other) => [other.id, other.status]))
  return node.dependencies.filter((id) => status.get(id) !== 'complete' && status.get(id) !== 'skipped')
}
