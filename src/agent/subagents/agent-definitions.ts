/** Kinds of sub-agents: the built-in ones, and those that a user or project defines in Markdown. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { leadsOut } from '../../files/leads-out.ts'
import { readPlainFile } from '../../files/plain-file.ts'
import type { PermissionMode } from '../../hooks/plane.ts'
import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { headOf, readFrontmatter } from '../../tools/skills/frontmatter.ts'

export interface AgentKind {
  readonly name: string
  readonly description: string
  readonly prompt: string
  /** Undefined: all that the parent has. */
  readonly tools?: readonly string[]
  readonly disallowedTools?: readonly string[]
  /** Undefined: the parent's. */
  readonly model?: string
  readonly permissionMode?: PermissionMode
  readonly maxTurns?: number
  readonly background?: boolean
  /** It works in a git worktree of its own. */
  readonly isolation?: 'worktree'
  /** Skills that it has read before it starts. */
  readonly skills?: readonly string[]
  /** Hooks and MCP servers of its own. */
  readonly extensions?: Extensions
  readonly source: string
}

export interface Extensions {
  /** `user`: the user's own file. A project's servers need approval, like those of its .mcp.json. */
  readonly scope: 'flag' | 'user' | 'project'
  /** Written by someone whom the user trusts: otherwise no hook runs and no server is started. */
  readonly trusted: boolean
  /** The head of the file as it is written, or the fields themselves. */
  readonly head: string | JsonObject
}

const readOnly = [
  'Read',
  'Glob',
  'Grep',
  'WebFetch',
  'WebSearch',
  'ListMcpResources',
  'ReadMcpResource',
  'ToolSearch',
  'TodoWrite',
]

const builtIn: readonly AgentKind[] = [
  {
    name: 'general-purpose',
    description: 'Any work of several steps that should not fill the conversation: research, a contained change.',
    prompt:
      'You work on one task for another agent. Do all of it. Your last message is all that it sees: put the result there, with paths.',
    disallowedTools: ['Agent'],
    source: 'built-in',
  },
  {
    name: 'explore',
    description: 'Finds things in the code and says where they are. Reads only.',
    prompt:
      'You search a codebase for another agent. Read only; change nothing. Answer with findings as path:line and one line each on what is there, then a short conclusion.',
    tools: readOnly,
    source: 'built-in',
  },
  {
    name: 'plan',
    description: 'Works out how a change should be made: files, steps, risks, success criteria. Reads only.',
    prompt:
      'You design a change for another agent. Read what you need; change nothing. Answer with a plan: the files, the steps in order, what could go wrong, and success criteria that can be checked from outside.',
    tools: readOnly,
    source: 'built-in',
  },
]

export interface AgentKinds {
  readonly kinds: readonly AgentKind[]
  readonly warnings: readonly string[]
}

export interface AgentPlaces {
  readonly projectDir: string
  readonly home: string
  /** In a folder that nobody has trusted a definition brings no permission mode, hooks or servers. */
  readonly trusted: boolean
  readonly bare: boolean
  /** Of user and project; both by default. */
  readonly sources?: readonly string[] | undefined
  /** Their agents are named `plugin:agent`. */
  readonly plugins?: readonly { readonly name: string; readonly root: string; readonly agents: readonly string[] }[]
}

/** Nearer definitions win over farther ones of the same name: --agents, project, home, built-in. */
export function loadAgentKinds(places: AgentPlaces, given: readonly AgentKind[] = []): AgentKinds {
  const { projectDir, home, trusted, bare, sources = ['user', 'project'] } = places
  const warnings: string[] = []
  const byName = new Map<string, AgentKind>()
  const bases = bare
    ? []
    : [
        ...(sources.includes('user') ? [home] : []),
        ...(sources.includes('project') && projectDir !== home ? [projectDir] : []),
      ]
  const folders = bases.flatMap((base) =>
    ['.claude', '.ona'].map((name) => ({ folder: join(base, name, 'agents'), isOwn: base === home })),
  )
  for (const kind of builtIn) byName.set(kind.name, kind)
  for (const { folder, isOwn } of folders) {
    for (const file of filesIn(folder)) {
      const path = join(folder, file)
      const text = textOf(path)
      if (typeof text !== 'string') {
        warnings.push(`${path}: ${text.problem}`)
        continue
      }
      const read = readAgentKind(text, path, { scope: isOwn ? 'user' : 'project', trusted: trusted || isOwn })
      if ('problem' in read) {
        warnings.push(`${path}: ${read.problem}`)
        continue
      }
      for (const key of unreadIn(text)) warnings.push(`${path}: ${key}: unknown key; ignored`)
      if (read.permissionMode === undefined || trusted || isOwn) {
        byName.set(read.name, read)
      } else {
        const { permissionMode, ...rest } = read
        byName.set(read.name, rest)
        warnings.push(`${path}: this folder is not trusted, so permissionMode ${permissionMode} does not apply`)
      }
    }
  }
  for (const { name: plugin, root, agents } of places.plugins ?? []) {
    const paths = agents.flatMap((at) => (at.endsWith('.md') ? [at] : filesIn(at).map((file) => join(at, file))))
    for (const path of paths) {
      const text = leadsOut(root, path) ? { problem: 'is a link that leads out of the plugin' } : textOf(path)
      const read = typeof text === 'string' ? readAgentKind(text, path, { scope: 'flag', trusted: true }) : text
      if ('problem' in read) {
        warnings.push(`${path}: ${read.problem}`)
        continue
      }
      const { permissionMode, extensions, ...kind } = read
      if (permissionMode) warnings.push(`${path}: permissionMode has no effect in an agent of a plugin`)
      if (extensions) warnings.push(`${path}: hooks and mcpServers have no effect in an agent of a plugin`)
      byName.set(`${plugin}:${kind.name}`, { ...kind, name: `${plugin}:${kind.name}` })
    }
  }
  for (const kind of given) byName.set(kind.name, kind)
  return { kinds: [...byName.values()], warnings }
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .sort()
  } catch {
    return [] // most people have none
  }
}

