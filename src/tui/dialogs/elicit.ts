/** An MCP server asks for something: a form to fill in, or a page to open. */

import type { ElicitAnswer, ElicitRequest } from '../../agent/events.ts'
import type { JsonObject } from '../../hooks/shape.ts'
import { cleanLine } from '../render/clean.ts'
import { plural } from '../render/format.ts'
import { bold } from '../render/style.ts'
import type { Front } from '../session/front.ts'

interface Field {
  readonly type?: string
  readonly title?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
}

export async function askElicit(
  front: Front,
  request: ElicitRequest,
  signal: AbortSignal,
): Promise<ElicitAnswer | undefined> {
  const first = await front.choose<'accept' | 'decline'>(
    {
      title: `The MCP server ${cleanLine(request.server)} asks`,
      body: [cleanLine(request.message), ...(request.url ? ['', bold(cleanLine(request.url))] : [])],
      question:
        request.mode === 'url' ? 'Open this address in your browser yourself, then say yes.' : 'Do you want to answer?',
      choices: [
        { label: 'Yes', value: 'accept', key: 'y' },
        { label: 'No', value: 'decline', key: 'n' },
      ],
    },
    signal,
  )
  if (!first) return signal.aborted || !front.interactive ? undefined : { action: 'cancel' }
  if (first.value === 'decline') return { action: 'decline' }
  if (request.mode === 'url') return { action: 'accept' }
  const content: Record<string, unknown> = {}
  const required = Array.isArray(request.schema?.['required']) ? (request.schema['required'] as string[]) : []
  for (const [name, field] of Object.entries((request.schema?.['properties'] ?? {}) as Record<string, Field>)) {
    const value = await askField(front, name, field, required.includes(name), signal)
    if (value === undefined) return { action: 'cancel' }
    if (value !== '') content[name] = value
  }
  return { action: 'accept', content: content as JsonObject }
}

async function askField(
  front: Front,
  name: string,
  field: Field,
  required: boolean,
  signal: AbortSignal,
): Promise<unknown> {
  const title = cleanLine(field.title ?? name)
  const options = field.enum ?? (field.type === 'boolean' ? [true, false] : undefined)
  if (options) {
    const chosen = await front.choose<unknown>(
      {
        title,
        ...(field.description && { question: cleanLine(field.description) }),
        choices: options.map((value) => ({
          label: value === true ? 'yes' : value === false ? 'no' : cleanLine(String(value)),
          value,
        })),
        selected: Math.max(0, options.indexOf(field.default)),
      },
      signal,
    )
    return chosen?.value
  }
  const text = await front.ask(
    {
      title: `${title}${required ? '' : ' (optional)'}`,
      ...(field.description && { body: [cleanLine(field.description)] }),
      ...(field.default !== undefined && { initial: String(field.default) }),
      check: (value) => problemWith(value, field, required),
    },
    signal,
  )
  if (text === undefined || text === '') return text
  return field.type === 'number' || field.type === 'integer' ? Number(text) : text
}

function problemWith(value: string, field: Field, required: boolean): string | undefined {
  if (value === '') return required ? 'an answer is needed here' : undefined
  if (field.type === 'number' || field.type === 'integer') {
    const number = Number(value)
    if (Number.isNaN(number)) return `"${value}" is not a number`
    if (field.type === 'integer' && !Number.isInteger(number)) return `"${value}" is not a whole number`
    if (field.minimum !== undefined && number < field.minimum) return `at least ${field.minimum}`
    if (field.maximum !== undefined && number > field.maximum) return `at most ${field.maximum}`
  }
  if (field.minLength !== undefined && value.length < field.minLength)
    return `at least ${plural(field.minLength, 'character')}`
  if (field.maxLength !== undefined && value.length > field.maxLength)
    return `at most ${plural(field.maxLength, 'character')}`
  return undefined
}
