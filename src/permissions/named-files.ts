/**
 * Files that the input of a server's tool names. What the server does with them is not known, so a path there counts as one that is
 * read and, unless the tool's name says that it only reads, as one that is changed.
 */
import { fileRuleMatches } from './paths/access.ts'
import { resolvePaths } from './paths/pattern.ts'
import { protectionFor } from './protection.ts'
import type { Finding, PermissionQuestion } from './question.ts'
import type { Rules } from './rules.ts'

/** What rules on files and protected paths say of a call to a server's tool; undefined where they say nothing. */
export function namedFilesFinding(question: PermissionQuestion, rules: Rules): Finding | undefined {
  const { tool, cwd, home, files } = question
  if (!tool.startsWith('mcp__') && !/McpResource/.test(tool)) return undefined
  const paths = pathsIn(question.input, '').map((path) => resolvePaths(path, cwd, home, files))
  const found = paths.flatMap((each) => findingsFor(each, question, rules))
  return found.find(({ word }) => word === 'deny') ?? found[0]
}

function findingsFor(paths: readonly string[], question: PermissionQuestion, rules: Rules): Finding[] {
  const found: Finding[] = []
  const kinds = reads.test(question.tool.split('__').at(-1)!) ? (['read'] as const) : (['read', 'edit'] as const)
  for (const kind of kinds) {
    const access = { kind, paths, tree: false }
    for (const behavior of ['deny', 'ask'] as const) {
      const rule = rules[behavior].find((each) => fileRuleMatches(each, behavior, access, question))
      // it may only read what it is not to change
      const word = behavior === 'deny' && (kind === 'read' || rule?.tool !== 'Edit') ? 'deny' : 'ask'
      if (rule) found.push({ word, rule, why: `the ${behavior} rule "${rule.text}" matches ${paths[0]}` })
    }
    const row = protectionFor(access, question)
    if (kind === 'read' && row?.read)
      found.push({ word: 'deny', why: `${paths[0]} is ${row.what}, which no tool may read` })
    if (kind === 'edit' && row && row.edit !== 'mode') found.push({ word: 'ask', why: `${paths[0]} is ${row.what}` })
  }
  return found
}

/** The last part of the names of tools that change nothing. */
const reads = /^(read|get|list|search|find|stat|view|show|describe|directory_tree)(_|$)|_(info|tree|list|search)$/i

const pathKeys = /path|file|dir|folder|uri|source|destination|target|root|cwd|location/i
const mostStrings = 500

/** The strings of an input that may be paths: by their key, or by how they begin. */
function pathsIn(value: unknown, key: string, left = { strings: mostStrings }, depth = 0): string[] {
  if (typeof value === 'string') {
    if (left.strings-- <= 0 || value.length > 4096 || value.includes('\n')) return []
    const path = value.replace(/^file:\/\/(localhost)?(?=\/)/, '')
    const isPath = /^(~?\/|\.{1,2}\/)/.test(path) || (pathKeys.test(key) && !/^\w+:\/\//.test(path))
    return isPath && path !== '' ? [path === value ? path : decoded(path)] : []
  }
  if (typeof value !== 'object' || value === null || depth > 20) return []
  const entries = Array.isArray(value) ? value.map((each) => [key, each] as const) : Object.entries(value)
  return entries.flatMap(([name, each]) => pathsIn(each, name, left, depth + 1))
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path // no URL after all
  }
}
