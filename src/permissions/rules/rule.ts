/** A permission rule: `Tool` or `Tool(specifier)`, as written in settings, read and checked. */

import { type PathPattern, pathPattern } from '../paths/pattern.ts'
import { isBuiltinRule } from './builtin-rules.ts'

export type Behavior = 'allow' | 'deny' | 'ask'

export interface Rule {
  /** As written. */
  readonly text: string
  /** The canonical tool name; may hold `*` in deny and ask rules. */
  readonly tool: string
  readonly specifier: Specifier
}

export type Specifier =
  | { readonly kind: 'any' }
  /** Bash: alternatives, each with `*` as its wildcard. `exact`: written without any. */
  | { readonly kind: 'command'; readonly patterns: readonly string[]; readonly exact: boolean }
  | { readonly kind: 'path'; readonly pattern: PathPattern }
  /** What the built-in rules allow: see builtin-rules.ts. */
  | { readonly kind: 'builtin' }
  | { readonly kind: 'domain'; readonly host: string }
  /** Agent and Skill: the name, for Skill followed by its arguments. */
  | { readonly kind: 'name'; readonly patterns: readonly string[] }
  | { readonly kind: 'query'; readonly text: string }
  /** Any top-level scalar of the input. */
  | { readonly kind: 'parameter'; readonly name: string; readonly pattern: string }
  /** Well-formed and never consulted (`Write(docs/**)`). */
  | { readonly kind: 'inert' }

export type ReadRule =
  | { readonly ok: true; readonly rule: Rule; readonly warning?: string }
  | { readonly ok: false; readonly why: string }

const builtinTools = [
  ...['Read', 'Write', 'Edit', 'NotebookEdit', 'Bash', 'Glob', 'Grep', 'WebFetch', 'WebSearch', 'AskUserQuestion'],
  ...['TodoWrite', 'TaskOutput', 'Agent', 'Skill', 'EnterPlanMode', 'ExitPlanMode', 'ListMcpResources'],
  ...['ReadMcpResource', 'ToolSearch', 'Brief', 'TaskStop'],
] as const

/** Names that older rules and other products use for ours. */
const aliases: Record<string, string> = {
  Task: 'Agent',
  MultiEdit: 'Edit',
  LS: 'Glob',
  KillShell: 'TaskStop',
  KillBash: 'TaskStop',
  BashOutput: 'TaskOutput',
  ListMcpResourcesTool: 'ListMcpResources',
  ReadMcpResourceTool: 'ReadMcpResource',
  SendUserMessage: 'Brief',
}

/** Our name of a tool that other products or older rules name differently. */
export const canonicalTool = (name: string): string => (Object.hasOwn(aliases, name) ? aliases[name]! : name)

/** Reads one rule of a list. Must not throw: the text comes from files. */
export function readRule(text: unknown, behavior: Behavior): ReadRule {
  if (typeof text !== 'string') return no('A rule is a string such as "Bash(npm test *)".')
  if (text.trim() === '') return no('The rule is empty.')
  const open = text.indexOf('(')
  const name = open < 0 ? text : text.slice(0, open)
  if (open < 0 && text.includes(')')) return no('There is a ")" without its "(".')
  if (open >= 0 && !text.includes(')')) return no('There is a "(" without its ")".')
  if (open >= 0 && (!text.endsWith(')') || oddlyEscaped(text, text.length - 1))) {
    return no('Rules take the form Tool or Tool(content) and must end at the closing ")".')
  }
  const named = readName(name, behavior)
  if (typeof named !== 'string') return named
  const content = open < 0 ? undefined : unescaped(text.slice(open + 1, -1))
  if (content !== undefined && content.trim() === '') {
    return no(`Empty parentheses. Either specify a pattern or use just "${name}" without parentheses.`)
  }
  if (content !== undefined && named.startsWith('mcp__')) {
    return no(
      'MCP rules take no parentheses: name the tool, as in mcp__server__tool, or the server, as in mcp__server.',
    )
  }
  if (content === undefined || content === '*') {
    const known = named.startsWith('mcp__') || /[_*]/.test(named) || builtinTools.includes(named as never)
    const warning = known ? {} : { warning: `there is no tool named ${named}` }
    return { ok: true, rule: { text, tool: named, specifier: { kind: 'any' } }, ...warning }
  }
  if (behavior === 'allow' && isBuiltinRule(text))
    return { ok: true, rule: { text, tool: named, specifier: { kind: 'builtin' } } }
  const specifier = (specifiers[named] ?? parameter)(content, behavior, named)
  if ('why' in specifier) return no(specifier.why)
  const warning = specifier.kind === 'inert' ? { warning: inert(named, content) } : {}
  return { ok: true, rule: { text, tool: named, specifier }, ...warning }
}

/** Why a rule cannot be used, or nothing when it can: what reading settings asks of each. */
export function ruleProblem(text: unknown, behavior: Behavior): string | undefined {
  const reading = readRule(text, behavior)
  return reading.ok ? undefined : reading.why
}

/** A rule as PermissionUpdate spells it, as text. */
export function ruleText({ toolName, ruleContent }: { toolName: string; ruleContent?: string }): string {
  return ruleContent === undefined ? toolName : `${toolName}(${ruleContent.replace(/[\\()]/g, '\\$&')})`
}

