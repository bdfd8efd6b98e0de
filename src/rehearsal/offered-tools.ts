/** One script for every agent: `call: Bash` becomes a call of whatever shell tool the request offers. */
import { isObject } from '../hooks/shape.ts'
import type { Chat, ChatTool } from './chat.ts'
import { example } from './example.ts'

export interface NamedCall {
  readonly name: string
  readonly input: Record<string, unknown>
}

/** The tool that a script's name means here: the one of that name, else the agent's own of the same kind. */
export function offeredTool(name: string, tools: Chat['tools']): ChatTool | undefined {
  const kind = kinds[name]
  return (
    tools.find((tool) => tool.name === name) ??
    tools.find((tool) => kind?.names.test(tool.name)) ??
    (name === 'Write' ? tools.find((tool) => tool.name === 'apply_patch' && tool.kind === 'custom') : undefined)
  )
}

/** The call as the offered tool takes it. A call of the tool's own name is passed on unchanged. */
export function asOffered(call: NamedCall, tools: Chat['tools']): NamedCall & { readonly tool?: ChatTool } {
  const tool = offeredTool(call.name, tools)
  if (!tool || tool.name === call.name) return { ...call, ...(tool && { tool }) }
  return { name: tool.name, input: translated(call, tool), tool }
}

function translated({ name, input }: NamedCall, { parameters, kind }: ChatTool): Record<string, unknown> {
  const properties = isObject(parameters.properties) ? parameters.properties : {}
  if (kind === 'custom' && name === 'Write') return { input: addFile(input) }
  if (kind === 'custom' || Object.keys(properties).length === 0) return input
  const fields: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(input)) {
    const spellings = [field, ...(kinds[name]?.fields[field] ?? [])]
    const own = spellings.find((spelling) => Object.hasOwn(properties, spelling))
    if (own !== undefined) fields[own] = fitted(value, properties[own])
  }
  const required = Array.isArray(parameters.required) ? parameters.required.map(String) : []
  for (const field of required) if (!(field in fields)) fields[field] = example(properties[field], field)
  return fields
}

/** A new file in the language of apply_patch. */
function addFile({ file_path: path, content }: Record<string, unknown>): string {
  const lines = String(content)
    .split('\n')
    .map((line) => `+${line}`)
  return ['*** Begin Patch', `*** Add File: ${path}`, ...lines, '*** End Patch'].join('\n')
}

/** Some shells take a command as a list of words. */
const fitted = (value: unknown, schema: unknown): unknown =>
  typeof value === 'string' && isObject(schema) && /array/i.test(String(schema.type)) ? ['bash', '-c', value] : value

const file = ['filePath', 'absolute_path', 'path', 'file']

const kinds: Record<string, { readonly names: RegExp; readonly fields: Record<string, readonly string[]> }> = {
  Bash: {
    names: /^(?:bash|shell|shell_command|exec_command|run_shell_command|local_shell|execute_command|run_in_terminal)$/i,
    fields: { command: ['cmd', 'script'] },
  },
  Read: { names: /^(?:read|read_file|view|cat)$/i, fields: { file_path: file } },
  Write: {
    names: /^(?:write|write_file|create|create_file)$/i,
    fields: { file_path: file, content: ['contents', 'file_text', 'text'] },
  },
  Edit: {
    names: /^(?:edit|edit_file|replace|str_replace|replace_string_in_file)$/i,
    fields: { file_path: file, old_string: ['oldString', 'old_str'], new_string: ['newString', 'new_str'] },
  },
  Glob: { names: /^(?:glob|find_files|file_search)$/i, fields: { pattern: ['glob', 'query'] } },
  Grep: {
    names: /^(?:grep|grep_search|search_file_content|text_search)$/i,
    fields: { pattern: ['query', 'regex'] },
  },
}
