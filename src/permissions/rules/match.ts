/** Whether one rule applies to one call. */

import { type FileAccess, fileRuleMatches, inWorkingDirectories } from '../paths/access.ts'
import type { PermissionQuestion } from '../question.ts'
import { isSecretFile } from '../secret-files.ts'
import { matches } from '../wildcard.ts'
import { type Behavior, plainHost, type Rule } from './rule.ts'

/** `Read(builtin:working-directories)`: reading there, except files that usually hold secrets. */
const builtinCovers = (access: FileAccess | undefined, question: PermissionQuestion): boolean =>
  access?.kind === 'read' && inWorkingDirectories(access, question) && !access.paths.some(isSecretFile)

/** For every specifier but Bash's, which needs the parser. */
export function ruleMatches(
  { tool, specifier, ...rule }: Rule,
  behavior: Behavior,
  question: PermissionQuestion,
  access: FileAccess | undefined,
): boolean {
  if (specifier.kind === 'path') {
    return access !== undefined && fileRuleMatches({ tool, specifier, ...rule }, behavior, access, question)
  }
  if (specifier.kind === 'builtin') return behavior === 'allow' && builtinCovers(access, question)
  if (!namesTool(tool, question.tool)) return false
  const { input } = question
  switch (specifier.kind) {
    case 'any':
      return true
    case 'domain':
      return domainMatches(specifier.host, input.url)
    case 'query':
      return input.query === specifier.text
    case 'name': {
      // kinds of agents are known by their names in small letters or capitals
      const asWritten = tool === 'Agent' ? (text: string) => text.toLowerCase() : (text: string) => text
      return invocations(question).some((text) =>
        specifier.patterns.some((pattern) => matches(asWritten(pattern), asWritten(text))),
      )
    }
    case 'parameter': {
      const value = input[specifier.name]
      const scalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      return scalar && matches(specifier.pattern, String(value))
    }
    case 'command':
    case 'inert':
      return false
  }
}

/** Whether the tool of a rule is the one that is called. */
export function namesTool(pattern: string, tool: string): boolean {
  if (pattern === tool) return true
  if (pattern.includes('*')) return matches(pattern, tool)
  return pattern.startsWith('mcp__') && !pattern.slice(5).includes('__') && tool.startsWith(`${pattern}__`)
}

/** What Agent and Skill rules are held against. A skill's name alone covers it with any arguments. */
function invocations({ tool, input }: PermissionQuestion): readonly string[] {
  if (tool === 'Agent') return [typeof input.subagent_type === 'string' ? input.subagent_type : 'general-purpose']
  if (tool !== 'Skill' || typeof input.skill !== 'string') return []
  const name = input.skill.trim().replace(/^\//, '')
  return typeof input.args === 'string' && input.args !== '' ? [name, `${name} ${input.args}`] : [name]
}

/** `*.example.com` is any sub-domain; another `*` stays within one label. */
function domainMatches(pattern: string, url: unknown): boolean {
  let host: string
  try {
    host = plainHost(new URL(String(url)).hostname)
  } catch {
    return false // not a URL: the tool will say so
  }
  if (pattern === '*' || pattern === host) return true
  if (pattern.startsWith('*.') && !pattern.slice(2).includes('*')) return host.endsWith(pattern.slice(1))
  const labels = host.split('.')
  const wanted = pattern.split('.')
  return labels.length === wanted.length && wanted.every((label, at) => matches(label, labels[at]!))
}
