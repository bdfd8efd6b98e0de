/** `models` in the settings: what the user knows better about a model than the server's list or the catalogue. */
import { isObject } from '../../hooks/shape.ts'
import type { PartialSpec, Price } from '../../providers/models/spec.ts'
import type { Runtime } from '../session/runtime.ts'

export function ownSpecs({ models = {} }: Runtime['settings']): Record<string, PartialSpec> {
  return Object.fromEntries(
    Object.entries(models).map(([name, { price, ...spec }]) => [
      name,
      { ...spec, ...(isObject(price) && { price: wholePrice(price as unknown as Partial<Price>) }) } as PartialSpec,
    ]),
  )
}

/** Without prices of its own, what goes through the cache costs what input costs. */
const wholePrice = ({ input = 0, output = 0, cacheRead = input, cacheWrite = input }: Partial<Price>): Price => ({
  input,
  output,
  cacheRead,
  cacheWrite,
})
