/** A notebook as its cells and what they printed. */

import { isObject, type JsonObject } from '../../hooks/shape.ts'
import { counted } from '../../hooks/text/counted.ts'
import { capped, sizeInWords } from '../bounded.ts'
import { idOf, joined, type Notebook, parseNotebook } from '../notebook/notebook.ts'
import { failed, said } from '../output.ts'
import { readLimits } from './limits.ts'
import { type OpenFile, part, type ReadInput, type Shown, wholeFile } from './open-file.ts'

const sizeLimit = 104_857_600
const outputLimit = 10_000

/** Undefined when it is no notebook after all: then it is shown as the text it is. */
export function readNotebook(file: OpenFile, input: ReadInput): Shown | undefined {
  if (file.stats.size > sizeLimit) {
    return part(
      failed(`${file.path} is a notebook of ${sizeInWords(file.stats.size)}; use jq in Bash to see parts of it`),
    )
  }
  const notebook = parseNotebook(wholeFile(file).toString('utf8'))
  if (!notebook) return undefined
  const { cells } = notebook
  const from = Math.max(1, input.offset ?? 1) - 1
  const shown: string[] = []
  const images: { mediaType: string; data: string }[] = []
  let room: number = readLimits.bytes
  for (let index = from; index < Math.min(cells.length, from + (input.limit ?? cells.length)) && room > 0; index++) {
    const text = cellText(notebook, index, images)
    shown.push(text)
    room -= text.length
  }
  const last = from + shown.length
  const all = from === 0 && last === cells.length
  const onward = last < cells.length ? `; on with offset ${last + 1} (offset and limit count cells)` : ''
  const which = all ? counted(cells.length, 'cell') : `cells ${from + 1}-${last} of ${cells.length}${onward}`
  const output = said(`${file.path}: notebook, ${which}\n${shown.join('\n')}`, {
    kind: 'text',
    summary: `Read ${counted(shown.length, 'cell')}`,
    full: shown.join('\n'),
  })
  const response = () => ({ type: 'notebook', file: { filePath: file.path, cells: cells.map(cellFacts) } })
  return { output: { ...output, ...(images.length > 0 && { images }), response }, whole: all }
}

const cellFacts = (cell: JsonObject, index: number) => ({
  cellType: cell['cell_type'],
  source: joined(cell['source']),
  cell_id: idOf(cell, index),
})

function cellText({ cells }: Notebook, index: number, images: { mediaType: string; data: string }[]): string {
  const cell = cells[index]!
  const outputs = Array.isArray(cell['outputs']) ? cell['outputs'].filter(isObject) : []
  const printed = outputs.map((output) => outputText(output, images)).filter((text) => text !== '')
  const type = typeof cell['cell_type'] === 'string' ? cell['cell_type'] : 'unknown'
  const lines = [`<cell id="${idOf(cell, index)}" type="${type}">`, joined(cell['source'])]
  if (printed.length > 0) lines.push('<output>', capped(printed.join('\n'), outputLimit), '</output>')
  return [...lines, '</cell>'].join('\n')
}

function outputText(output: JsonObject, images: { mediaType: string; data: string }[]): string {
  if (output['output_type'] === 'stream') return joined(output['text'])
  if (output['output_type'] === 'error') {
    const trace = Array.isArray(output['traceback']) ? output['traceback'].map(String).join('\n') : ''
    return `${String(output['ename'])}: ${String(output['evalue'])}\n${trace.replace(/\x1b\[[0-9;]*m/g, '')}`
  }
  const data = isObject(output['data']) ? output['data'] : {}
  for (const mediaType of ['image/png', 'image/jpeg']) {
    const image = joined(data[mediaType]).replace(/\s/g, '')
    if (image === '' || image.length > 5_242_880 || images.length >= 8) continue
    images.push({ mediaType, data: image })
    return `[${mediaType}, shown beside this text]`
  }
  return joined(data['text/plain'])
}
