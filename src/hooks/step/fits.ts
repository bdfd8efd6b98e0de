/** What may stand in a field of a step that a function has written. */
import { isObject } from '../shape.ts'
import { isTooDeep } from '../text/json-text.ts'

export function isJson(value: unknown): boolean {
  try {
    const text: string | undefined = JSON.stringify(value)
    return text !== undefined && !isTooDeep(text)
  } catch {
    return false // it refers to itself, or holds what JSON cannot express
  }
}

export const isBlocks = (value: unknown): boolean => Array.isArray(value) && value.every(isBlock)
export const isResult = (value: unknown): boolean =>
  isObject(value) && typeof value.isError === 'boolean' && isBody(value.body)

const isString = (value: unknown) => typeof value === 'string'
const isBlock = (block: unknown) =>
  isObject(block) &&
  (block.type === 'text'
    ? isString(block.text)
    : block.type === 'image' && isString(block.data) && isString(block.mimeType))
const isBody = (body: unknown) =>
  isObject(body) &&
  (body.kind === 'text'
    ? isString(body.text)
    : body.kind === 'json'
      ? isJson(body.value)
      : body.kind === 'content' && isBlocks(body.blocks))
