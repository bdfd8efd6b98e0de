/** Write: makes a file, or replaces all of one. */
import { readFileSync } from 'node:fs'
import { record, string } from '../hooks/shape.ts'
import { counted } from './bounded.ts'
import { defineTool, failed, said } from './tool.ts'

export const write = defineTool({
  name: 'Write',
  prompt: `Writes a file: makes it, folders included, or replaces all of it.
- A file that is there must have been read first, and not have changed since.
- To change part of a file, use Edit.
- Content is written exactly as given, line ends too.`,
  input: record({
    file_path: string('The file, as an absolute path'),
    content: string('All of the file'),
  }),
  paths: ['file_path'],
  safety: 'mutating',
  summary: ({ file_path }) => file_path,
  async run({ file_path, content }, context) {
    const { replaceFile, staleness, targetOf } = await import('./write-file.ts')
    const { decode, sniff } = await import('./encoding.ts')
    const target = targetOf(file_path, context)
    if (typeof target === 'string') return failed(target)
    const stale = staleness(target, context.host)
    if (stale) return failed(stale)

    const old = target.stats ? readFileSync(target.real) : undefined
    const problem = replaceFile(target, Buffer.from(content, 'utf8'), context.host)
    if (problem) return failed(problem)

    const { diffDisplay, lineCount } = await import('./diff-display.ts')
    const encoding = old ? sniff(old, true) : 'utf8'
    const before = !old ? '' : encoding === 'binary' ? undefined : decode(old, encoding)
    const display = before === undefined ? undefined : await diffDisplay(target.path, before, content)
    const lines = counted(lineCount(content), 'line')
    return said(old ? `Replaced ${target.path}: now ${lines}` : `Created ${target.path}: ${lines}`, display)
  },
})
