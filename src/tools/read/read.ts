/** Read: shows a file to the model, in numbered lines, and remembers that it was shown. */
import { integer, optional, record, string } from '../../hooks/shape.ts'
import { defineTool } from '../tool.ts'
import { readLimits } from './limits.ts'

export const read = defineTool({
  name: 'Read',
  prompt: `Shows a file. Text comes as numbered lines (number, tab, line); the numbers are not part of the file.
- Without offset and limit you get the first ${readLimits.lines} lines. The first line of the answer says how many there are and how to read on.
- Lines are cut after ${readLimits.lineLength} characters, the answer after ${readLimits.bytes / 1024} KB.
- Images (PNG, JPEG, GIF, WebP) are shown to you. A PDF gives the text of its pages; over ${readLimits.pdfPages} pages, name some in "pages". A notebook gives its cells and outputs. Other binary files come as hex, sixteen bytes a row.
- A folder cannot be read: use Glob, or ls in Bash.
- Read a file before you edit or overwrite it.`,
  input: record({
    file_path: string('The file, as an absolute path'),
    offset: optional(integer('First line to show, counted from 1', { min: 0 })),
    limit: optional(integer('How many lines to show', { min: 1 })),
    pages: optional(string('Pages of a PDF, such as "3" or "1-5"')),
  }),
  paths: ['file_path'],
  safety: 'read_only',
  summary: ({ file_path }) => file_path,
  run: async (input, context) => (await import('./read-file.ts')).readFile(input, context),
})
