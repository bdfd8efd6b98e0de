/** One cell replaced, put in or taken out; the rest of the notebook stays as it is, its indentation too. */

import type { JsonObject } from '../../hooks/shape.ts'
import { counted } from '../../hooks/text/counted.ts'
import { diffDisplay } from '../edit/diff-display.ts'
import { failed, said, type ToolOutput } from '../output.ts'
import type { ToolContext } from '../tool.ts'
import { contentOf, replaceFile, staleness, targetOf } from '../write/write-file.ts'
import { asLines, findCell, idOf, joined, type Notebook, parseNotebook } from './notebook.ts'

interface NotebookInput {
  readonly notebook_path: string
  readonly new_source: string
  readonly cell_id?: string
  readonly cell_type?: 'code' | 'markdown'
  readonly edit_mode?: 'replace' | 'insert' | 'delete'
}

export async function editNotebook(input: NotebookInput, context: ToolContext): Promise<ToolOutput> {
  const target = targetOf(input.notebook_path, context)
  if (typeof target === 'string') return failed(target)
  const { path, stats } = target
  if (!path.toLowerCase().endsWith('.ipynb')) return failed(`${path} is no notebook (.ipynb); use Edit`)
  if (!stats) return failed(`${path} does not exist`)
  const stale = staleness(target, context.host)
  if (stale) return failed(stale)

  const bytes = contentOf(target)
  if (typeof bytes === 'string') return failed(bytes)
  const text = bytes.toString('utf8')
  const notebook = parseNotebook(text)
  if (!notebook) return failed(`${path} is not a notebook's JSON: it needs a list of cells`)
  const change = changes[input.edit_mode ?? 'replace'](notebook, input)
  if (typeof change === 'string') return failed(`${path}: ${change}`)

  const after =
    JSON.stringify({ ...notebook.json, cells: change.cells }, null, indentOf(text)) + (text.endsWith('\n') ? '\n' : '')
  const problem = replaceFile(target, Buffer.from(after), context.host)
  if (problem) return failed(problem)
  const display = await diffDisplay(`${path}#${change.id}`, change.before, change.after)
  const summary = `${change.did} cell ${change.id} in ${path}: now ${counted(change.cells.length, 'cell')}`
  const response = () => ({
    new_source: change.after,
    old_source: change.before,
    cell_type: input.cell_type ?? 'code',
    edit_mode: input.edit_mode ?? 'replace',
    cell_id: change.id,
    error: '',
    notebook_path: path,
    original_file: text,
    updated_file: after,
  })
  return { ...said(summary, display), response }
}

interface Change {
  readonly cells: readonly JsonObject[]
  readonly did: 'Updated' | 'Inserted' | 'Deleted'
  readonly id: string
  readonly before: string
  readonly after: string
}

/** Each answers the cells as they are to be, or what is wrong. */
const changes: Record<'replace' | 'insert' | 'delete', (notebook: Notebook, input: NotebookInput) => Change | string> =
  {
    replace({ cells }, { cell_id, cell_type, new_source }) {
      const at = indexOf(cells, cell_id)
      if (typeof at === 'string') return at
      const old = cells[at]!
      const type = cell_type ?? (old['cell_type'] === 'markdown' ? 'markdown' : 'code')
      const { outputs: _, execution_count: __, ...kept } = old
      const cell = { ...kept, cell_type: type, source: asLines(new_source), ...(type === 'code' && blankRun) }
      const before = joined(old['source'])
      return { cells: cells.with(at, cell), did: 'Updated', id: idOf(old, at), before, after: new_source }
    },
    insert({ cells, hasIds }, { cell_id, cell_type, new_source }) {
      if (!cell_type) return 'cell_type is missing; insert needs "code" or "markdown"'
      const after = cell_id === undefined ? -1 : indexOf(cells, cell_id)
      if (typeof after === 'string') return after
      const cell: JsonObject = {
        ...(hasIds && { id: crypto.randomUUID().slice(0, 8) }),
        cell_type,
        metadata: {},
        source: asLines(new_source),
        ...(cell_type === 'code' && blankRun),
      }
      const id = idOf(cell, after + 1)
      return { cells: cells.toSpliced(after + 1, 0, cell), did: 'Inserted', id, before: '', after: new_source }
    },
    delete({ cells }, { cell_id }) {
      const at = indexOf(cells, cell_id)
      if (typeof at === 'string') return at
      const cell = cells[at]!
      return {
        cells: cells.toSpliced(at, 1),
        did: 'Deleted',
        id: idOf(cell, at),
        before: joined(cell['source']),
        after: '',
      }
    },
  }

/** What a code cell printed belongs to its old source. */
const blankRun = { execution_count: null, outputs: [] }

function indexOf(cells: readonly JsonObject[], id: string | undefined): number | string {
  if (id === undefined) return 'cell_id is missing'
  const at = findCell(cells, id)
  const known = cells.slice(0, 20).map(idOf).join(', ')
  return at >= 0
    ? at
    : `there is no cell ${JSON.stringify(id)}; the cells are ${known}${cells.length > 20 ? ', …' : ''}`
}

/** As Jupyter writes it, one blank, unless the file does otherwise. */
const indentOf = (text: string) => /^\{\r?\n([ \t]+)"/.exec(text)?.[1] ?? (text.includes('\n') ? 1 : 0)
