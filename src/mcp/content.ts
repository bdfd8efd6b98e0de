/** What a server answers, as a tool's output: text for the model, images beside it, everything bounded. */
import { isObject, type JsonObject } from '../hooks/shape.ts'
import type { ToolOutput } from '../tools/output.ts'

const longestText = 1_048_576
const longestImage = 5 * 1_048_576
const mostImages = 20
const longestDescription = 2048
const longestSchema = 65_536

/** A tool's result. A server's error is an error result, in the server's words. */
export function outputOf(result: unknown, server: string): ToolOutput {
  if (!isObject(result)) return { content: `the MCP server ${server} gave no result`, isError: true }
  const blocks = Array.isArray(result.content) ? result.content.filter(isObject) : []
  const images = imagesIn(blocks)
  const texts = blocks.map(textOf).filter((text) => text !== '')
  if (texts.length === 0 && result.structuredContent !== undefined) texts.push(JSON.stringify(result.structuredContent))
  const content = capped(texts.join('\n')) || '(no output)'
  return { content, isError: result.isError === true, ...(images.length > 0 && { images }) }
}

/** The contents of a resource as JSON, binary ones by their size. */
export function resourceOutput(contents: unknown): ToolOutput {
  const list = (Array.isArray(contents) ? contents : []).filter(isObject)
  const images = imagesIn(list.map((each) => ({ type: 'image', data: each.blob, mimeType: each.mimeType })))
  const entries = list.map(({ uri, mimeType, text, blob }) => ({
    uri,
    ...(mimeType !== undefined && { mimeType }),
    ...(typeof text === 'string' ? { text } : { binary: `${sizeOf(blob)} not shown` }),
  }))
  return {
    content: capped(JSON.stringify({ contents: entries })),
    isError: false,
    ...(images.length > 0 && { images }),
  }
}

function textOf(block: JsonObject): string {
  switch (block.type) {
    case 'text':
      return typeof block.text === 'string' ? block.text : ''
    case 'image':
      return `[image: ${plain(block.mimeType)}, ${sizeOf(block.data)}]`
    case 'audio':
      return `[audio: ${plain(block.mimeType)}, ${sizeOf(block.data)}; not shown]`
    case 'resource_link':
      return `[resource: ${plain(block.uri)} ${plain(block.name)}; ReadMcpResource reads it]`
    case 'resource': {
      const resource = isObject(block.resource) ? block.resource : {}
      if (typeof resource.text === 'string') return `[resource: ${plain(resource.uri)}]\n${resource.text}`
      return `[resource: ${plain(resource.uri)}, ${plain(resource.mimeType)}, ${sizeOf(resource.blob)}; not shown]`
    }
    default:
      return `[${plain(block.type)}: not shown]`
  }
}

function imagesIn(blocks: readonly JsonObject[]): NonNullable<ToolOutput['images']> {
  return blocks
    .filter((block) => block.type === 'image')
    .flatMap(({ data, mimeType }) => {
      const known = typeof mimeType === 'string' && /^image\/(png|jpeg|gif|webp)$/.test(mimeType)
      const usable = typeof data === 'string' && data.length <= longestImage && /^[A-Za-z0-9+/=\s]+$/.test(data)
      return known && usable ? [{ mediaType: mimeType, data }] : []
    })
    .slice(0, mostImages)
}

const sizeOf = (base64: unknown): string =>
  typeof base64 === 'string' ? `${Math.round((base64.length * 3) / 4 / 1024)} KiB` : 'nothing'
const plain = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 500) : 'unknown')

/** At most 1 MiB of UTF-8; what is cut says so. */
export function capped(text: string): string {
  if (text.length <= longestText / 3) return text
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= longestText) return text
  let end = longestText
  while ((bytes[end]! & 0xc0) === 0x80) end-- // not in the middle of a character
  return `${new TextDecoder().decode(bytes.subarray(0, end))}[SDLC_TRUNCATED]`
}

/**
 * A server's words about itself, for the model: marked as the server's, without characters that hide or reorder text,
 * and short. What they ask for has no more weight than any other text a tool gives.
 */
export function described(server: string, description: unknown): string {
  const text = typeof description === 'string' ? description.replace(hidden, '').trim() : ''
  return `[MCP server ${server}] ${text.slice(0, longestDescription)}${text.length > longestDescription ? '…' : ''}`.trim()
}

const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu

/** A tool's input schema; one too big for a model becomes an open object. */
export function schemaOf(schema: unknown): JsonObject {
  if (!isObject(schema) || schema.type !== 'object') return { type: 'object' }
  return JSON.stringify(schema).length > longestSchema
    ? { type: 'object', description: 'The server gives a schema that is too long to be shown.' }
    : schema
}
