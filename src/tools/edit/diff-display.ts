/** What changed in a file, as a unified diff for the screen. */
import type { Display } from '../output.ts'

/** Past this the two texts have too little in common for a diff that anyone would read. */
const timeLimitMs = 1000

export async function diffDisplay(path: string, before: string, after: string): Promise<Display> {
  const { structuredPatch } = await import('diff')
  const patch = structuredPatch(path, path, before, after, '', '', { context: 3, timeout: timeLimitMs })
  if (!patch) return { kind: 'text', summary: `${path}: rewritten; the change is too large for a diff` }
  const lines = patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${place(oldStart, oldLines)} +${place(newStart, newLines)} @@`,
    ...lines,
  ])
  const count = (sign: string) =>
    patch.hunks.reduce((sum, { lines }) => sum + lines.filter((l) => l[0] === sign).length, 0)
  const added = count('+')
  const removed = count('-')
  return { kind: 'diff', path, patch: [`--- ${path}`, `+++ ${path}`, ...lines].join('\n'), added, removed }
}

/** A side without lines is counted from the line before it. */
const place = (start: number, lines: number) => `${lines === 0 ? start - 1 : start},${lines}`

/** `\n` ends a line; what follows the last one is a line too. */
export function lineCount(text: string): number {
  if (text === '') return 0
  let count = text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}
