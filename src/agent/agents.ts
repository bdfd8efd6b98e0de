/** Kinds of sub-agents: the built-in ones, and those that a person or project defines in Markdown. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PermissionMode } from '../hooks/plane.ts'
import { readFrontmatter } from '../tools/frontmatter.ts'

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
  readonly source: string
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

/** Nearer definitions win over farther ones of the same name: --agents, project, home, built-in. */
export function loadAgentKinds(projectDir: string, home: string, given: readonly AgentKind[] = []): AgentKinds {
  const warnings: string[] = []
  const byName = new Map<string, AgentKind>()
  const folders = [home, projectDir].flatMap((base) => [join(base, '.claude', 'agents'), join(base, '.ona', 'agents')])
  for (const kind of builtIn) byName.set(kind.name, kind)
  for (const folder of folders) {
    if (!existsSync(folder)) continue
    for (const file of readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .sort()) {
      const path = join(folder, file)
      const read = readAgentKind(readFileSync(path, 'utf8'), path)
      if ('problem' in read) warnings.push(`${path}: ${read.problem}`)
      else byName.set(read.name, read)
    }
  }
  for (const kind of given) byName.set(kind.name, kind)
  return { kinds: [...byName.values()], warnings }
}

export function readAgentKind(text: string, path: string): AgentKind | { readonly problem: string } {
  const read = readFrontmatter(text)
  if (!read.ok) return { problem: read.why }
  const { fields, body } = read
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
  return {
    name,
    description,
    prompt: body.trim(),
    source: path,
    ...(tools && { tools }),
    ...(disallowedTools && { disallowedTools }),
    ...(model && model !== 'inherit' && { model }),
    ...(mode && { permissionMode: mode as PermissionMode }),
    ...(maxTurns > 0 && { maxTurns }),
    ...((fields['background'] === true || fields['background'] === 'true') && { background: true }),
  }
}

const modes: readonly PermissionMode[] = ['default', 'acceptEdits', 'bypassPermissions', 'plan', 'dontAsk']

function names(value: unknown): string[] | undefined {
  const list = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value.map(String) : undefined
  return list?.map((name) => name.trim()).filter((name) => name !== '')
}
