/** What changed in a file, as a unified diff for the screen. */
import type { Display } from '../output.ts'

/** Past this the two texts have too little in common for a diff that anyone would read. */
const timeLimitMs = 1000

export const diffDisplay = async (path: string, before: string, after: string): Promise<Display> =>
  (await changeOf(path, before, after)).display

export interface Hunk {
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
  readonly lines: readonly string[]
}

/** The change for the screen, and its hunks as data. */
export async function changeOf(
  path: string,
  before: string,
  after: string,
): Promise<{ display: Display; hunks: Hunk[] }> {
  const { structuredPatch } = await import('diff')
  const patch = structuredPatch(path, path, before, after, '', '', { context: 3, timeout: timeLimitMs })
  if (!patch)
    return { display: { kind: 'text', summary: `${path}: rewritten; the change is too large for a diff` }, hunks: [] }
  const lines = patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${place(oldStart, oldLines)} +${place(newStart, newLines)} @@`,
    ...lines,
  ])
  const count = (sign: string) =>
    patch.hunks.reduce((sum, { lines }) => sum + lines.filter((l) => l[0] === sign).length, 0)
  const added = count('+')
  const removed = count('-')
  const text = [`--- ${path}`, `+++ ${path}`, ...lines].join('\n')
  return {
    display: { kind: 'diff', path, patch: text, added, removed },
    hunks: patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
      ...{ oldStart, oldLines, newStart, newLines },
      lines,
    })),
  }
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
