/** Glob: files by the pattern of their path, newest first. */
import { optional, record, string } from '../../hooks/shape.ts'
import { defineTool } from '../tool.ts'
import { globLimits } from './limits.ts'

export const glob = defineTool({
  name: 'Glob',
  prompt: `Finds files by a pattern of their path, newest first, at most ${globLimits.files}.
- Patterns: * and ? within a name, ** across folders, {a,b}, [a-z]. "*.ts" looks in the folder itself, "**/*.ts" in all below it.
- Hidden and git-ignored files are found too; the folders of version control are left out.
- To look for what files contain, use Grep.`,
  input: record({
    pattern: string('Such as "**/*.ts" or "src/**/test_*.py"'),
    path: optional(string('Folder to look in; the working directory when left out')),
  }),
  paths: ['path'],
  safety: 'read_only',
  summary: ({ pattern, path }) => (path ? `${pattern} in ${path}` : pattern),
  run: async (input, context) => (await import('./glob-files.ts')).findFiles(input, context),
})
