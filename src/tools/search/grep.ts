/** Grep: what files contain. */
import { boolean, integer, oneOf, optional, record, string } from '../../hooks/shape.ts'
import { defineTool } from '../tool.ts'
import { grepLimits } from './limits.ts'
import { searchLimits } from './search.ts'

export const grep = defineTool({
  name: 'Grep',
  prompt: `Searches the contents of files with a regular expression (ripgrep's syntax: escape literal braces, "interface\\{\\}").
- output_mode: "files_with_matches" (default; newest first), "content" (lines, with -A, -B, -C around them), "count".
- glob ("*.ts", "src/**") and type ("ts", "py") narrow the files. What .gitignore names and binary files are left out; hidden files are searched.
- A match lies within one line unless multiline is set; lines are cut at ${searchLimits.lineLength} characters.
- You get the first ${grepLimits.entries} entries; head_limit and offset choose others.`,
  input: record({
    pattern: string('The regular expression'),
    path: optional(string('File or folder to search; the working directory when left out')),
    glob: optional(string('Only files that fit, such as "*.{ts,tsx}"')),
    type: optional(string('Only files of this type, such as "js" or "rust"')),
    output_mode: optional(oneOf(['content', 'files_with_matches', 'count'])),
    '-A': optional(integer('Lines after each match', { min: 0 })),
    '-B': optional(integer('Lines before each match', { min: 0 })),
    '-C': optional(integer('Lines before and after each match', { min: 0 })),
    context: optional(integer('The same as -C', { min: 0 })),
    '-n': optional(boolean('Show line numbers (default true)')),
    '-i': optional(boolean('Upper and lower case are the same')),
    head_limit: optional(integer(`How many entries to show (default ${grepLimits.entries}, 0 for all)`, { min: 0 })),
    offset: optional(integer('How many entries to leave out first', { min: 0 })),
    multiline: optional(boolean('A match may span lines, and . matches line ends')),
  }),
  paths: ['path'],
  safety: 'read_only',
  summary: ({ pattern, path }) => (path ? `${pattern} in ${path}` : pattern),
  run: async (input, context) => (await import('./grep-files.ts')).grepFiles(input, context),
})