function readName(name: string, behavior: Behavior): string | ReadRule {
  if (name.includes('*')) {
    if (!/^[A-Za-z0-9_*-]+$/.test(name)) return no(`"${name}" is not a tool name.`)
    const server = /^mcp__[A-Za-z0-9_-]*[A-Za-z0-9-](__[A-Za-z0-9_*-]*)?$/.exec(name)
    if (behavior === 'allow' && !server) {
      return no(`Wildcard tool name "${name}" is not supported in allow rules; name the tools or the MCP server.`)
    }
    return name
  }
  if (!/^[A-Za-z0-9_.:-]+$/.test(name)) return no(`"${name}" is not a tool name.`)
  if (name === 'mcp__') return no('Name the server, as in mcp__server.')
  if (/^[a-z]/.test(name) && !name.includes('_')) {
    return no(`Tool names must start with uppercase. Use "${name[0]!.toUpperCase()}${name.slice(1)}"`)
  }
  // a server's slug is lower-case wherever a tool is named
  if (name.startsWith('mcp__')) return name.replace(/^mcp__.+?(?=__|$)/, (server) => server.toLowerCase())
  return canonicalTool(name)
}

type ReadSpecifier = (content: string, behavior: Behavior, tool: string) => Specifier | { why: string }

const specifiers: Record<string, ReadSpecifier> = {
  Bash(content, behavior) {
    if (/^command\s*:/.test(content)) return { why: 'Bash rules hold the command itself, as in Bash(rm *).' }
    const prefix = content.indexOf(':*')
    if (prefix === 0) return { why: 'Prefix cannot be empty before :*. Specify a command prefix before :*' }
    if (prefix > 0 && prefix !== content.length - 2) {
      return {
        why: 'The :* pattern must be at the end. Move :* to the end for prefix matching, or use * for wildcard matching. Examples: Bash(npm run:*), Bash(npm run *)',
      }
    }
    const written = patterns(content.trim())
    // what is forbidden is so however the rule spaces and quotes its words
    const plain = content.replace(/["']/g, '').replace(/\s+/g, ' ').trim()
    const all = behavior === 'allow' || plain === '' ? written : [...new Set([...written, ...patterns(plain)])]
    return { kind: 'command', patterns: all, exact: !content.includes('*') }
  },
  Read: readPath,
  Edit: readPath,
  Write: () => ({ kind: 'inert' }),
  NotebookEdit: () => ({ kind: 'inert' }),
  Glob: () => ({ kind: 'inert' }),
  WebFetch(content) {
    if (!content.startsWith('domain:')) {
      return {
        why: 'WebFetch permissions use domain format, not URLs. Use "domain:hostname" format. Examples: WebFetch(domain:example.com), WebFetch(domain:github.com)',
      }
    }
    const host = plainHost(content.slice('domain:'.length).trim())
    if (host === '' || /[\s/@?#]/.test(host)) return { why: `"${host}" is not a host name.` }
    return { kind: 'domain', host }
  },
  WebSearch(content) {
    return /[*?]/.test(content)
      ? { why: 'WebSearch does not support wildcards. Use exact search terms without * or ?.' }
      : { kind: 'query', text: content }
  },
  Agent: (content) => ({ kind: 'name', patterns: [content] }),
  Skill: (content) => ({ kind: 'name', patterns: patterns(content) }),
}

/** A host as rules hold it: `[::1]`, `Example.com.` and `exämple.com` are `::1`, `example.com` and `xn--exmple-cua.com`. */
export function plainHost(host: string): string {
  const ascii = /[^\u0020-\u007e]/.test(host) ? (URL.parse(`http://${host}`)?.hostname ?? host) : host
  return ascii.toLowerCase().replace(/^\[|\]$|\.$/g, '')
}

function readPath(content: string, behavior: Behavior): Specifier | { why: string } {
  if (content.includes(':*') || content.startsWith('file_path:')) {
    return {
      why: 'The ":*" syntax is only for Bash prefix rules. Use glob patterns like "*" or "**" for file matching. Examples: Read(src/**), Edit(docs/*.md)',
    }
  }
  if (/^(~[^/]|\$\w|\$\{)/.test(content)) {
    return { why: `"${content.split('/')[0]}" is not filled in; write ~/ or a whole path, as in //home/ada/x.` }
  }
  if (content.startsWith('!')) return { why: 'A path rule cannot be negated; put the exception in another list.' }
  return { kind: 'path', pattern: pathPattern(content, behavior === 'allow') }
}

function parameter(content: string, behavior: Behavior, tool: string): Specifier | { why: string } {
  const colon = content.indexOf(':')
  if (colon < 1) return { why: `${tool} takes no pattern; write just "${tool}", or ${tool}(parameter:value).` }
  if (behavior === 'allow') return { why: `${tool}(parameter:value) works in deny and ask rules only.` }
  return { kind: 'parameter', name: content.slice(0, colon), pattern: content.slice(colon + 1) }
}

/** `x:*` and a lone trailing ` *` mean `x` itself or `x` and more words. */
function patterns(content: string): string[] {
  const words = content.endsWith(':*')
    ? content.slice(0, -2)
    : content.endsWith(' *') && content.indexOf('*') === content.length - 1
      ? content.slice(0, -2)
      : undefined
  return words === undefined ? [content] : [words, `${words} *`]
}

const inert = (tool: string, content: string): string =>
  `${tool}(${content}) is not matched by file permission checks; use ${tool === 'Glob' ? 'Read' : 'Edit'}(${content})`
const no = (why: string): ReadRule => ({ ok: false, why })
const unescaped = (content: string): string => content.replace(/\\([\\()])/g, '$1')

function oddlyEscaped(text: string, at: number): boolean {
  let slashes = 0
  while (text[at - 1 - slashes] === '\\') slashes++
  return slashes % 2 === 1
}