function textOf(path: string): string | { readonly problem: string } {
  try {
    return readPlainFile(path)
  } catch (cause) {
    return { problem: (cause as Error).message }
  }
}

/** What other products read from such a file and we do not (docs/FORKS.md). */
function unreadIn(text: string): string[] {
  const read = readFrontmatter(text)
  return ['memory', 'effort', 'initialPrompt'].filter((key) => read.ok && read.fields[key] !== undefined)
}

/** What a kind of agent may use, as its definition says. */
export function allows({ tools, disallowedTools }: AgentKind, name: string): boolean {
  if (disallowedTools?.includes(name)) return false
  return tools === undefined || tools.some((each) => each === name || each.split('(')[0] === name || each === '*')
}

/** `--agents`: `{"name": {"description": …, "prompt": …, "tools": […]}}`. */
export function readAgentsJson(text: string): readonly AgentKind[] | { readonly problem: string } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    return { problem: `it is not JSON: ${(cause as Error).message}` }
  }
  if (!isObject(value)) return { problem: 'it must be an object: {"name": {"description": "…", "prompt": "…"}}' }
  const kinds: AgentKind[] = []
  for (const [name, definition] of Object.entries(value)) {
    const { prompt, ...fields } = isObject(definition) ? definition : {}
    if (typeof prompt !== 'string' || prompt === '') return { problem: `${name}: prompt is missing` }
    const read = kindOf({ ...fields, name }, prompt, '--agents', { scope: 'flag', trusted: true, head: fields })
    if ('problem' in read) return { problem: `${name}: ${read.problem}` }
    kinds.push(read)
  }
  return kinds
}

export function readAgentKind(
  text: string,
  path: string,
  by: Omit<Extensions, 'head'>,
): AgentKind | { readonly problem: string } {
  const read = readFrontmatter(text)
  if (!read.ok) return { problem: read.why }
  return kindOf(read.fields, read.body, path, { ...by, head: headOf(text) })
}

function kindOf(
  fields: Record<string, unknown>,
  body: string,
  source: string,
  extensions: Extensions,
): AgentKind | { readonly problem: string } {
  const word = (key: string) =>
    typeof fields[key] === 'string' && fields[key] !== '' ? (fields[key] as string) : undefined
  const name = word('name')
  const description = word('description')
  if (!name || !/^[a-z][a-z0-9-]*$/.test(name))
    return { problem: 'name is missing or not lower-case letters and hyphens' }
  if (!description) return { problem: 'description is missing' }
  const tools = names(fields['tools'])
  const disallowedTools = names(fields['disallowedTools'])
  const model = word('model')
  const mode = word('permissionMode')
  if (mode && !modes.includes(mode as PermissionMode))
    return { problem: `permissionMode must be one of ${modes.join(', ')}` }
  const maxTurns = Number(fields['maxTurns'])
  const skills = names(fields['skills'])
  return {
    name,
    description,
    prompt: body.trim(),
    source,
    ...(tools && { tools }),
    ...(disallowedTools && { disallowedTools }),
    ...(model && model !== 'inherit' && { model }),
    ...(mode && { permissionMode: mode as PermissionMode }),
    ...(maxTurns > 0 && { maxTurns }),
    ...(fields['isolation'] === 'worktree' && { isolation: 'worktree' as const }),
    ...(skills && { skills }),
    ...((fields['hooks'] !== undefined || fields['mcpServers'] !== undefined) && { extensions }),
    ...((fields['background'] === true || fields['background'] === 'true') && { background: true }),
  }
}

const modes: readonly PermissionMode[] = ['default', 'acceptEdits', 'bypassPermissions', 'plan', 'dontAsk']

function names(value: unknown): string[] | undefined {
  const list = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value.map(String) : undefined
  return list?.map((name) => name.trim()).filter((name) => name !== '')
}
