/** How sessions look in the list: the title, and below it what tells one from another. */
import type { SessionSummary } from '../../../store/session/session-list.ts'
import { cleanLine } from '../../render/clean.ts'
import { ago, plural } from '../../render/format.ts'
import { glyph } from '../../render/glyphs.ts'
import { paint } from '../../render/style.ts'
import { clip, pad, width } from '../../render/width.ts'

/** Messages are counted up to here. */
export const mostMessages = 1000

export interface RowFacts {
  readonly messages: number
  /** Shown where sessions of several projects are listed. */
  readonly project?: string | undefined
}

export const titleOf = ({ name, firstPrompt, archived }: SessionSummary): string =>
  cleanLine(name ?? firstPrompt ?? '') || (archived ? '(archived)' : '(no text)')

/** When, how much, where: what matters least goes first where there is no room. */
export function detailOf(one: SessionSummary, { messages, project }: RowFacts, columns: number): string {
  const parts = [
    ago(one.lastActive),
    one.archived ? 'archived' : messages >= mostMessages ? `${mostMessages}+ messages` : plural(messages, 'message'),
    ...(project ? [cleanLine(project)] : []),
    ...(one.branch ? [cleanLine(one.branch)] : []),
    ...(one.phase === 'idle' ? [] : [one.phase]),
    // a name hides what the session began with
    ...(one.name && one.firstPrompt ? [cleanLine(one.firstPrompt)] : []),
  ]
  const joined = (of: readonly string[]) => of.join(` ${glyph.dot} `)
  while (parts.length > 1 && width(joined(parts.slice(0, -1))) + 12 > columns) parts.pop()
  return clip(joined(parts), columns)
}

/** Two lines; one where the window is low. */
export function rowLines(
  one: SessionSummary,
  facts: RowFacts,
  { here, low, columns }: { here: boolean; low: boolean; columns: number },
): string[] {
  const lead = here ? paint('accent', glyph.pick) : ' '
  const title = titleOf(one)
  if (low) {
    const when = columns < 40 ? '' : ago(one.lastActive)
    const room = columns - (when ? width(when) + 4 : 2)
    const line = pad(clip(title, room), room)
    return [clip(`${lead} ${here ? paint('accent', line) : line}${when ? `  ${paint('dim', when)}` : ''}`, columns)]
  }
  const shown = clip(title, columns - 2)
  return [`${lead} ${here ? paint('accent', shown) : shown}`, paint('dim', `  ${detailOf(one, facts, columns - 2)}`)]
}

/** A box round a line of text; in a low window the line alone. The cursor's place is that of the text's. */
export function searchBox(
  line: { readonly text: string; readonly column: number },
  columns: number,
  low: boolean,
): { lines: string[]; row: number; column: number } {
  const lead = paint('dim', `${glyph.search} `)
  if (low) return { lines: [`${lead}${line.text}`], row: 0, column: width(lead) + line.column }
  const inner = columns - 4
  const edge = ([left, right]: readonly string[]) => paint('dim', `${left}${glyph.rule.repeat(columns - 2)}${right}`)
  const side = paint('dim', glyph.bar)
  return {
    lines: [edge(glyph.round), `${side} ${pad(clip(lead + line.text, inner), inner)} ${side}`, edge(glyph.roundEnd)],
    row: 1,
    column: 2 + width(lead) + line.column,
  }
}
