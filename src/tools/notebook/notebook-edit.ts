/** NotebookEdit: changes one cell of a Jupyter notebook. */
import { oneOf, optional, record, string } from '../../hooks/shape.ts'
import { defineTool } from '../tool.ts'

export const notebookEdit = defineTool({
  name: 'NotebookEdit',
  prompt: `Changes one cell of a Jupyter notebook (.ipynb) that you have read.
- edit_mode "replace" (default) gives the cell new_source; "insert" puts a new cell after cell_id, or first without one, and needs cell_type; "delete" removes the cell.
- cell_id is the id that Read shows.`,
  input: record({
    notebook_path: string('The notebook, as an absolute path'),
    new_source: string('The new text of the cell; empty for delete'),
    cell_id: optional(string('The cell, or the one to insert after')),
    cell_type: optional(oneOf(['code', 'markdown'], 'Needed for insert')),
    edit_mode: optional(oneOf(['replace', 'insert', 'delete'])),
  }),
  paths: ['notebook_path'],
  safety: 'mutating',
  summary: ({ notebook_path, cell_id }) => (cell_id ? `${notebook_path}#${cell_id}` : notebook_path),
  run: async (input, context) => (await import('./edit-notebook.ts')).editNotebook(input, context),
})
