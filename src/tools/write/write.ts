/** Write: makes a file, or replaces all of one. */

import { record, string } from '../../hooks/shape.ts'
import { counted } from '../../hooks/text/counted.ts'
import { failed, said } from '../output.ts'
import { defineTool } from '../tool.ts'

/** Larger files get no diff, so their old content need not be kept. */
const diffLimit = 8_388_608

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
    const { contentOf, replaceFile, staleness, targetOf } = await import('./write-file.ts')
    const target = targetOf(file_path, context)
    if (typeof target === 'string') return failed(target)
    const stale = staleness(target, context.host)
    if (stale) return failed(stale)

    const old = target.stats && target.stats.size <= diffLimit ? contentOf(target) : undefined
    if (typeof old === 'string') return failed(old)
    const problem = replaceFile(target, Buffer.from(content, 'utf8'), context.host)
    if (problem) return failed(problem)

    const { changeOf, lineCount } = await import('../edit/diff-display.ts')
    const before = target.stats ? old && (await textOf(old)) : ''
    const change = before === undefined ? undefined : await changeOf(target.path, before, content)
    const lines = counted(lineCount(content), 'line')
    const summary = target.stats ? `Replaced ${target.path}: now ${lines}` : `Created ${target.path}: ${lines}`
    return {
      ...said(summary, change?.display),
      response: () => ({
        type: target.stats ? 'update' : 'create',
        filePath: target.path,
        content,
        structuredPatch: target.stats ? (change?.hunks ?? []) : [],
        originalFile: target.stats ? (before ?? null) : null,
        userModified: false,
      }),
    }
  },
})

/** Undefined for a binary file: there is nothing to compare. */
async function textOf(bytes: Buffer): Promise<string | undefined> {
  const { decode, sniff } = await import('../encoding.ts')
  const encoding = sniff(bytes, true)
  return encoding === 'binary' ? undefined : decode(bytes, encoding)
}
