/** What cannot work is refused where it is written, with what to write instead. */

import { isObject } from '../hooks/shape.ts'
import { notKnown } from '../hooks/text/nearest.ts'
import { modes } from '../permissions/modes.ts'
import { ruleProblem } from '../permissions/rules/rule.ts'
import { builtInTools } from '../tools/all.ts'
import type { AgentPermissions, AnyDefinition, Methods } from './agent-types.ts'
import { isSchema } from './output/schema.ts'
import { isOf } from './output/transform.ts'

/** Throws a TypeError where an object has a key that means nothing. */
export function checkKeys(by: string, given: object, known: readonly string[], what = 'key'): void {
  for (const key of Object.keys(given))
    if (!known.includes(key)) throw new TypeError(`${by}: the ${what} ${notKnown(key, known)}`)
}

/** What each of them may say. */
export const sdkKeys = {
  agent: [
    ...['name', 'description', 'model', 'instructions', 'context', 'output', 'outputJsonSchema', 'maxOutputRetries'],
    ...['tools', 'hooks', 'handlers', 'resultTransform', 'methods', 'handoffs', 'permissions', 'maxRequests'],
    ...['maxTokens', 'hookTimeoutMs'],
  ],
  permissions: ['allow', 'ask', 'deny', 'mode'],
  tool: ['name', 'description', 'input', 'jsonSchema', 'context', 'safety', 'needsPermission', 'run'],
  field: ['from', 'computed', 'default', 'type', 'transform', 'fields', 'items'],
  run: ['input', 'context', 'runtime', 'resume', 'signal', 'maxHandoffs', 'on'],
  runtime: ['db', 'cwd', 'env', 'settings', 'bare', 'trust', 'mcpServers', 'prices', 'user', 'rehearsal', 'log'],
} as const

export function checkDefinition(by: string, definition: AnyDefinition): void {
  const { name, instructions, output, context, tools = [], handlers = [], methods = {}, permissions = {} } = definition
  const wrong = (why: string): never => {
    throw new TypeError(`${by}: ${why}`)
  }
  checkKeys(by, definition, sdkKeys.agent)
  if (!/^[A-Za-z][\w-]{0,47}$/.test(name)) wrong('a name is a letter and up to 47 letters, digits, _ or -')
  if (typeof instructions !== 'string' && typeof instructions !== 'function')
    wrong('instructions must be a text, or a function that gives one')
  if (output !== undefined && !isSchema(output)) wrong('output must be a Standard Schema, such as z.object({ … })')
  if (context !== undefined && !isSchema(context)) wrong('context must be a Standard Schema, such as z.object({ … })')
  for (const [method, given] of Object.entries(methods))
    if (typeof given !== 'function') wrong(`methods.${method} must be a function`)
  for (const handler of handlers)
    if (!isObject(handler) || !('event' in handler || 'bind' in handler))
      wrong('handlers must come from guard, defineHook or defineStepHook')
  checkTools(by, tools)
  checkPermissions(`${by}: permissions`, permissions)
}

function checkTools(by: string, tools: NonNullable<AnyDefinition['tools']>): void {
  const builtIn = builtInTools.map((tool) => tool.name)
  const seen = new Set<string>()
  for (const tool of tools) {
    if (typeof tool === 'function')
      throw new TypeError(
        `${by}: the function ${(tool as () => void).name || 'given'} is no tool yet; wrap it: defineTool({ name, description, input, run })`,
      )
    if (typeof tool !== 'string' && typeof tool?.bind !== 'function')
      throw new TypeError(`${by}: a tool is what defineTool gives, or a name`)
    if (typeof tool === 'string' && !tool.startsWith('mcp__') && !builtIn.includes(tool))
      throw new TypeError(`${by}: the tool ${notKnown(tool, builtIn)}`)
    const name = typeof tool === 'string' ? tool : tool.name
    if (seen.has(name)) throw new TypeError(`${by}: two tools are called ${name}`)
    seen.add(name)
  }
}

function checkPermissions(by: string, permissions: AgentPermissions): void {
  checkKeys(by, permissions, sdkKeys.permissions)
  const { mode } = permissions
  if (mode !== undefined && !modes.includes(mode)) throw new TypeError(`${by}.mode ${notKnown(String(mode), modes)}`)
  for (const behavior of ['allow', 'ask', 'deny'] as const)
    for (const rule of permissions[behavior] ?? []) {
      const problem = ruleProblem(rule, behavior)
      if (problem) throw new TypeError(`${by}.${behavior}: ${JSON.stringify(rule)}: ${problem}`)
    }
}

export function checkFields(by: string, fields: object, methods: Methods): void {
  for (const [name, field] of Object.entries(fields)) checkField(`${by}.${name}`, field, methods)
}

function checkField(by: string, field: unknown, methods: Methods): void {
  if (!isObject(field)) throw new TypeError(`${by} must be an object such as { from: 'path' }`)
  checkKeys(by, field, sdkKeys.field)
  const { from, type } = field
  if (from !== undefined && typeof from !== 'string') throw new TypeError(`${by}.from must be a path, such as 'a.b'`)
  if (type !== undefined && !Object.hasOwn(isOf, String(type)))
    throw new TypeError(`${by}.type ${notKnown(String(type), Object.keys(isOf))}`)
  for (const key of ['transform', 'computed'] as const) {
    const given = field[key]
    if (given === undefined || typeof given === 'function') continue
    if (typeof given !== 'string') throw new TypeError(`${by}.${key} must be a function or a method's name`)
    if (!Object.hasOwn(methods, given))
      throw new TypeError(
        `${by}.${key} names a method that the agent lacks: it ${notKnown(given, Object.keys(methods))}`,
      )
  }
  for (const key of ['fields', 'items'] as const) checkFields(`${by}.${key}`, (field[key] ?? {}) as object, methods)
}

const runOptions = [...sdkKeys.run, ...sdkKeys.runtime]

export function checkRuntimeOptions(options: object): void {
  checkKeys('openRuntime', options, runOptions, 'option')
}

/** Those of the runtime may stand among those of a run that opens its own. */
export function checkRunOptions(options: { readonly input: unknown; readonly runtime?: unknown }): void {
  checkKeys('run', options, runOptions, 'option')
  const { input, runtime } = options
  if (typeof input !== 'string' && !Array.isArray(input))
    throw new TypeError('run: input must be a text or a list of blocks')
  const idle = runtime && sdkKeys.runtime.find((key) => Object.hasOwn(options, key))
  if (idle) throw new TypeError(`run: ${idle} has no effect beside runtime; give it to openRuntime`)
}
