/** Jupyter notebooks: read as cells, changed a cell at a time. */
import { isObject, type JsonObject } from '../../hooks/shape.ts'

export interface Notebook {
  readonly json: JsonObject
  readonly cells: JsonObject[]
  /** From format 4.5 on, cells have ids of their own. */
  readonly hasIds: boolean
}

export function parseNotebook(text: string): Notebook | undefined {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(json) || !Array.isArray(json['cells']) || !json['cells'].every(isObject)) return undefined
  const [major, minor] = [Number(json['nbformat']), Number(json['nbformat_minor'])]
  return { json, cells: json['cells'], hasIds: major > 4 || (major === 4 && minor >= 5) }
}

/** The cell's own id, or `cell-N` by its place. */
export const idOf = (cell: JsonObject, index: number): string =>
  typeof cell['id'] === 'string' ? cell['id'] : `cell-${index}`

/** By id first, then by place (`cell-3`). */
export function findCell(cells: readonly JsonObject[], id: string): number {
  const own = cells.findIndex((cell) => cell['id'] === id)
  if (own >= 0) return own
  const place = /^cell-(\d+)$/.exec(id)
  return place && Number(place[1]) < cells.length ? Number(place[1]) : -1
}

/** Source and texts are stored as one string or as a list of lines. */
export const joined = (value: unknown): string =>
  Array.isArray(value) ? value.map(String).join('') : typeof value === 'string' ? value : ''

/** Stored as Jupyter does: a list of lines, each with its line end. */
export const asLines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []
