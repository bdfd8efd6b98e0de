/** Edit: replaces one exact piece of text in a file. */
import { boolean, optional, record, string } from '../../hooks/shape.ts'
import { defineTool } from '../tool.ts'

export const edit = defineTool({
  name: 'Edit',
  prompt: `Replaces text in a file, literally.
- The file must have been read, and not have changed since.
- old_string must occur exactly once: give enough of the lines around it. With replace_all every occurrence is replaced.
- Copy old_string from the file as it is, indentation included, without Read's line numbers.
- An empty old_string makes a new file of new_string.
- Notebooks are edited with NotebookEdit.`,
  input: record({
    file_path: string('The file, as an absolute path'),
    old_string: string('The text to replace'),
    new_string: string('What takes its place; must differ'),
    replace_all: optional(boolean('Replace every occurrence (default false)')),
  }),
  paths: ['file_path'],
  safety: 'mutating',
  summary: ({ file_path }) => file_path,
  run: async (input, context) => (await import('./edit-file.ts')).editFile(input, context),
})
