/** Pieces of content, of a message and of a tool's result: as the steps hold them, and as the wire writes them. */
import type { WireBlock, WireBody } from '../handler.ts'
import { isObject } from '../shape.ts'
import type { Block, ToolResultBody } from '../steps.ts'

export const textBlock = (text: string): Block => ({ type: 'text', text })
export const textOf = (blocks: readonly { readonly type: string; readonly text?: string }[]): string =>
  blocks.map((block) => (block.type === 'text' ? block.text : '')).join('')

/** A tool's result as a verdict writes it; null when it is none. */
export function readBody(value: unknown): ToolResultBody | null {
  if (!isObject(value)) return null
  const { kind, text, value: json, blocks } = value
  if (kind === 'text' && typeof text === 'string') return { kind, text }
  if (kind === 'json' && Object.hasOwn(value, 'value')) return { kind, value: json }
  if (kind !== 'content' || !Array.isArray(blocks)) return null
  const read = blocks.map(readBlock)
  return read.every((block) => block !== null) ? { kind, blocks: read } : null
}

function readBlock(value: unknown): Block | null {
  if (!isObject(value)) return null
  const { kind, text, mime, data } = value
  if (kind === 'text' && typeof text === 'string') return { type: 'text', text }
  if (kind !== 'image' || typeof mime !== 'string' || !isObject(data)) return null
  // a model is sent no address to fetch from: it reads where the image is
  if (data.kind === 'url') return typeof data.url === 'string' ? textBlock(`[image: ${mime} at ${data.url}]`) : null
  return data.kind === 'base64' && typeof data.encoded === 'string'
    ? { type: 'image', data: data.encoded, mimeType: mime }
    : null
}

/** A tool's result as a verdict would write it. */
export function wireBody(body: ToolResultBody): WireBody {
  return body.kind === 'content' ? { kind: 'content', blocks: body.blocks.map(wireBlock) } : body
}

const wireBlock = (block: Block): WireBlock =>
  block.type === 'text'
    ? { kind: 'text', text: block.text }
    : { kind: 'image', mime: block.mimeType, data: { kind: 'base64', encoded: block.data } }

/** A tool's result as a step shows it: mixed content as one text. */
export function showBody(body: ToolResultBody): unknown {
  if (body.kind === 'text') return body.text
  if (body.kind === 'json') return body.value
  return body.blocks.map((block) => (block.type === 'text' ? block.text : `[image: ${block.mimeType}]`)).join('\n')
}
