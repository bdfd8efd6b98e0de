/** A unified diff as numbered, coloured lines. */
import { clean } from './clean.ts'
import { plural } from './format.ts'
import { glyph } from './glyphs.ts'
import { paint } from './style.ts'

export function diffLines(patch: string, most = Number.POSITIVE_INFINITY): string[] {
  const lines: string[] = []
  let [before, after] = [0, 0]
  let digits = 3
  for (const line of clean(patch).split('\n')) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line)
    if (hunk) {
      if (lines.length > 0) lines.push(paint('dim', glyph.more.padStart(digits)))
      before = Number(hunk[1])
      after = Number(hunk[2])
      digits = Math.max(3, String(Math.max(before, after) + 500).length)
    } else if (before + after === 0 || line === '' || line.startsWith('\\')) {
    } else if (line[0] === '+') lines.push(paint('added', `${String(after++).padStart(digits)} + ${line.slice(1)}`))
    else if (line[0] === '-') lines.push(paint('removed', `${String(before++).padStart(digits)} - ${line.slice(1)}`))
    else {
      lines.push(`${paint('dim', String(after++).padStart(digits))}   ${line.slice(1)}`)
      before++
    }
  }
  return lines.length > most
    ? [
        ...lines.slice(0, most),
        paint('dim', `${glyph.more} +${plural(lines.length - most, 'line')} (ctrl+o shows all)`),
      ]
    : lines
}
