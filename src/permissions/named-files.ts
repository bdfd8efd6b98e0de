/**
 * Files that the input of a server's tool names. What the server does with them is not known, so a path there counts as one that is
 * read and, unless the tool's name says that it only reads, as one that is changed.
 */
import { fileRuleMatches } from './paths/access.ts'
import { resolvePaths } from './paths/pattern.ts'
import { protectionFor } from './protection.ts'
import type { Finding, PermissionQuestion } from './question.ts'
import type { Rules } from './rules/rules.ts'

/** What rules on files and protected paths say of a call to a server's tool; undefined where they say nothing. */
export function namedFilesFinding(question: PermissionQuestion, rules: Rules): Finding | undefined {
  const { tool, cwd, home, files } = question
  if (!tool.startsWith('mcp__') && !/McpResource/.test(tool)) return undefined
  const { names, whole } = namesIn(question.input)
  const found = names.flatMap(({ path, sure }) => {
    const findings = findingsFor(resolvePaths(path, cwd, home, files), question, rules)
    return sure ? findings : findings.map((each): Finding => ({ ...each, word: 'ask' }))
  })
  if (!whole) found.push({ word: 'ask', why: 'its input is too large to see which files it names' })
  return found.find(({ word }) => word === 'deny') ?? found[0]
}

function findingsFor(paths: readonly string[], question: PermissionQuestion, rules: Rules): Finding[] {
  const found: Finding[] = []
  const edits = !reads.test(question.tool.split('__').at(-1)!)
  for (const kind of edits ? (['read', 'edit'] as const) : (['read'] as const)) {
    const access = { kind, paths, tree: false }
    for (const behavior of ['deny', 'ask'] as const) {
      const rule = rules[behavior].find((each) => fileRuleMatches(each, behavior, access, question))
      // it may only read what it is not to change; what it is not to read is denied as such
      const word = behavior === 'deny' && kind === 'read' ? 'deny' : 'ask'
      if (rule) found.push({ word, rule, why: `the ${behavior} rule "${rule.text}" matches ${paths[0]}` })
    }
  }
  const row = protectionFor({ paths }, question)
  if (row?.read) found.push({ word: 'deny', why: `${paths[0]} is ${row.what}, which no tool may read` })
  if (edits && row && row.edit !== 'mode') found.push({ word: 'ask', why: `${paths[0]} is ${row.what}` })
  return found
}

/** The last part of the names of tools that change nothing. */
const reads = /^(read|get|list|search|find|stat|view|show|describe)(_|$)|_(info|tree|list|search)$/i

const pathKeys = /path|file|dir|folder|uri|source|destination|target|root|cwd|location/i
/** What stands there is text or an address of the network, unless it begins as a path does. */
const textKeys = /quer|pattern|search|regex|text|content|message|title|description|body|prompt|comment|note|url|host/i

/** `sure`: it is a path by its key or by how it begins; otherwise it could be one. */
interface Name {
  readonly path: string
  readonly sure: boolean
}

const most = { strings: 20_000, names: 5000, depth: 50, length: 4096 }

/** The strings of an input that may be paths. `whole`: all of it was looked at. */
function namesIn(input: unknown): { names: Name[]; whole: boolean } {
  const found = new Map<string, Name>()
  let strings = 0
  let whole = true
  const look = (value: unknown, key: string, depth: number): void => {
    if (!whole) return
    if (typeof value === 'string') {
      const name = nameOf(value, key)
      if (name && !found.get(name.path)?.sure) found.set(name.path, name)
      const isLong = name !== undefined && name.path.length > most.length
      whole = ++strings <= most.strings && found.size <= most.names && !isLong
    } else if (typeof value === 'object' && value !== null) {
      whole = depth < most.depth
      const entries = Array.isArray(value) ? value.map((each) => [key, each] as const) : Object.entries(value)
      for (const [inner, each] of entries) look(each, inner, depth + 1)
    }
  }
  look(input, '', 0)
  return { names: [...found.values()], whole }
}

function nameOf(value: string, key: string): Name | undefined {
  const url = value.includes(':') ? URL.parse(value) : null
  if (url?.protocol === 'file:') return { path: decoded(url.pathname), sure: true }
  const isPath = pathKeys.test(key)
  if (value === '' || (url && /^\w+:\/\//.test(value)) || (value.includes('\n') && !isPath)) return undefined
  if (isPath || /^(~?\/|\.{1,2}\/)/.test(value)) return { path: value, sure: true }
  return textKeys.test(key) || /\s/.test(value) || value.length > most.length ? undefined : { path: value, sure: false }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path // no URL after all
  }
}
